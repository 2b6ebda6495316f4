import 'reflect-metadata';
import { AsyncLocalStorage } from 'node:async_hooks';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import pg from 'pg';
import {
  Database,
  DatabaseModule,
  listOf,
  listValues,
  locking,
  lookup,
  migrations,
  prepared,
  type Tx,
} from './index.js';
import { createTestDatabase, holdIntervals, Latch, type TestDatabase, until } from './testing/index.js';

const LOCK_DEPLOYMENT = locking('deployment', prepared('t-deployment', 'select $1::text as id'));
const LOCK_BY_NAME = locking('deployment', prepared('t-by-name', `select 'd1' as id where $1::text is not null`));
const LOCK_OPERATION = locking('operation', prepared('t-operation', 'select $1::text as id'));
const LOCK_STREAMS = locking(
  'event_stream',
  prepared('t-streams', 'select unnest($1::text[]) as id'),
  ([ids]) => ids as string[],
);

let testDatabase: TestDatabase;
const modules: TestingModule[] = [];

async function open(env: 'test' | 'production'): Promise<Database> {
  const config = {
    env,
    database: { url: testDatabase.url, migrateUrl: testDatabase.url, embedded: false, poolSize: 4 },
  };
  const module = await Test.createTestingModule({ imports: [DatabaseModule.forRoot(config as never)] }).compile();
  modules.push(module);
  await module.init();
  return module.get(Database);
}

beforeAll(async () => {
  testDatabase = await createTestDatabase(migrations);
}, 60_000);
afterAll(async () => {
  for (const module of modules) await module.close();
  await testDatabase?.drop();
});

it('writes with one statement in one round trip, and leaves no trace of a statement that fails', async () => {
  const database = await open('production');
  const pool = new pg.Pool({ connectionString: testDatabase.ownerUrl, max: 1 });
  await pool.query(`create table once (n int primary key); grant all on once to slipway_system`);
  const insert = prepared('t-once', 'insert into once values ($1) returning n, current_user as role');
  const update = prepared('t-once-update', 'update once set n = n where n = $1');
  const kept = async () => (await pool.query<{ n: number }>('select n from once order by n')).rows.map(({ n }) => n);
  const hurried = { lockWithinMs: 50 };
  expect(await database.once('system', insert, [1])).toEqual([{ n: 1, role: 'slipway_system' }]);
  // More often than there are connections, so that none of them is left in a failed transaction.
  for (let n = 0; n < 8; n += 1)
    await expect(database.once('system', insert, [1], n % 2 ? hurried : {})).rejects.toMatchObject({
      code: '23505',
      severity: 'ERROR',
    });
  expect(await database.once('system', insert, [2], hurried)).toHaveLength(1);
  expect(await kept()).toEqual([1, 2]);
  await pool.query('begin; select from once for update');
  await expect(database.once('system', update, [1], hurried)).rejects.toMatchObject({ code: '55P03' });
  await pool.query('rollback; drop table once');
  await pool.end();
});

it('sends enqueued statements with the commit, and fails as a whole with the error of the first that fails', async () => {
  const database = await open('production');
  const pool = new pg.Pool({ connectionString: testDatabase.ownerUrl, max: 1 });
  await pool.query(`create table enqueued (n int primary key); grant all on enqueued to slipway_system`);
  const insert = prepared('t-enqueued', 'insert into enqueued values ($1)');
  const kept = async () =>
    (await pool.query<{ n: number }>('select n from enqueued order by n')).rows.map(({ n }) => n);
  const enqueue = (numbers: number[], end = async (_tx: Tx): Promise<unknown> => 'value', dryRun = false) =>
    database.tx(
      'system',
      async (tx) => {
        for (const n of numbers) tx.enqueue(insert, [n]);
        return end(tx);
      },
      { dryRun },
    );
  expect(await enqueue([1, 2])).toBe('value');
  await expect(enqueue([3, 1, 4])).rejects.toMatchObject({ code: '23505' });
  // Not with "current transaction is aborted", which is the error of every later statement.
  await expect(enqueue([3, 1], (tx) => tx.query('select 1'))).rejects.toMatchObject({ code: '23505' });
  await expect(enqueue([3, 1], undefined, true)).rejects.toMatchObject({ code: '23505' });
  expect(await enqueue([3], undefined, true)).toBe('value');
  const refused = new Error('refused');
  await expect(enqueue([3], () => Promise.reject(refused))).rejects.toBe(refused);
  expect(await kept()).toEqual([1, 2]);
  await pool.query('drop table enqueued');
  await pool.end();
});

