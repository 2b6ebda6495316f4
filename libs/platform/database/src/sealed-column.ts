import pg from 'pg';
import type { KeyRing } from '@slipway/platform-config/load';
import type { Tx } from './tx.js';
import { keyIdOf, openSecret, sealSecret, SecretBoxError } from './secret-box.js';

/**
 * Where sealed secrets stand, as each library that has some exports it under `sealed`: a rotation of the key re-seals them, and
 * a process that starts with another key is told.
 */
export interface SealedColumn {
  readonly table: string;
  /** Its primary key, one column. */
  readonly id: string;
  readonly column: string;
  /** What else of a row its contexts are made of. */
  readonly contextColumns?: readonly string[];
  /** SQL: the sealed texts of row `t`, null for none. `t.<column>` where the column is one. */
  readonly texts?: string;
  /** The row's column, made anew of what `reseal` gives for each text and the context it is bound to. */
  renewed(row: Record<string, unknown>, reseal: (sealed: string, context: string) => string): unknown;
  /** `openSecret`, where no version has ever sealed otherwise. */
  readonly open?: typeof openSecret;
  /** In the same transaction: tells who keeps copies. */
  onResealed?(tx: Tx, ids: readonly string[]): Promise<void>;
}

interface SealReader {
  query<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
}

/** How many texts a key has sealed; `keyId` is null for those from before keys had names. */
export interface SealedCount {
  keyId: string | null;
  texts: number;
}

const BATCH = 100;

const textsOf = ({ texts, column }: SealedColumn): string => texts ?? `select t.${column}`;
const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`;

/** Reads every row; the tables are those that quotas bound. */
export async function countSealed(tx: SealReader, column: SealedColumn): Promise<SealedCount[]> {
  return tx.query<SealedCount>(`
    select case when starts_with(s.sealed, 'v1.') then null else split_part(s.sealed, '.', 2) end as "keyId", count(*)::int as texts
    from ${column.table} t, lateral (${textsOf(column)}) s(sealed) where s.sealed is not null group by 1 order by 1`);
}

/**
 * What keeps a process with these keys from opening what is stored, in words; empty where it can. Of texts from before keys had
 * names one of each column is tried.
 */
export async function keyProblems(
  appUrl: string,
  columns: readonly SealedColumn[],
  keyRing: KeyRing,
): Promise<string[]> {
  const client = new pg.Client({ connectionString: appUrl });
  await client.connect();
  try {
    await client.query('set role slipway_system');
    const query = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows;
    const problems: string[] = [];
    for (const column of columns) {
      for (const { keyId, texts } of await countSealed({ query }, column)) {
        if (keyId === null ? await opensOne({ query }, column, keyRing) : keyRing.byId(keyId)) continue;
        const other = keyId === null ? 'another key' : `key ${keyId}`;
        problems.push(
          `${nameOf(column)} has ${texts === 1 ? '1 secret' : `${texts} secrets`} sealed with ${other}: SLIPWAY_SECRET_KEY is key ${keyRing.current.id}. Add the other key to SLIPWAY_SECRET_KEYS_OLD`,
        );
      }
    }
    return problems;
  } finally {
    await client.end();
  }
}

async function opensOne(tx: SealReader, column: SealedColumn, keyRing: KeyRing): Promise<boolean> {
  const [row] = await rowsWhere(tx, column, `starts_with(s.sealed, 'v1.')`, 'limit 1', []);
  return row === undefined || !hasFailed(() => renew(column, row, keyRing));
}

/**
 * Seals under the current key, and bound to its row, whatever is not. In transactions of a bounded number of rows, and passing by
 * rows that somebody else has locked: safe beside running processes, to repeat and to kill.
 * @param inTransaction runs one transaction as the system
 * @param onUnopened called with the column and the id of a row that no key of the ring opens; it stays as it is
 * @returns how many rows were written
 */
export async function reseal(
  inTransaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  column: SealedColumn,
  keyRing: KeyRing,
  onUnopened: (location: string) => void,
): Promise<number> {
  let total = 0;
  for (let after: string | undefined = ''; after !== undefined;) {
    const from: string = after;
    const batch = await inTransaction((tx) => resealBatch(tx, column, keyRing, from));
    for (const id of batch.unopened) onUnopened(`${nameOf(column)} of ${id}`);
    total += batch.written;
    after = batch.last;
  }
  return total;
}

async function resealBatch(
  tx: Tx,
  column: SealedColumn,
  keyRing: KeyRing,
  after: string,
): Promise<{ written: number; unopened: string[]; last: string | undefined }> {
  const isOther = `not starts_with(s.sealed, 'v2.${keyRing.current.id}.') and t.${column.id} > $1`;
  const rows = await rowsWhere(
    tx,
    column,
    isOther,
    `order by t.${column.id} limit ${BATCH} for no key update skip locked`,
    [after],
  );
  const written: string[] = [];
  const unopened: string[] = [];
  for (const row of rows) {
    const id = row[column.id] as string;
    let value: unknown;
    if (hasFailed(() => (value = renew(column, row, keyRing)))) {
      unopened.push(id);
      continue;
    }
    await tx.query(`update ${column.table} set ${column.column} = $2 where ${column.id} = $1`, [
      id,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]);
    written.push(id);
  }
  if (written.length > 0) await column.onResealed?.(tx, written);
  return { written: written.length, unopened, last: rows.at(-1)?.[column.id] as string | undefined };
}

function rowsWhere(
  tx: SealReader,
  column: SealedColumn,
  condition: string,
  rest: string,
  values: unknown[],
): Promise<Record<string, unknown>[]> {
  const selected = [column.id, column.column, ...(column.contextColumns ?? [])].map((name) => `t.${name}`).join(', ');
  return tx.query(
    `select ${selected} from ${column.table} t
     where exists (select from (${textsOf(column)}) s(sealed) where s.sealed is not null and ${condition}) ${rest}`,
    values,
  );
}

/** Texts of a row that are under the current key stay as they are. */
function renew(column: SealedColumn, row: Record<string, unknown>, keyRing: KeyRing): unknown {
  return column.renewed(row, (sealed, context) =>
    keyIdOf(sealed) === keyRing.current.id
      ? sealed
      : sealSecret(keyRing, (column.open ?? openSecret)(keyRing, sealed, context), context),
  );
}

function hasFailed(attempt: () => void): boolean {
  try {
    attempt();
    return false;
  } catch (error) {
    if (error instanceof SecretBoxError) return true;
    throw error;
  }
}
