import { locking, prepared } from '@slipway/platform-database';

/** The use of a table that the current transaction has changed. Numbers count that transaction too. */
export interface StoredUse {
  /** The quota of the number of rows, if the table has one. */
  quota: string | null;
  isRecord: boolean;
  entries: number;
  /** Added by the current transaction; negative if it removed more. */
  ownEntries: number;
  ownBytes: number;
  /** Of the tenant, in all tables. */
  totalBytes: number;
  /** How many changes are not yet added to the totals, in all tables. */
  pending: number;
}

/** One pass over a few totals and the changes since; nothing counts rows. Tables that did not change are omitted. */
export const READ_STORED = prepared(
  'quota-read-stored',
  `with counted as (
     select table_name, entries, bytes, 0::bigint as own_entries, 0::bigint as own_bytes, 0 as pending, false as is_own
     from stored_totals where tenant_id = $1
     union all
     select table_name, entries, bytes, case when is_own then entries else 0 end, case when is_own then bytes else 0 end, 1, is_own
     from (select *, transaction_id = coalesce(pg_current_xact_id_if_assigned()::text::bigint, -1) as is_own from stored_changes where tenant_id = $1) c
   ), of_table as (
     select table_name, sum(entries)::float8 as entries, sum(own_entries)::float8 as own_entries, sum(own_bytes)::float8 as own_bytes,
       sum(sum(bytes)) over ()::float8 as total_bytes, (sum(sum(pending)) over ())::float8 as pending, bool_or(is_own) as is_own
     from counted group by table_name
   )
   select t.quota, t.is_record as "isRecord", o.entries, o.own_entries as "ownEntries", o.own_bytes as "ownBytes",
     o.total_bytes as "totalBytes", o.pending
   from of_table o join stored_tables t on t.name = o.table_name where o.is_own`,
);

/** An advisory lock for each tenant: the transactions that it orders change different rows. */
export const LOCK_STORED = locking(
  'stored',
  prepared('quota-lock-stored', `select pg_advisory_xact_lock(hashtextextended('slipway.stored:' || $1::text, 0))`),
);

/**
 * Adds changes to the totals: those of tenant $2, or of all tenants. A reader sees them before or after, because it is
 * one statement. The totals are locked in one order, so several processes may run it at once.
 */
export const ADD_UP_STORED = prepared(
  'quota-add-up-stored',
  `with taken as (
     delete from stored_changes where id = any(array(
       select id from stored_changes where $2::text is null or tenant_id = $2 order by id limit $1 for update skip locked))
     returning tenant_id, table_name, entries, bytes
   ), added as (
     insert into stored_totals as t (tenant_id, table_name, entries, bytes)
     select tenant_id, table_name, sum(entries), sum(bytes) from taken group by tenant_id, table_name order by tenant_id, table_name
     on conflict (tenant_id, table_name) do update set entries = t.entries + excluded.entries, bytes = t.bytes + excluded.bytes
   )
   select count(*)::int as count from taken`,
);

/** Another worker that counts a table keeps it locked. */
export const FIND_UNCOUNTED = prepared(
  'quota-find-uncounted',
  'select name from stored_tables where counted_at is null order by name limit 1 for update skip locked',
);

export const RECOUNT_STORED = prepared('quota-recount-stored', 'select slipway_recount_stored($1)');
