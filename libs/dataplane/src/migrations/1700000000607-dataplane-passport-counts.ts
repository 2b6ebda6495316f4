import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Kept by triggers, because counting a million rows at each report of a gateway would cost more than the report. */
export class DataplanePassportCounts1700000000607 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table dataplane_passport_counts (
        tenant_id text primary key,
        passports bigint not null,
        max_passports bigint
      )`);
    // Ordered, so that two statements that count several tenants lock their rows in one order.
    await runner.query(`
      create function dataplane_count_passports() returns trigger language plpgsql as $$
      declare sign constant int := case tg_op when 'INSERT' then 1 else -1 end;
      begin
        insert into dataplane_passport_counts as c (tenant_id, passports)
          select tenant_id, sign * count(*) from changed group by tenant_id order by tenant_id
          on conflict (tenant_id) do update set passports = c.passports + excluded.passports;
        return null;
      end $$`);
    await runner.query(`
      create trigger dataplane_passports_added after insert on dataplane_passports referencing new table as changed
        for each statement execute function dataplane_count_passports()`);
    await runner.query(`
      create trigger dataplane_passports_removed after delete on dataplane_passports referencing old table as changed
        for each statement execute function dataplane_count_passports()`);
    // The owner sees no row of a table that forces its policies on owners too.
    await runner.query('alter table dataplane_passports no force row level security');
    await runner.query(
      `insert into dataplane_passport_counts (tenant_id, passports) select tenant_id, count(*) from dataplane_passports group by tenant_id`,
    );
    await runner.query('alter table dataplane_passports force row level security');
    await runner.query(
      `comment on function dataplane_count_passports() is 'Adds what a statement inserted or deleted to dataplane_passport_counts'`,
    );
    await runner.query(
      `comment on table dataplane_passport_counts is 'How many passports each tenant has, and may have; kept by triggers'`,
    );
    await runner.query(`comment on column dataplane_passport_counts.tenant_id is 'Owning tenant'`);
    await runner.query(`comment on column dataplane_passport_counts.passports is 'Rows of dataplane_passports'`);
    await runner.query(
      `comment on column dataplane_passport_counts.max_passports is 'Quota context_passports, which a worker writes here for the gateways; null until it has'`,
    );
    await runner.query(`select slipway_tenant_table('dataplane_passport_counts')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop trigger dataplane_passports_added on dataplane_passports');
    await runner.query('drop trigger dataplane_passports_removed on dataplane_passports');
    await runner.query('drop function dataplane_count_passports()');
    await runner.query('drop table dataplane_passport_counts');
  }
}
