import pg from 'pg';
import type { MigrationInterface } from 'typeorm';

/**
 * One step of the schema. An older process works beside it, unless it says `breaksBefore`.
 */
export interface Migration {
  new (): MigrationInterface;
  /**
   * Name of a migration: processes that do not know that one cannot work with the schema once this one has run, and refuse to
   * start. It names the migration that the last release came with, which has stopped to use what goes away now.
   */
  readonly breaksBefore?: string;
}

/** TypeORM's list of what was applied. */
export const APPLIED = 'schema_migrations';
/** Which of them break older processes: those know a migration by its name only. */
export const BREAKS = 'schema_breaks';

const PATIENCE_MS = 5_000;

export interface SchemaCheck {
  /** Names of the migrations that this process was built with. */
  known: readonly string[];
  /** Which migrations of others concern it; all where unset. */
  concerns?: (name: string) => boolean;
  /** For the connection, and for each answer. */
  patienceMs?: number;
}

/**
 * Why a process must not work with this database, in one line; undefined where it may. A schema that is newer is no reason: what a
 * newer version added, an older process does not see. One that is older is, and so is a migration that says it breaks this process.
 * @throws what Postgres or the connection says where it cannot be asked
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
  // A connection that dies between two statements is told by the next one.
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

/** Two columns of a table, or nothing where it does not exist yet. */
async function namesIn(client: pg.Client, table: string, key: string, value = key): Promise<Map<string, string>> {
  const { rows } = await client.query('select to_regclass($1) as found', [`public.${table}`]);
  if (!rows[0].found) return new Map();
  const list = await client.query(`select ${key} as key, ${value} as value from public.${table} order by 1`);
  return new Map(list.rows.map((row: { key: string; value: string }) => [row.key, row.value]));
}
