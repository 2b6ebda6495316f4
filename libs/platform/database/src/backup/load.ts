import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import pg from 'pg';
import { migrate } from '../migrate.js';
import type { Migration } from '../schema.js';
import { BATCH_BYTES, FORMAT, fileOf, type DatabaseDump } from './dump.js';
import { tablesOf, TEXT_SETTINGS } from './tables.query.js';

const LINES_AT_A_TIME = 500;
const NEWLINE = '\n'.charCodeAt(0);

/** Why a dump cannot be restored here, in words for the person who ran the command. */
export class RestoreError extends Error {}

export interface RestoreInto {
  /** The login for migrations, as for `migrate`. */
  ownerUrl: string;
  appUrl: string;
  gatewayUrl: string;
  migrations: readonly Migration[];
}

/**
 * Loads a dump into a database without rows: first the schema of the dump, then all rows in one transaction, then the
 * migrations since. After a kill at any line it may be called again.
 * @throws RestoreError if a tenant already has rows, if the dump is damaged, or if a newer version made it
 */
export async function loadDatabase(dump: DatabaseDump, folder: string, into: RestoreInto): Promise<void> {
  if (dump.format !== FORMAT) throw new RestoreError(`the backup has format ${dump.format}, not ${FORMAT}`);
  const known = new Set(into.migrations.map(({ name }) => name));
  const foreign = dump.migrations.find((name) => !known.has(name));
  if (foreign) throw new RestoreError(`a newer version made the backup (${foreign}): restore it with that version`);
  await refuseUsed(into.ownerUrl);
  const { ownerUrl, appUrl, gatewayUrl } = into;
  const then = into.migrations.filter(({ name }) => dump.migrations.includes(name));
  await migrate(ownerUrl, then, appUrl, gatewayUrl);
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query(`begin; ${TEXT_SETTINGS}`);
    await loadRows(client, dump, folder);
    await client.query('commit');
  } finally {
    await client.end();
  }
  await migrate(ownerUrl, into.migrations, appUrl, gatewayUrl);
}

/** Rows that migrations put into a new database belong to no tenant, so they do not count. */
async function refuseUsed(ownerUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    // If row-level security of a table is forced, the owner sees no rows of it, and not even whether there are any.
    const { rows } = await client.query<{ name: string }>(
      `select attrelid::regclass::text as name from pg_attribute join pg_class c on c.oid = attrelid
       where attname = 'tenant_id' and not attisdropped and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace`,
    );
    // One table after the other. If the command is run by mistake on a database that serves, it locks one table for a
    // moment and causes no deadlock.
    for (const { name } of rows) {
      await client.query(`begin; alter table ${name} no force row level security`);
      const used = await client.query(`select from ${name} limit 1`);
      await client.query('rollback');
      if (used.rowCount)
        throw new RestoreError(`the database is in use (${name} has rows): restore into a new database`);
    }
  } finally {
    await client.end();
  }
}

/** Triggers and references are for changes. Rows that were consistent together are restored unchanged, in any order. */
async function loadRows(client: pg.Client, dump: DatabaseDump, folder: string): Promise<void> {
  const tables = (await tablesOf(client)).map(({ name }) => pg.escapeIdentifier(name));
  const references = await client.query<{ table: string; name: string; definition: string }>(
    `select conrelid::regclass::text as table, quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
     from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace and conparentid = 0`,
  );
  for (const { table, name } of references.rows) await client.query(`alter table ${table} drop constraint ${name}`);
  for (const table of tables)
    await client.query(`alter table ${table} no force row level security, disable trigger user`);
  await client.query(`truncate ${tables.join(', ')}`);
  for (const table of dump.tables) await loadTable(client, table, fileOf(folder, table.name));
  await raiseSequences(client);
  for (const table of tables) await client.query(`alter table ${table} force row level security, enable trigger user`);
  for (const { table, name, definition } of references.rows)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`);
}

async function loadTable(
  client: pg.Client,
  { name, columns, rows: expected }: DatabaseDump['tables'][number],
  file: string,
): Promise<void> {
  const types = await typesOf(client, name);
  const values = columns.map((column, index) => {
    const type = types.get(column);
    if (!type) throw new RestoreError(`the backup has a column ${name}.${column} that its migrations did not create`);
    return `line[${index + 1}]::${type}`;
  });
  const insert = `insert into ${pg.escapeIdentifier(name)} (${columns.map(pg.escapeIdentifier).join(', ')}) overriding system value
    select ${values.join(', ')} from (select unnest($1::text[])::text[] as line) lines`;
  let count = 0;
  let batch: string[] = [];
  let bytes = 0;
  const flush = async (): Promise<void> => {
    await client.query(insert, [batch]);
    count += batch.length;
    batch = [];
    bytes = 0;
  };
  for await (const line of linesOf(createReadStream(file).pipe(createGunzip()))) {
    batch.push(JSON.parse(line.toString('utf8')) as string);
    bytes += line.length;
    if (batch.length >= LINES_AT_A_TIME || bytes >= BATCH_BYTES) await flush();
  }
  if (batch.length > 0) await flush();
  if (count !== expected) throw new RestoreError(`the backup is damaged: ${name} has ${count} of ${expected} rows`);
}

/** The lines of a file. Unlike readline, it reads no further than its caller, because a line may have megabytes. */
async function* linesOf(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = [];
  for await (const chunk of source) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]);
      pieces = [];
      from = end + 1;
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
  }
  if (pieces.length > 0) yield Buffer.concat(pieces);
}

async function typesOf(client: pg.Client, table: string): Promise<Map<string, string>> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `select attname::text as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [`public.${pg.escapeIdentifier(table)}`],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

async function raiseSequences(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ sequence: string; table: string; column: string }>(
    `select s.oid::regclass::text as sequence, d.refobjid::regclass::text as table, quote_ident(a.attname) as column
     from pg_class s join pg_depend d on d.objid = s.oid and d.deptype in ('a', 'i') and d.refclassid = 'pg_class'::regclass
       join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where s.relkind = 'S' and s.relnamespace = 'public'::regnamespace`,
  );
  for (const { sequence, table, column } of rows)
    await client.query(`select setval($1, greatest(max(${column}), 1), max(${column}) is not null) from ${table}`, [
      sequence,
    ]);
}
