import type { NamedSql, QueryClient } from '../sql.js';

type WindowDeletion = (db: QueryClient, days: number, most: number) => Promise<number>;

/**
 * @returns a function that deletes up to `most` windows of a table that are older than `days`, oldest first, and
 * resolves to their number
 */
export function deletionOf(name: string, table: string): WindowDeletion {
  const statement: NamedSql = {
    name,
    text: `
    with gone as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where window_start < now() - make_interval(days => $1) order by window_start limit $2 for update skip locked))
      returning 1)
    select count(*)::int as count from gone`,
  };
  return async (db, days, most) => {
    const [gone] = await db.query<{ count: number }>(statement, [days, most]);
    return gone?.count ?? 0;
  };
}
