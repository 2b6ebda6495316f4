import pg from 'pg';
import type { KeyRing } from '@slipway/platform-config/load';
import type { Tx } from './tx.js';
import { keyIdOf, openSecret, sealSecret, SecretBoxError } from './secret-box.js';

/**
 * A column with sealed secrets. Each library exports its columns as `sealed`. A rotation of the key re-seals them, and
 * a process that starts with another key is refused with an explanation.
 */
export interface SealedColumn {
  readonly table: string;
  /** The primary key of the table, one column. */
  readonly id: string;
  readonly column: string;
  /** Further columns of a row that its contexts need. */
  readonly contextColumns?: readonly string[];
  /** SQL for the sealed texts of row `t`, null for none. By default `t.<column>`, if the column is one text. */
  readonly texts?: string;
  /**
   * Builds the new value of the column from the results of `reseal`, which takes each text and the context it is bound
   * to.
   */
  renewed(row: Record<string, unknown>, reseal: (sealed: string, context: string) => string): unknown;
  /** By default `openSecret`; needed only if an older version sealed otherwise. */
  readonly open?: typeof openSecret;
  /** Runs in the same transaction and notifies processes that keep copies. */
  onResealed?(tx: Tx, ids: readonly string[]): Promise<void>;
}

interface SealReader {
  query<R = Record<string, unknown>>(text: string, values?: unknown[]): Promise<R[]>;
}

/** How many texts a key has sealed; `keyId` is null for texts without a key id, which older versions wrote. */
export interface SealedCount {
  keyId: string | null;
  texts: number;
}

/** Few, because the size of a row is that of what a tenant has stored in its other columns. */
const BATCH = 10;

const textsOf = ({ texts, column }: SealedColumn): string => texts ?? `select t.${column}`;
const nameOf = ({ table, column }: SealedColumn): string => `${table}.${column}`;

/** Reads every row; quotas limit the size of these tables. */
export async function countSealed(tx: SealReader, column: SealedColumn): Promise<SealedCount[]> {
  return tx.query<SealedCount>(`
    select case when starts_with(s.sealed, 'v1.') then null else split_part(s.sealed, '.', 2) end as "keyId", count(*)::int as texts
    from ${column.table} t, lateral (${textsOf(column)}) s(sealed) where s.sealed is not null group by 1 order by 1`);
}

/**
 * Says why a process with these keys cannot open the stored secrets; empty if it can. Of the texts without a key id, it
 * tries one for each column.
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
 * Seals every text under the current key and bound to its row, unless it already is. It works in transactions with a
 * limited number of rows and skips rows that others have locked. It is therefore safe next to running processes, and
 * may be repeated and killed.
 * @param inTransaction runs one transaction as the system
 * @param onUnopened called with the column and the id of a row that no key of the ring opens, which stays unchanged
 * @returns the number of rows written
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

/** Texts of a row that are already under the current key stay unchanged. */
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
