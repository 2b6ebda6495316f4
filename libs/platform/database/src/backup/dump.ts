import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { sizeWhenRead } from '../bounded-rows.js';
import { APPLIED } from '../schema.js';
import { tablesOf, TEXT_SETTINGS, type BackedUpTable } from './tables.query.js';

export const FORMAT = 1;
const UNDEFINED_TABLE = '42P01';
const LOCATIONS_AT_A_TIME = 1_000;
/** Texts of values may be a few times longer, because quotes and backslashes in them are escaped. */
export const BATCH_BYTES = 4 * 1024 * 1024;
const CHUNK_CHARACTERS = 256 * 1024;

/** The contents of a dump; `rows` is by table. The time is that of Postgres. */
export interface DatabaseDump {
  format: number;
  taken_at: string;
  migrations: string[];
  tables: (BackedUpTable & { rows: number })[];
}

/** Each line contains the text of one row's values as a JSON array. */
export const fileOf = (folder: string, table: string): string => path.join(folder, `${table}.jsonl.gz`);

/**
 * Writes every table as of one moment into an empty folder, one file each, while other transactions write. It needs
 * only the application's login, because the role of the system sees all rows. The queue's jobs are not included; due
 * work is queued again from the tables.
 * @param url login of the application
 */
export async function dumpDatabase(url: string, folder: string): Promise<DatabaseDump> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`begin isolation level repeatable read read only; ${TEXT_SETTINGS}`);
    const { rows } = await client.query(
      `select array_agg(name::text order by id) as migrations, now() as taken_at from ${APPLIED}`,
    );
    await client.query('set local role slipway_system');
    const tables = [];
    for (const table of await tablesOf(client))
      tables.push({ ...table, rows: await dumpTable(client, table, fileOf(folder, table.name)) });
    await client.query('commit');
    return { format: FORMAT, taken_at: rows[0].taken_at.toISOString(), migrations: rows[0].migrations, tables };
  } finally {
    await client.end();
  }
}

/**
 * Records that a complete back-up exists, for a metric. The table is missing in a database of an older version, which a
 * newer command may back up.
 */
export async function recordBackup(url: string, takenAt: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin; set local role slipway_system');
    await client.query(
      `insert into last_backup (taken_at) values ($1)
       on conflict (is_only) do update set taken_at = greatest(last_backup.taken_at, excluded.taken_at)`,
      [takenAt],
    );
    await client.query('commit');
  } catch (error) {
    if ((error as { code?: string }).code !== UNDEFINED_TABLE) throw error;
  } finally {
    await client.end();
  }
}

async function dumpTable(client: pg.Client, table: BackedUpTable, file: string): Promise<number> {
  let count = 0;
  async function* chunks(): AsyncGenerator<string> {
    let chunk = '';
    for await (const line of linesOf(client, table)) {
      count += 1;
      chunk += `${JSON.stringify(line)}\n`;
      if (chunk.length < CHUNK_CHARACTERS) continue;
      yield chunk;
      chunk = '';
    }
    if (chunk !== '') yield chunk;
  }
  await pipeline(
    Readable.from(chunks(), { highWaterMark: 1 }),
    createGzip(),
    createWriteStream(file, { mode: 0o600, flags: 'wx' }),
  );
  return count;
}

/**
 * The rows of a table, each as the text of its values. First it reads only where rows are and how large they are, then
 * as many rows together as fit into the bytes of a batch. So it needs the memory of a batch and of one row, whatever
 * tenants have stored.
 */
async function* linesOf(client: pg.Client, { name, columns }: BackedUpTable): AsyncGenerator<string> {
  const table = pg.escapeIdentifier(name);
  const names = columns.map(pg.escapeIdentifier);
  const values = names.map((column) => `${column}::text`).join(', ');
  await client.query(
    `declare location cursor for select ctid::text as location, ${sizeOfRow(names)} as bytes from ${table}`,
  );
  const select = `select array[${values}]::text as line from ${table} where ctid = any($1::tid[])`;
  for (;;) {
    const { rows } = await client.query<RowLocation>(`fetch ${LOCATIONS_AT_A_TIME} from location`);
    if (rows.length === 0) break;
    for (const locations of batchesOf(rows)) {
      const found = await client.query<{ line: string }>(select, [locations]);
      for (const { line } of found.rows) yield line;
    }
  }
  await client.query('close location');
}

/** Where a row is, which does not change within the transaction of a dump, and its size. */
interface RowLocation {
  location: string;
  bytes: string;
}

/** Groups rows, so that each group has the bytes of a batch, or is one row. */
function batchesOf(rows: readonly RowLocation[]): string[][] {
  const batches: string[][] = [];
  let bytes = Infinity;
  for (const row of rows) {
    bytes += Number(row.bytes);
    if (bytes > BATCH_BYTES) {
      batches.push([]);
      bytes = Number(row.bytes);
    }
    batches[batches.length - 1]!.push(row.location);
  }
  return batches;
}

/** The bytes of all values, as SQL. */
function sizeOfRow(columns: readonly string[]): string {
  return ['0', ...columns.map((column) => `${sizeWhenRead(column)}::int8`)].join(' + ');
}
