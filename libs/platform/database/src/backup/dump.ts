import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import pg from 'pg';
import { APPLIED } from '../schema.js';
import { tablesOf, TEXT_SETTINGS, type BackedUpTable } from './tables.query.js';

export const FORMAT = 1;
const ROWS_AT_A_TIME = 500;

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

async function dumpTable(client: pg.Client, { name, columns }: BackedUpTable, file: string): Promise<number> {
  const values = columns.map((column) => `${pg.escapeIdentifier(column)}::text`).join(', ');
  await client.query(`declare line cursor for select array[${values}]::text as line from ${pg.escapeIdentifier(name)}`);
  let count = 0;
  async function* lines(): AsyncGenerator<string> {
    for (;;) {
      const { rows } = await client.query<{ line: string }>(`fetch ${ROWS_AT_A_TIME} from line`);
      if (rows.length === 0) return;
      count += rows.length;
      yield rows.map(({ line }) => `${JSON.stringify(line)}\n`).join('');
    }
  }
  await pipeline(Readable.from(lines()), createGzip(), createWriteStream(file, { mode: 0o600, flags: 'wx' }));
  await client.query('close line');
  return count;
}