it('leaves half of the pool to other tenants, however many transactions of one wait for a lock', async () => {
  const database = await open('production');
  const owner = new pg.Pool({ connectionString: testDatabase.ownerUrl, max: 2 });
  await owner.query('create table contested (n int primary key); grant all on contested to slipway_tenant');
  await owner.query('insert into contested values (1)');
  const holder = await owner.connect();
  await holder.query('begin; select from contested for update');
  const waiting = async () =>
    (
      await owner.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%contested%'`,
      )
    ).rows.length;
  const other = () => database.read({ tenantId: 'ten_other' }, 'select 1 as one');
  await other();
  const blocked = Array.from({ length: 12 }, () =>
    database.tx({ tenantId: 'ten_busy' }, (tx) => tx.query('select from contested for update')),
  );
  await until('two wait for the lock', async () => (await waiting()) === 2);
  // The pool has four connections.
  for (let index = 0; index < 5; index += 1) expect(await other()).toEqual([{ one: 1 }]);
  expect(await Promise.all([other(), other(), other()])).toHaveLength(3);
  expect(await waiting()).toBe(2);
  await holder.query('commit');
  holder.release();
  await Promise.all(blocked);
  await owner.query('drop table contested');
  await owner.end();
});

it('refuses a transaction that gets no connection in time, as a failure that a retry can solve', async () => {
  const database = await open('production');
  const held = new Latch();
  holdIntervals();
  const all = Array.from({ length: 4 }, () => database.tx('system', () => held.promise));
  const late = expect(database.read('system', 'select 1')).rejects.toMatchObject({ code: '53300' });
  const now = performance.now() + 5_000;
  const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
  jest.advanceTimersByTime(100);
  await late;
  clock.mockRestore();
  jest.useRealTimers();
  held.resolve();
  await Promise.all(all);
  expect(await database.read('system', 'select 1 as one')).toEqual([{ one: 1 }]);
});

it('reports the bytes and the statements of each use of a connection to its listener, in the context of the caller', async () => {
  const database = await open('production');
  const context = new AsyncLocalStorage<string>();
  const uses: { who: string | undefined; bytes: number; statements: number }[] = [];
  database.onUse((bytes, statements) => uses.push({ who: context.getStore(), bytes, statements }));
  const large = (who: string) => context.run(who, () => database.read('system', `select repeat('x', 100000)`));
  await Promise.all([large('first'), large('second')]);
  expect(uses.map(({ who }) => who).sort()).toEqual(['first', 'second']);
  for (const { bytes } of uses) expect([bytes > 100_000, bytes < 150_000]).toEqual([true, true]);
  // Each also begins and commits its transaction.
  expect(uses.map(({ statements }) => statements)).toEqual([3, 3]);
});

