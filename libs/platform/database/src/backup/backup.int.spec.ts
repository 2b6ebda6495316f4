import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrations, restoreBackup, writeBackup, type Migration } from '../index.js';
import { createTestDatabase, until, type TestDatabase } from '../testing/index.js';

class Things1900000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table owners (id text primary key);
      create table things (
        id bigint generated always as identity primary key, tenant_id text not null, owner text references owners (id),
        note text, bytes bytea, document jsonb, verbatim json, ratio float8, at timestamptz, tags text[], spread interval,
        twice int generated always as (2 * 21) stored);
      create table counts (n int not null);
      create function count_things() returns trigger language plpgsql as $$ begin update counts set n = n + 1; return null; end $$;
      create trigger counted after insert on things for each row execute function count_things();
      select slipway_tenant_table('things'), slipway_system_table('owners'), slipway_system_table('counts');
      insert into counts values (0)`);
  }
  async down(): Promise<void> {}
}
class Later1900000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`alter table things add column since text default 'later'`);
  }
  async down(): Promise<void> {}
}
const THEN: Migration[] = [...migrations, Things1900000000001];

let folder: string;
let source: TestDatabase;
let target: TestDatabase;

beforeEach(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-backup-'));
  source = await createTestDatabase(THEN);
  target = await createTestDatabase(migrations);
}, 60_000);
afterEach(async () => {
  await Promise.all([source.drop(), target.drop()]);
  rmSync(folder, { recursive: true, force: true });
});

async function query<R = any>({ ownerUrl }: TestDatabase, sql: string, values?: unknown[]): Promise<R[]> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    return (await client.query(sql, values)).rows;
  } finally {
    await client.end();
  }
}

const into = ({ ownerUrl, url, gatewayUrl }: TestDatabase, known = THEN) => ({
  ownerUrl,
  appUrl: url,
  gatewayUrl,
  migrations: known,
});
const pathOf = (name: string): string => path.join(folder, name);
const THINGS =
  'select *, document::text as d, verbatim::text as v, at::text as a, spread::text as s from things order by id';

async function fill(): Promise<void> {
  await query(source, `insert into owners values ('own_1')`);
  await query(
    source,
    `insert into things (tenant_id, owner, note, bytes, document, verbatim, ratio, at, tags, spread) values
      ('ten_a', 'own_1', $1, '\\xff00', 'null', '{ "b":1,  "a" : 1.10 }', 0.1, '2026-01-02 03:04:05.678901+02', '{"a,b",NULL,"{"}', '1 mon -3 days'),
      ('ten_b', null, '', null, null, null, 'Infinity', '-infinity', '{}', null)`,
    ['two\nlines, "quoted" \\ {braces} \u2028 \u{1f680}'],
  );
  await query(source, "delete from things where false; select setval(pg_get_serial_sequence('things', 'id'), 7)");
  await query(source, `insert into things (tenant_id) select 'ten_a' from generate_series(1, 1200)`);
}

it('restores every value of every tenant unchanged, fires no trigger, and continues the sequences', async () => {
  await fill();
  const before = await query(source, THINGS);
  expect(await writeBackup(pathOf('b'), source.url, {})).toEqual({ rows: 1204, kept: [] });
  await restoreBackup(pathOf('b'), into(target), {});
  expect(await query(target, THINGS)).toEqual(before);
  expect(await query(target, 'select n from counts')).toEqual([{ n: 1202 }]);
  expect(await query(target, `insert into things (tenant_id) values ('ten_a') returning id, twice`)).toEqual([
    { id: '1208', twice: 42 },
  ]);
  expect(await query(target, 'select n from counts')).toEqual([{ n: 1203 }]);
  await expect(query(target, `insert into things (tenant_id, owner) values ('ten_a', 'nobody')`)).rejects.toThrow(
    'things_owner_fkey',
  );
  const tables = await query(
    target,
    `select relname from pg_class where relname in ('things', 'owners', 'counts') and relforcerowsecurity`,
  );
  expect(tables).toHaveLength(3);
});

it('backs up and restores rows of any size, and handles no more bytes at once than a batch has', async () => {
  const ROW_BYTES = 1_000_000;
  await query(
    source,
    `insert into things (tenant_id, document) select 'ten_a', to_jsonb(repeat('x', ${ROW_BYTES})) from generate_series(1, 20)`,
  );
  const largest = { read: 0, written: 0 };
  const send = pg.Client.prototype.query as (...args: unknown[]) => Promise<pg.QueryResult>;
  jest.spyOn(pg.Client.prototype, 'query').mockImplementation(async function (this: pg.Client, ...args: unknown[]) {
    const result = await send.apply(this, args);
    largest.read = Math.max(largest.read, JSON.stringify(result?.rows ?? []).length);
    largest.written = Math.max(largest.written, JSON.stringify(args).length);
    return result;
  } as never);
  await writeBackup(pathOf('b'), source.url, {});
  await restoreBackup(pathOf('b'), into(target), {});
  jest.restoreAllMocks();
  // All rows in one text would be 20 million characters here, and longer than a text may be for a tenant that stores more.
  expect(largest.read).toBeGreaterThan(ROW_BYTES);
  expect(largest.read).toBeLessThan(6 * ROW_BYTES);
  expect(largest.written).toBeGreaterThan(ROW_BYTES);
  expect(largest.written).toBeLessThan(6 * ROW_BYTES);
  const digests = 'select count(*)::int as rows, sum(hashtext(document::text)::int8)::text as sum from things';
  expect(await query(target, digests)).toEqual(await query(source, digests));
});

it('a backup shows one moment while other transactions write', async () => {
  await fill();
  let isOver = false;
  const writing = (async () => {
    while (!isOver)
      await query(
        source,
        `with o as (insert into owners select 'own_' || gen_random_uuid() returning id) insert into things (tenant_id, owner) select 'ten_a', id from o`,
      );
  })();
  for (let i = 0; i < 5; i += 1) await writeBackup(pathOf(`b${i}`), source.url, {});
  isOver = true;
  await writing;
  // The reference of each thing to its owner is valid again only if both are from one moment.
  await restoreBackup(pathOf('b4'), into(target), {});
  const [row] = await query(
    target,
    'select (select n from counts) as counted, (select count(*)::int from things) as things',
  );
  expect(row.counted).toBe(row.things);
});

it('a backup is restored by a newer version, which then migrates it, and refused by an older one', async () => {
  await fill();
  await writeBackup(pathOf('b'), source.url, {});
  await expect(restoreBackup(pathOf('b'), into(target, migrations), {})).rejects.toThrow(
    'a newer version made the backup (Things1900000000001)',
  );
  await restoreBackup(pathOf('b'), into(target, [...THEN, Later1900000000002]), {});
  expect(await query(target, 'select distinct since from things')).toEqual([{ since: 'later' }]);
});

it.each([
  ['things', 'notes'],
  ['notes', 'things'],
])('a restore is refused by a database that serves, without a deadlock there: %s before %s', async (held, wanted) => {
  await fill();
  await query(source, `create table notes (tenant_id text); select slipway_tenant_table('notes')`);
  await writeBackup(pathOf('b'), source.url, {});
  const serving = new pg.Client({ connectionString: source.ownerUrl });
  await serving.connect();
  try {
    await serving.query(`begin; lock table ${held} in row exclusive mode`);
    let isOver = false;
    const refused = expect(restoreBackup(pathOf('b'), into(source), {}))
      .rejects.toThrow('the database is in use (things has rows)')
      .finally(() => (isOver = true));
    const waits = `select from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`;
    await until('it waits, or ends', async () => isOver || (await query(source, waits)).length > 0);
    await serving.query(`lock table ${wanted} in row exclusive mode; commit`);
    await refused;
  } finally {
    await serving.end();
  }
});

it('a restore refuses a database in use, and accepts one in which a restore was interrupted', async () => {
  await fill();
  await writeBackup(pathOf('b'), source.url, {});
  await expect(restoreBackup(pathOf('b'), into(source), {})).rejects.toThrow(
    'the database is in use (things has rows)',
  );
  cpSync(pathOf('b'), pathOf('broken'), { recursive: true });
  const file = path.join(pathOf('broken'), 'database/things.jsonl.gz');
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  writeFileSync(file, gzipSync(lines.slice(1).join('\n')));
  await expect(restoreBackup(pathOf('broken'), into(target), {})).rejects.toThrow('things has 1201 of 1202 rows');
  expect(await query(target, 'select count(*)::int as n from owners')).toEqual([{ n: 0 }]);
  await restoreBackup(pathOf('b'), into(target), {});
  expect(await query(target, 'select count(*)::int as n from things')).toEqual([{ n: 1202 }]);
});

it('keeps files in the backup that only the owner may read, and overwrites none', async () => {
  writeFileSync(pathOf('key'), 'ours', { mode: 0o600 });
  mkdirSync(pathOf('store/deep'), { recursive: true });
  cpSync(pathOf('key'), pathOf('store/deep/key'));
  const { kept } = await writeBackup(pathOf('b'), source.url, {
    key: pathOf('key'),
    store: pathOf('store'),
    gone: pathOf('gone'),
  });
  expect(kept).toEqual(['key', 'store']);
  expect(statSync(pathOf('b')).mode & 0o777).toBe(0o700);
  expect(statSync(pathOf('b/files/key')).mode & 0o777).toBe(0o600);
  await expect(writeBackup(pathOf('b'), source.url, {})).rejects.toThrow('is not empty');
  writeFileSync(pathOf('other-key'), 'theirs');
  await expect(restoreBackup(pathOf('b'), into(target), { key: pathOf('other-key') })).rejects.toThrow(
    'differs from the file in the backup',
  );
  await restoreBackup(pathOf('b'), into(target), { key: pathOf('new/key'), store: pathOf('new/store') });
  expect(readFileSync(pathOf('new/key'), 'utf8')).toBe('ours');
  expect(existsSync(pathOf('new/store/deep/key'))).toBe(true);
  rmSync(pathOf('b/backup.json'));
  await expect(restoreBackup(pathOf('b'), into(target), {})).rejects.toThrow('does not contain a complete backup');
});
