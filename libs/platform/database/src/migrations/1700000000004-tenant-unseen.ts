import type { MigrationInterface, QueryRunner } from 'typeorm';

const GIVEN = `current_setting('slipway.tenant', true)`;
const UNSEEN = `(select ${GIVEN})`;

/**
 * Planning puts the value of `current_setting` in its place and looks it up among the common tenants of the table's statistics. One that
 * began since they were taken is not among them: it is believed to have no rows, and whatever a key could find is sought among all of the
 * tenant's rows. Behind a select of its own the value is not seen, and a tenant is believed to be as large as others.
 */
export class TenantUnseen1700000000004 implements MigrationInterface {
  /** A lock on every table of a tenant at once would meet transactions that hold one and wait for another. */
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await show(runner, UNSEEN);
  }

  async down(runner: QueryRunner): Promise<void> {
    await show(runner, GIVEN);
  }
}

/** Of the tables that are there and of those to come; those that were done before a try failed are left alone. @param tenant SQL */
async function show(runner: QueryRunner, tenant: string): Promise<void> {
  await runner.query(`
    create or replace function slipway_tenant_table(name text) returns void language plpgsql as $$
    begin
      execute format('alter table %I enable row level security', name);
      execute format('alter table %I force row level security', name);
      execute format($policy$create policy tenant on %I to slipway_tenant using (tenant_id = ${tenant})
        with check (tenant_id = ${GIVEN})$policy$, name);
      execute format('create policy system on %I to slipway_system using (true) with check (true)', name);
      execute format('grant select, insert, update, delete on %I to slipway_tenant, slipway_system', name);
    end $$`);
  const others = (await runner.query(
    `select quote_ident(tablename) as name from pg_policies
     where schemaname = current_schema() and policyname = 'tenant' and qual like '%slipway.tenant%' and (qual ilike '%select%') is distinct from $1`,
    [tenant === UNSEEN],
  )) as { name: string }[];
  for (const { name } of others) await runner.query(`alter policy tenant on ${name} using (tenant_id = ${tenant})`);
}
