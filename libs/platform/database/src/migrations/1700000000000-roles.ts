import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The two roles every transaction takes, and the functions by which later migrations put a table under them.
 * Roles belong to the whole cluster, so another database of it may have made them already.
 */
export class Roles1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const role of ['slipway_tenant', 'slipway_system']) {
      await runner.query(`do $$ begin create role ${role} nologin; exception when duplicate_object or unique_violation then null; end $$`);
    }
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
    await runner.query(`comment on function slipway_tenant_table(text) is 'Row-level security by tenant_id for one table'`);
    await runner.query(`comment on function slipway_system_table(text) is 'Row-level security that shows a table to the system role only'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function slipway_system_table(text)');
    await runner.query('drop function slipway_tenant_table(text)');
  }
}
