import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The two roles every transaction takes, and the functions by which later migrations put a table under them.
 * Roles belong to the whole cluster, so another database of it may have made them already.
 */
export class Roles1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const role of ['slipway_tenant', 'slipway_system']) await ensureRole(runner, role);
    await runner.query(`grant usage on schema public to slipway_tenant, slipway_system`);
    await runner.query(`
      create function slipway_tenant_table(name text) returns void language plpgsql as $$
      begin
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format('create policy tenant on %I to slipway_tenant using (tenant_id = current_setting(''slipway.tenant'', true)) '
          || 'with check (tenant_id = current_setting(''slipway.tenant'', true))', name);
        execute format('create policy system on %I to slipway_system using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to slipway_tenant, slipway_system', name);
      end $$`);
    await runner.query(`
      create function slipway_system_table(name text) returns void language plpgsql as $$
      begin
        execute format('alter table %I enable row level security', name);
        execute format('alter table %I force row level security', name);
        execute format('create policy system on %I to slipway_system using (true) with check (true)', name);
        execute format('grant select, insert, update, delete on %I to slipway_system', name);
      end $$`);
    await runner.query(
      `comment on function slipway_tenant_table(text) is 'Row-level security by tenant_id for one table'`,
    );
    await runner.query(
      `comment on function slipway_system_table(text) is 'Row-level security that shows a table to the system role only'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function slipway_system_table(text)');
    await runner.query('drop function slipway_tenant_table(text)');
  }
}

async function ensureRole(runner: QueryRunner, role: string): Promise<void> {
  const found = await runner.query('select 1 from pg_roles where rolname = $1', [role]);
  if (found.length > 0) return;
  try {
    // Two migrators of one cluster may be here at once, each in a database of its own.
    await runner.query(
      `do $$ begin create role ${role} nologin; exception when duplicate_object or unique_violation then null; end $$`,
    );
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    throw new Error(
      `the migrating login may not create the role ${role}: give it CREATEROLE (or let SLIPWAY_MIGRATE_DATABASE_URL name a login that has it), ` +
        'or let an administrator create slipway_tenant and slipway_system (nologin) and grant both to the login of DATABASE_URL',
    );
  }
}
