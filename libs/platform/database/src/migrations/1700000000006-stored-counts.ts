import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How much each tenant stores, kept by triggers. Counting the rows of a tenant at each mutation would cost more than the
 * mutation. A counter that every transaction updates would make all of a tenant's transactions wait for each other, so
 * a transaction only adds rows to `stored_changes`, which a worker adds up.
 */
export class StoredCounts1700000000006 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table stored_tables (
        name text primary key,
        quota text,
        is_record boolean not null,
        bytes_of_row text not null,
        counted_at timestamptz
      )`);
    await runner.query(`
      create table stored_totals (
        tenant_id text not null,
        table_name text not null,
        entries bigint not null,
        bytes bigint not null,
        primary key (tenant_id, table_name)
      ) with (fillfactor = 70)`);
    await runner.query(`
      create table stored_changes (
        id bigint generated always as identity primary key,
        tenant_id text not null,
        table_name text not null,
        entries bigint not null,
        bytes bigint not null,
        transaction_id bigint not null default (pg_current_xact_id()::text::bigint)
      ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000)`);
    await runner.query('create index stored_changes_of_tenant on stored_changes (tenant_id)');
    await runner.query(`select slipway_system_table('stored_tables')`);
    await runner.query('create policy readers on stored_tables for select to slipway_tenant using (true)');
    await runner.query('grant select on stored_tables to slipway_tenant');
    for (const table of ['stored_totals', 'stored_changes']) {
      await runner.query(`select slipway_tenant_table('${table}')`);
      await runner.query(`revoke update, delete on ${table} from slipway_tenant`);
    }
    // Migrations and the triggers of a cascade run as the owner, whom row-level security would otherwise refuse.
    for (const table of ['stored_tables', 'stored_totals', 'stored_changes'])
      await runner.query(`create policy owner on ${table} to current_user using (true) with check (true)`);
    await runner.query(COUNT_STORED);
    await runner.query(UNCOUNT_STORED);
    await runner.query(RECOUNT_STORED);
    for (const [what, comment] of COMMENTS) await runner.query(`comment on ${what} is '${comment}'`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function slipway_recount_stored(text)');
    await runner.query('drop function slipway_uncount_stored(text)');
    await runner.query('drop function slipway_count_stored(text, text[], text, boolean)');
    for (const table of ['stored_changes', 'stored_totals', 'stored_tables']) await runner.query(`drop table ${table}`);
  }
}

/**
 * Each row counts 256 bytes for its header and indexes, and the text of the listed columns. The columns that are not
 * listed have a bounded size. A second call for a table does nothing.
 */
const COUNT_STORED = `
  create function slipway_count_stored(name text, columns text[], quota text, is_record boolean) returns void language plpgsql as $count$
  declare
    size text := '256';
    listed text;
  begin
    if exists (select from stored_tables t where t.name = slipway_count_stored.name) then return; end if;
    select size || coalesce(string_agg(format(' + coalesce(octet_length(r.%I::text), 0)', c), '' order by c), ''),
      string_agg(quote_ident(c), ', ' order by c) into size, listed from unnest(columns) c;
    execute format($sql$
      create function %2$I() returns trigger language plpgsql as $body$
      begin
        insert into stored_changes (tenant_id, table_name, entries, bytes)
          select r.tenant_id, %1$L, (tg_argv[0]::int) * count(*), (tg_argv[0]::int) * sum(%3$s) from changed r group by r.tenant_id;
        return null;
      end $body$$sql$, name, 'count_' || name, size);
    execute format('create trigger %2$I after insert on %1$I referencing new table as changed for each statement execute function %3$I(''1'')',
      name, 'count_' || name || '_added', 'count_' || name);
    execute format('create trigger %2$I after delete on %1$I referencing old table as changed for each statement execute function %3$I(''-1'')',
      name, 'count_' || name || '_removed', 'count_' || name);
    execute format('comment on function %I() is %L', 'count_' || name, 'Adds the rows that a statement inserted or deleted to stored_changes');
    if listed is not null then
      execute format($sql$
        create function %2$I() returns trigger language plpgsql as $body$
        declare
          grown bigint := (select %3$s from (select new.*) r) - (select %3$s from (select old.*) r);
        begin
          if grown <> 0 then
            insert into stored_changes (tenant_id, table_name, entries, bytes) values (new.tenant_id, %1$L, 0, grown);
          end if;
          return null;
        end $body$$sql$, name, 'resize_' || name, size);
      execute format('create trigger %2$I after update of %3$s on %1$I for each row execute function %4$I()',
        name, 'count_' || name || '_changed', listed, 'resize_' || name);
      execute format('comment on function %I() is %L', 'resize_' || name, 'Adds the bytes by which an update changed a row to stored_changes');
    end if;
    insert into stored_tables (name, quota, is_record, bytes_of_row) values (name, quota, is_record, size);
  end $count$`;

const UNCOUNT_STORED = `
  create function slipway_uncount_stored(name text) returns void language plpgsql as $uncount$
  begin
    execute format('drop function if exists %I() cascade', 'count_' || name);
    execute format('drop function if exists %I() cascade', 'resize_' || name);
    delete from stored_changes where table_name = name;
    delete from stored_totals where table_name = name;
    delete from stored_tables t where t.name = slipway_uncount_stored.name;
  end $uncount$`;

/**
 * Makes the counts of a table equal to its rows, while it is in use: rows and counts come from one snapshot, and changes
 * that other transactions have not committed are in neither.
 */
const RECOUNT_STORED = `
  create function slipway_recount_stored(name text) returns void language plpgsql as $recount$
  begin
    execute format($sql$
      insert into stored_changes (tenant_id, table_name, entries, bytes)
      select tenant_id, %1$L, coalesce(a.entries, 0) - coalesce(b.entries, 0), coalesce(a.bytes, 0) - coalesce(b.bytes, 0)
      from (select r.tenant_id, count(*) as entries, sum(%2$s) as bytes from %1$I r group by r.tenant_id) a
      full join (
        select tenant_id, sum(entries) as entries, sum(bytes) as bytes from (
          select tenant_id, entries, bytes from stored_totals where table_name = %1$L
          union all select tenant_id, entries, bytes from stored_changes where table_name = %1$L) counted
        group by tenant_id) b using (tenant_id)
      where (coalesce(a.entries, 0), coalesce(a.bytes, 0)) is distinct from (coalesce(b.entries, 0), coalesce(b.bytes, 0))$sql$,
      name, (select bytes_of_row from stored_tables t where t.name = slipway_recount_stored.name));
  end $recount$`;

const COMMENTS = [
  ['table stored_tables', 'Tables whose rows count in the quotas of their tenants'],
  ['column stored_tables.quota', 'Quota of the number of rows; null if it is limited in another way'],
  [
    'column stored_tables.is_record',
    'Slipway writes the rows about requests; they may exceed stored_bytes by a quarter',
  ],
  ['column stored_tables.bytes_of_row', 'SQL that computes the bytes of row r'],
  ['column stored_tables.counted_at', 'When a worker counted the rows from before the triggers; null until then'],
  ['table stored_totals', 'Rows and bytes of each tenant in each table, without stored_changes'],
  ['table stored_changes', 'Changes of transactions that are not yet added to stored_totals'],
  ['column stored_changes.transaction_id', 'The transaction, which finds its own changes by it'],
  ['function slipway_count_stored(text, text[], text, boolean)', 'Counts rows and bytes of a table for each tenant'],
  ['function slipway_uncount_stored(text)', 'Undoes slipway_count_stored'],
  ['function slipway_recount_stored(text)', 'Corrects the counts of a table by reading all of its rows'],
] as const;
