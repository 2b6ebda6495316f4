import type { NamedSql, QueryClient } from '../sql.js';

type WindowDeletion = (db: QueryClient, days: number, most: number) => Promise<number>;

/**
 * @param column the time that a row is about
 * @param only a further condition on the rows
 * @returns a function that deletes up to `most` rows of a table that are older than `days`, oldest first, and resolves
 * to their number
 */
export function deletionOf(name: string, table: string, column = 'window_start', only = 'true'): WindowDeletion {
  const statement: NamedSql = {
    name,
    text: `
    with gone as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} where ${only} and ${column} < now() - make_interval(days => $1) order by ${column} limit $2 for update skip locked))
      returning 1)
    select count(*)::int as count from gone`,
  };
  return async (db, days, most) => {
    const [gone] = await db.query<{ count: number }>(statement, [days, most]);
    return gone?.count ?? 0;
  };
}
