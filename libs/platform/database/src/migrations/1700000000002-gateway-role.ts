import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The role of gateways. It is granted table by table, by the migrations of what gateways read and write; the other two roles see more. */
export class GatewayRole1700000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const found = await runner.query(`select 1 from pg_roles where rolname = 'slipway_gateway'`);
    if (found.length === 0) await createRole(runner);
    await runner.query('grant usage on schema public to slipway_gateway');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('revoke usage on schema public from slipway_gateway');
  }
}

async function createRole(runner: QueryRunner): Promise<void> {
  try {
    // Two migrators of one cluster may be here at once, each in a database of its own.
    await runner.query(
      `do $$ begin create role slipway_gateway nologin; exception when duplicate_object or unique_violation then null; end $$`,
    );
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    throw new Error(
      'the migrating login may not create the role slipway_gateway: give it CREATEROLE (or let SLIPWAY_MIGRATE_DATABASE_URL name a login ' +
        'that has it), or let an administrator create slipway_gateway (nologin) and grant it to the login of the gateways',
    );
  }
}
