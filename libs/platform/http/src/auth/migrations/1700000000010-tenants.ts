import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tenants. A system table: no tenant may see that another exists. */
export class Tenants1700000000010 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table tenants (
        id text primary key,
        name text not null constraint tenants_name_key unique,
        is_operator boolean not null default false,
        created_at timestamptz not null default now()
      )`);
    await runner.query(`create unique index tenants_one_operator on tenants (is_operator) where is_operator`);
    await runner.query(`select slipway_system_table('tenants')`);
    await runner.query(`comment on table tenants is 'Who owns deployments; the boundary no row crosses'`);
    await runner.query(`comment on column tenants.id is 'ten_ and a UUIDv7'`);
    await runner.query(`comment on column tenants.name is 'Unique name, chosen by the operator'`);
    await runner.query(
      `comment on column tenants.is_operator is 'True for the one tenant whose admins may create tenants'`,
    );
    await runner.query(`comment on column tenants.created_at is 'When it was created'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table tenants');
  }
}
