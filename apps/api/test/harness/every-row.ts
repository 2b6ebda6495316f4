import { type ApiClient, owned } from '@slipway/platform-testing/contract';
import type { TestApi } from './boot-api.js';

/**
 * Returns the content of every table except the named ones, as text by table: two results are
 * equal if nothing was written in between.
 */
export async function everyRow(api: TestApi, except: readonly string[]): Promise<Record<string, string>> {
  const tables = await owned<{ name: string }>(
    api,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const rows: Record<string, string> = {};
  for (const { name } of tables.filter((table) => !except.includes(table.name))) {
    // Leave out when a token was last used: the request itself changes that.
    const [row] = await owned<{ all: string }>(
      api,
      `select coalesce(string_agg(r, E'\\n' order by r), '') as all from (select (to_jsonb(t) - 'last_used_at')::text as r from "${name}" t) x`,
    );
    rows[name] = row!.all;
  }
  return rows;
}

/**
 * Notes of bytes that may be left over: written before an upload begins, and cleared by the sweeper. Also earlier reads,
 * which are counted later.
 */
const TRACES = new Set(['sandbox_stray_blobs', 'audit_reads']);

/** Returns the names of the tables in which a request left something between two results of `tableMarks`. */
export function changedTables(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys(after).filter((table) => after[table] !== before[table] && !TRACES.has(table));
}

/** Returns a checksum of each table, all in one statement: two results are equal if nothing was written in between. */
export async function tableMarks(api: ApiClient): Promise<Record<string, string>> {
  const tables = await owned<{ name: string }>(
    api,
    `select tablename as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const mark = `md5(string_agg((to_jsonb(t) - 'last_used_at')::text, '' order by to_jsonb(t)::text))`;
  const parts = tables.map(({ name }) => `select '${name}' as name, (select ${mark} from "${name}" t) as mark`);
  const marks = await owned<{ name: string; mark: string }>(api, parts.join(' union all '));
  return Object.fromEntries(marks.map(({ name, mark }) => [name, mark]));
}
