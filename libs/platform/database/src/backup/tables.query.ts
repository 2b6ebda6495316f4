import type pg from 'pg';

/** A table as a backup contains it: the columns in the order of each line, without those that Postgres computes. */
export interface BackedUpTable {
  name: string;
  columns: string[];
}

/** Texts of values are exact, and are read unchanged, only if both sides use these settings. */
export const TEXT_SETTINGS = `set local timezone = 'UTC'; set local datestyle = 'ISO'; set local intervalstyle = 'postgres';
  set local bytea_output = 'hex'; set local extra_float_digits = 1`;

/**
 * Excludes unlogged tables, which a crash of Postgres empties, so that nothing relies on them. Reads the catalog and
 * not the entities, because the database may have the tables of a newer or an older version.
 */
export async function tablesOf(client: pg.Client): Promise<BackedUpTable[]> {
  const { rows } = await client.query<BackedUpTable>(`
    select c.relname::text as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relkind = 'r' and c.relpersistence = 'p' and c.relnamespace = 'public'::regnamespace and c.relname not like 'schema\\_%'
    group by 1 order by 1`);
  return rows;
}
