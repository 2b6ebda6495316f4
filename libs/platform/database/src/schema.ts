import pg from 'pg';
import type { MigrationInterface } from 'typeorm';

/** One step of the schema. An older process works with it, unless it has `breaksBefore`. */
export interface Migration {
  new (): MigrationInterface;
  /**
   * Name of a migration. Processes that do not know that migration cannot work with the schema once this one has run,
   * and refuse to start. It names the last migration of the previous release, which no longer uses what this migration
   * removes.
   */
  readonly breaksBefore?: string;
}

/** TypeORM's list of applied migrations. */
export const APPLIED = 'schema_migrations';
/** The applied migrations that break older processes, which know a migration only by its name. */
export const BREAKS = 'schema_breaks';

const PATIENCE_MS = 5_000;

export interface SchemaCheck {
  /** Names of the migrations that this process was built with. */
  known: readonly string[];
  /** Which migrations of other versions concern this process; by default all. */
  concerns?: (name: string) => boolean;
  /** For the connection, and for each answer. */
  patienceMs?: number;
}

/**
 * Says in one line why a process must not work with this database; undefined if it may. A newer schema is no reason,
 * because an older process does not see the additions of a newer version. An older schema is one, and so is a migration
 * that is marked as breaking this process.
 * @throws the error of Postgres or of the connection if the check fails
 */
export async function schemaProblem(
  url: string,
  { known, concerns = () => true, patienceMs = PATIENCE_MS }: SchemaCheck,
): Promise<string | undefined> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  // If a connection dies between two statements, the next one reports it.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const names = new Set(known);
    const applied = await namesIn(client, APPLIED, 'name');
    const missing = known.filter((name) => !applied.has(name));
    if (missing.length > 0) return `the database lacks ${count(missing)}: run \`npm run migrate\``;
    const breaks = await namesIn(client, BREAKS, 'name', 'breaks_before');
    const breaking = [...breaks].find(
      ([name, before]) => applied.has(name) && concerns(name) && !names.has(name) && !names.has(before),
    );
    if (!breaking) return undefined;
    return `a newer version migrated the database, and this version cannot work with it (${breaking[0]}): run the newer version, or restore a backup from before the migration`;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function count(names: readonly string[]): string {
  return names.length === 1 ? 'a migration' : `${names.length} migrations`;
}

/** Two columns of a table, or nothing if it does not exist yet. */
async function namesIn(client: pg.Client, table: string, key: string, value = key): Promise<Map<string, string>> {
  const { rows } = await client.query('select to_regclass($1) as found', [`public.${table}`]);
  if (!rows[0].found) return new Map();
  const list = await client.query(`select ${key} as key, ${value} as value from public.${table} order by 1`);
  return new Map(list.rows.map((row: { key: string; value: string }) => [row.key, row.value]));
}
