import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { migrate, migrations, schemaProblem, type Migration } from './index.js';
import { createTestDatabase, until, type TestDatabase } from './testing/index.js';

let database: TestDatabase;
const clients: pg.Client[] = [];

beforeEach(async () => {
  database = await createTestDatabase(migrations);
}, 60_000);
afterEach(async () => {
  for (const client of clients.splice(0)) await client.end();
  await database.drop();
});

async function owner(): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: database.ownerUrl });
  clients.push(client);
  await client.connect();
  return client;
}

class Things1900000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table things (id int)');
  }
  async down(): Promise<void> {}
}
class WiderThings1900000000002 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table things add column note text');
  }
  async down(): Promise<void> {}
}
class NarrowThings1900000000003 implements MigrationInterface {
  static readonly breaksBefore = 'WiderThings1900000000002';
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table things drop column id');
  }
  async down(): Promise<void> {}
}

const run = (more: Migration[]): Promise<string[]> =>
  migrate(database.ownerUrl, [...migrations, ...more], database.url);
const problemOf = (more: Migration[], url = database.url): Promise<string | undefined> =>
  schemaProblem(url, { known: [...migrations, ...more].map(({ name }) => name) });

describe('a process that starts', () => {
  it('refuses a schema that lacks a migration, and serves with newer ones that it does not know', async () => {
    expect(await problemOf([Things1900000000001])).toBe('the database lacks a migration: run `npm run migrate`');
    expect(await problemOf([Things1900000000001, WiderThings1900000000002])).toContain('lacks 2 migrations');
    await run([Things1900000000001, WiderThings1900000000002]);
    expect(await problemOf([Things1900000000001])).toBeUndefined();
    expect(await problemOf([])).toBeUndefined();
  });

  it('refuses a schema that a migration broke for it, while the previous release still serves', async () => {
    await run([Things1900000000001, WiderThings1900000000002, NarrowThings1900000000003]);
    expect(await problemOf([Things1900000000001])).toMatch(/NarrowThings1900000000003\): run the newer version/);
    expect(await problemOf([Things1900000000001, WiderThings1900000000002])).toBeUndefined();
    const concerns = (name: string): boolean => name.startsWith('Dataplane');
    expect(await schemaProblem(database.url, { known: [], concerns })).toBeUndefined();
  });

  it('finds the breaking mark of a migration before that migration runs, but obeys it only afterwards', async () => {
    await run([Things1900000000001]);
    class Fails1900000000004 implements MigrationInterface {
      static readonly breaksBefore = 'WiderThings1900000000002';
      async up(): Promise<void> {
        throw new Error('killed here');
      }
      async down(): Promise<void> {}
    }
    await expect(run([Things1900000000001, Fails1900000000004])).rejects.toThrow('killed here');
    const client = await owner();
    expect((await client.query('select name from schema_breaks')).rows).toEqual([{ name: 'Fails1900000000004' }]);
    expect(await problemOf([Things1900000000001])).toBeUndefined();
    await client.query(`insert into schema_migrations (timestamp, name) values (1900000000004, 'Fails1900000000004')`);
    expect(await problemOf([Things1900000000001])).toContain('Fails1900000000004');
  });

  it('may check with the login of a gateway, and finds no marks in an older database', async () => {
    await migrate(database.ownerUrl, migrations, database.url, database.gatewayUrl);
    expect(await problemOf([], database.gatewayUrl)).toBeUndefined();
    await (await owner()).query('drop table schema_breaks');
    expect(await problemOf([])).toBeUndefined();
  });
});

describe('a migration while others serve', () => {
  it('gives way to statements that wait for its lock, and succeeds when the lock is free', async () => {
    await run([Things1900000000001]);
    const [holder, reader] = [await owner(), await owner()];
    await holder.query('begin; lock table things in access share mode');
    const migrated = run([Things1900000000001, WiderThings1900000000002]);
    await until('the migration to wait for the lock', async () => {
      const waiting = await reader.query(
        `select from pg_locks where not granted and relation = 'things'::regclass and mode = 'AccessExclusiveLock'`,
      );
      return waiting.rows.length > 0;
    });
    // This read is queued after the migration, which without a limit would wait until the holder commits.
    expect((await reader.query('select count(*)::int as n from things')).rows).toEqual([{ n: 0 }]);
    await holder.query('commit');
    expect(await migrated).toEqual(['WiderThings1900000000002']);
  });

  it('returns the names of the applied migrations, also after a repeated attempt', async () => {
    expect(await run([Things1900000000001, WiderThings1900000000002])).toEqual([
      'Things1900000000001',
      'WiderThings1900000000002',
    ]);
    expect(await run([Things1900000000001, WiderThings1900000000002])).toEqual([]);
  });
});