it('runs follow-ups after a commit, and only then', async () => {
  const database = await open('production');
  const followed: string[] = [];
  const run = (name: string, end = async (_tx: Tx): Promise<unknown> => undefined, dryRun = false) =>
    database.tx(
      'system',
      async (tx) => {
        tx.afterCommit(() => followed.push(name));
        await end(tx);
        expect(followed).not.toContain(name);
      },
      { dryRun },
    );
  await run('committed');
  await run('dry run', undefined, true);
  await expect(run('refused', () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  const swallowed = (tx: Tx): Promise<unknown> => tx.query('select 1 / 0').catch(() => undefined);
  await expect(run('rolled back by Postgres', swallowed)).rejects.toThrow('rolled back');
  expect(followed).toEqual(['committed']);
});

it('plans once for all values if hasOnePlan is set', async () => {
  const database = await open('production');
  const statement = prepared('t-one-plan', 'select * from pg_class where oid = $1::oid');
  const plans = `select generic_plans::int as generic, custom_plans::int as custom from pg_prepared_statements where name = 't-one-plan'`;
  const counted = await database.tx(
    'system',
    async (tx) => {
      await tx.query(statement, [1]);
      return tx.query(plans);
    },
    { hasOnePlan: true },
  );
  expect(counted).toEqual([{ generic: 1, custom: 0 }]);
});

/** What `_write` or `_writev` got. */
const textOf = (given: unknown): string =>
  (Array.isArray(given)
    ? given.map((piece: { chunk: Uint8Array } | Uint8Array) => ('chunk' in piece ? piece.chunk : piece))
    : [given as Uint8Array]
  )
    .map((chunk) => Buffer.from(chunk).toString())
    .join('');

it('statements sent in one turn of the event loop leave in one write, on any connection', async () => {
  const database = await open('production');
  const look = lookup('t-look', 'select $1::int as n');
  const one = prepared('t-one', 'select $1::int as n');
  const three = () =>
    database.tx('system', async (tx) =>
      (await Promise.all([1, 2, 3].map((n) => tx.one(one, [n])))).map((row) => row?.n),
    );
  const looks = () => Promise.all([1, 2].map((n) => database.read({ tenantId: 'ten_a' }, look, [n])));
  // The first run names the statements and makes the connections.
  for (const work of [three, looks, looks]) await work();
  const spies = [jest.spyOn(Socket.prototype, '_writev'), jest.spyOn(Socket.prototype, '_write')];
  // Only of the connections that sent the statement: other sockets of the process write too.
  const count = async (name: string, work: () => Promise<unknown>) => {
    for (const spy of spies) spy.mockClear();
    const result = await work();
    const writes = spies.flatMap(({ mock }) =>
      mock.calls.map(([given], at) => ({ socket: mock.contexts[at], text: textOf(given) })),
    );
    const users = new Set(writes.filter(({ text }) => text.includes(name)).map(({ socket }) => socket));
    return [result, writes.filter(({ socket }) => users.has(socket)).length];
  };
  // Its begin with the statements, then its end.
  expect(await count('t-one', three)).toEqual([[1, 2, 3], 2]);
  // Two connections.
  expect(await count('t-look', looks)).toEqual([[[{ n: 1 }], [{ n: 2 }]], 2]);
  jest.restoreAllMocks();
});

describe('in tests', () => {
  let database: Database;
  beforeAll(async () => {
    database = await open('test');
  });

  it('fails a transaction inside an open one at any depth, and a read that needs a connection', async () => {
    const inner = () => database.tx('system', async () => 'inner');
    const nested = 'cannot begin a transaction inside an open one';
    await expect(database.tx('system', () => inner())).rejects.toThrow(nested);
    await expect(database.tx('system', async () => Promise.all([inner()]))).rejects.toThrow(nested);
    await expect(database.tx('system', () => database.read('system', 'select 1'))).rejects.toThrow(nested);
  });

  it('lookAsSystem sees all rows, and leaves the transaction its tenant', async () => {
    const owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
    await owner.connect();
    await owner.query(`create table things (tenant_id text); select slipway_tenant_table('things')`);
    await owner.query(`insert into things values ('ten_a'), ('ten_b')`);
    await owner.end();
    const count = prepared('t-things', 'select count(*)::int as n from things');
    const seen = await database.tx({ tenantId: 'ten_a' }, async (tx) => {
      const [before, [all], after] = [await tx.one(count), await tx.lookAsSystem(count), await tx.one(count)];
      return [before, all, after, await tx.one(`select current_user as role`)];
    });
    expect(seen).toEqual([{ n: 1 }, { n: 2 }, { n: 1 }, { role: 'slipway_tenant' }]);
    expect(await database.tx('system', (tx) => tx.lookAsSystem(count))).toEqual([{ n: 2 }]);
    const failing = prepared('t-fails', 'select 1 / 0');
    await expect(database.tx({ tenantId: 'ten_a' }, (tx) => tx.lookAsSystem(failing))).rejects.toThrow('zero');
    expect(await database.tx({ tenantId: 'ten_b' }, (tx) => tx.one(count))).toEqual({ n: 1 });
  });

  it('the planner estimates one record for a list of any length', async () => {
    const text = `select 1 from ${listOf('given', { n: 'int' })}`;
    for (const list of ['array_fill(1, array[64])', '(select array_agg(n::int) from generate_series(1, 1000) n)']) {
      const [line] = await database.tx('system', (tx) =>
        tx.query<{ 'QUERY PLAN': string }>(`explain ${text.replaceAll('$1', list)}`),
      );
      expect(line!['QUERY PLAN']).toContain('rows=1 ');
    }
  });

  it('a list returns each record unchanged, and a missing value as null', async () => {
    const columns = {
      id: 'text',
      n: 'int',
      done: 'boolean',
      what: 'jsonb',
      names: 'text[]',
      due: 'timestamptz',
    } as const;
    const echo = prepared('t-echo', `select * from ${listOf('given', columns)} order by at`);
    const due = new Date('2026-02-03T04:05:06.789Z');
    const records = [
      { id: 'a "quoted", {one} \\ NULL', n: 1, done: true, what: { a: [1, 'x"y\\z'] }, names: ['x', 'y,"{}'], due },
      { id: '', n: null, done: false, what: 'text', names: [] },
      { id: 'NULL', what: null, names: undefined },
    ];
    const rows = await database.tx('system', (tx) => tx.query(echo, listValues(columns, records)));
    const nothing = { n: null, done: null, what: null, names: null, due: null };
    expect(rows).toEqual(
      records.map((record, at) => ({
        ...nothing,
        ...JSON.parse(JSON.stringify(record)),
        ...('due' in record && { due }),
        at,
      })),
    );
  });

  it('allows transactions one after another, concurrently, and after the one that began them', async () => {
    const one = () => database.tx('system', async (tx) => (await tx.one<{ n: number }>('select 1 as n'))?.n);
    expect(await one()).toBe(1);
    expect(await Promise.all([one(), one()])).toEqual([1, 1]);
    // Work that a transaction began and did not wait for continues after it.
    let late: Promise<number | undefined> | undefined;
    await database.tx('system', async () => void (late = new Promise((done) => setTimeout(done, 20)).then(one)));
    expect(await late).toBe(1);
  });

  it('a transaction that takes locks out of order fails before it waits', async () => {
    const wrong = database.tx('system', async (tx) => {
      await tx.query(LOCK_OPERATION, ['o1']);
      await tx.query(LOCK_DEPLOYMENT, ['d1']);
    });
    await expect(wrong).rejects.toThrow('t-deployment takes a lock on deployment while one on operation is held');
  });

  it('allows a lock on the same row again, also by the id of a row that was found by its name', async () => {
    await database.tx('system', async (tx) => {
      await tx.query(LOCK_BY_NAME, ['chat']);
      await tx.query(LOCK_STREAMS, [['s1', 's2']]);
      await tx.query(LOCK_DEPLOYMENT, ['d1']);
      await tx.query(LOCK_STREAMS, [['s2']]);
    });
    const another = database.tx('system', async (tx) => {
      await tx.query(LOCK_BY_NAME, ['chat']);
      await tx.query(LOCK_STREAMS, [['s1']]);
      await tx.query(LOCK_DEPLOYMENT, ['d2']);
    });
    await expect(another).rejects.toThrow('a lock on deployment while one on event_stream is held');
  });
});

it('production does not watch transactions', async () => {
  const database = await open('production');
  const inner = () => database.tx('system', async () => 'inner');
  expect(await database.tx('system', () => inner())).toBe('inner');
});
