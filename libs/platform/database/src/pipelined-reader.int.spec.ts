import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { GatheredLookups } from './database.js';
import { migrations } from './index.js';
import { PipelinedReader } from './pipelined-reader.js';
import { KEYS, lookup } from './tx.js';
import { createTestDatabase, type TestDatabase } from './testing/test-database.js';

const NAMES = lookup('reader-names', 'select name from things order by name');
const WHO = lookup(
  'reader-who',
  `select current_user as role, current_setting('slipway.tenant', true) as tenant, pg_backend_pid() as pid`,
);
const DIVIDE = lookup('reader-divide', 'select 1 / $1::int as result');

let database: TestDatabase;
let owner: pg.Client;
let reader: PipelinedReader;

beforeAll(async () => {
  database = await createTestDatabase(migrations);
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query(
    `create table things (tenant_id text not null, name text not null); select slipway_tenant_table('things');`,
  );
  await owner.query(`insert into things values ('ten_a', 'a1'), ('ten_a', 'a2'), ('ten_b', 'b1')`);
});

beforeEach(() => {
  reader = new PipelinedReader({ connectionString: database.url, application_name: 'slipway-read' });
});

afterEach(() => reader.close());

afterAll(async () => {
  await owner.end();
  await database.drop();
});

it('returns to each of many interleaved reads only the rows of its own scope', async () => {
  const scopes = [{ tenantId: 'ten_a' }, { tenantId: 'ten_b' }, 'system', { tenantId: 'ten_none' }] as const;
  const wanted = [['a1', 'a2'], ['b1'], ['a1', 'a2', 'b1'], []];
  const reads = Array.from({ length: 200 }, (_, n) => reader.read<{ name: string }>(scopes[n % 4]!, NAMES, []));
  const seen = (await Promise.all(reads)).map((rows) => rows?.map((row) => row.name));
  expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => wanted[n % 4]));
});

it('reads under the role and tenant of each caller, over three connections for any number of reads', async () => {
  const reads = await Promise.all(
    Array.from({ length: 30 }, (_, n) => reader.read<any>(n % 3 === 0 ? 'system' : { tenantId: `ten_${n}` }, WHO, [])),
  );
  reads.forEach((rows, n) => {
    expect(rows?.[0]).toMatchObject(
      n % 3 === 0 ? { role: 'slipway_system' } : { role: 'slipway_tenant', tenant: `ten_${n}` },
    );
    if (n % 3 === 0) expect(rows?.[0].tenant || null).toBeNull();
  });
  expect(new Set(reads.map((rows) => rows?.[0].pid)).size).toBeLessThanOrEqual(3);
});

it.each(['system', { tenantId: 'ten_a' }] as const)('a failed read of %o affects no other', async (scope) => {
  const results = await Promise.allSettled(
    Array.from({ length: 40 }, (_, n) => reader.read<{ result: number }>(scope, DIVIDE, [n % 4])),
  );
  results.forEach((result, n) => {
    if (n % 4 === 0) expect(result).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    else expect(result).toMatchObject({ status: 'fulfilled', value: [{ result: Math.trunc(1 / (n % 4)) }] });
  });
});

it('returns nothing if it could not change to the tenant, and does not affect the next tenant', async () => {
  const known = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  let isFailing = true;
  const query = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: any[]) {
    return known.apply(this, isFailing && /^SET .*ten_b/.test(args[0]) ? ['select 1 / 0'] : args);
  } as never);
  const scopes = [{ tenantId: 'ten_a' }, { tenantId: 'ten_b' }, { tenantId: 'ten_b' }] as const;
  const results = await Promise.allSettled(
    Array.from({ length: 60 }, (_, n) => reader.read<{ name: string }>(scopes[n % 3]!, NAMES, [])),
  );
  results.forEach((result, n) => {
    if (n % 3 > 0) expect(result).toMatchObject({ status: 'rejected', reason: { code: '22012' } });
    else expect(result).toMatchObject({ status: 'fulfilled', value: [{ name: 'a1' }, { name: 'a2' }] });
  });
  isFailing = false;
  expect(await reader.read({ tenantId: 'ten_b' }, NAMES, [])).toEqual([{ name: 'b1' }]);
  query.mockRestore();
});

it.each(['system', { tenantId: 'ten_a' }] as const)(
  'reads nothing as %o over a session of another role',
  async (scope) => {
    const connect = jest.spyOn(pg.Client.prototype, 'connect').mockImplementation(async function (this: pg.Client) {
      // Like a pooler that ignores startup parameters.
      connect.mockRestore();
      Object.assign((this as unknown as { connectionParameters: object }).connectionParameters, { options: '' });
      await this.connect();
    } as never);
    await expect(reader.read(scope, NAMES, [])).rejects.toThrow(/did not open the session as the requested role/);
    expect(await reader.read({ tenantId: 'ten_b' }, NAMES, [])).toEqual([{ name: 'b1' }]);
  },
);

it('refuses an invalid tenant id before it sends anything', async () => {
  await expect(reader.read({ tenantId: `x'; reset role; --` }, NAMES, [])).rejects.toThrow('not a tenant id');
  expect(await reader.read({ tenantId: 'ten_b' }, NAMES, [])).toEqual([{ name: 'b1' }]);
});

it('fails the reads in progress when its connection dies, and connects again', async () => {
  for (const scope of ['system', { tenantId: 'ten_b' }] as const) {
    const [before] = (await reader.read<{ pid: number }>(scope, WHO, []))!;
    const slow = reader.read(scope, lookup('reader-slow', 'select pg_sleep(30)'), []);
    const failed = expect(slow).rejects.toThrow();
    await untilSleeping(before!.pid);
    await owner.query('select pg_terminate_backend($1)', [before!.pid]);
    await failed;
    const [after] = (await reader.read<{ pid: number }>(scope, WHO, []))!;
    expect(after!.pid).not.toBe(before!.pid);
  }
});

it('tries to connect again for each read while the server cannot be reached', async () => {
  const nowhere = new PipelinedReader({ connectionString: 'postgres://slipway_app@127.0.0.1:1/x' });
  await expect(nowhere.read('system', NAMES, [])).rejects.toThrow(/ECONNREFUSED/);
  await expect(nowhere.read('system', NAMES, [])).rejects.toThrow(/ECONNREFUSED/);
  await nowhere.close();
});

it('returns undefined when its shared connections are full', async () => {
  const reads = Array.from({ length: 300 }, () => reader.read('system', NAMES, []));
  const answers = await Promise.all(reads);
  expect(answers.filter((rows) => rows === undefined)).toHaveLength(300 - 256);
  expect(await reader.read('system', NAMES, [])).toHaveLength(3);
});

it('gives two tenants their own rows for the same keys, and fails only a key that Postgres refuses', async () => {
  // Without the tenant in its conditions, as if it had been forgotten.
  const named = lookup('reader-named', `select name as key from things where name = any ${KEYS}`);
  const lookups = gathered();
  const asked = ['ten_a', 'ten_b'].flatMap((tenantId) =>
    ['a1', 'b1', 'a\u0000'].map((key) => lookups.find({ tenantId }, named, key, [])),
  );
  const seen = (await Promise.allSettled(asked)).map((one) =>
    one.status === 'rejected' ? one.reason.code : one.value,
  );
  expect(seen).toEqual([{ key: 'a1' }, undefined, '22021', undefined, { key: 'b1' }, '22021']);
});

it('plans a look-up by key once, although one key is less work than many', async () => {
  await owner.query(
    `insert into things select 'ten_c', 'c' || n from generate_series(1, 2000) n; create index on things (name); analyze things`,
  );
  const counted = lookup(
    'reader-counted',
    `select o.name as key, (select count(*) from things t where t.tenant_id = o.tenant_id) from things o where o.name = any ${KEYS}`,
  );
  for (let n = 0; n < 12; n += 1) await reader.read('system', counted, [['c1']]);
  const plans = lookup(
    'reader-plans',
    `select custom_plans::int, generic_plans::int from pg_prepared_statements where name = 'reader-counted'`,
  );
  expect(await reader.read('system', plans, [])).toEqual([{ custom_plans: 5, generic_plans: 7 }]);
});

it('repeats the look-ups of a combined statement alone if its connection dies', async () => {
  const slow = lookup(
    'reader-slow-keys',
    `select key, pg_sleep(case when cardinality($1::text[]) > 1 then 30 else 0 end)::text as slept from unnest($1::text[]) key`,
  );
  const [{ pid }] = (await reader.read<{ pid: number }>('system', WHO, []))! as [{ pid: number }];
  const lookups = gathered();
  const found = Promise.all(['x', 'y'].map((key) => lookups.find('system', slow, key, [])));
  await untilSleeping(pid);
  await owner.query('select pg_terminate_backend($1)', [pid]);
  expect(await found).toEqual([
    { key: 'x', slept: '' },
    { key: 'y', slept: '' },
  ]);
});

const gathered = () => new GatheredLookups(async (...asked) => (await reader.read<object>(...asked)) as object[]);

async function untilSleeping(pid: number): Promise<void> {
  for (const deadline = Date.now() + 5_000; Date.now() < deadline;) {
    const { rows } = await owner.query(
      'select 1 from pg_stat_activity where pid = $1 and query like $2 and state = $3',
      [pid, '%pg_sleep%', 'active'],
    );
    if (rows.length > 0) return;
  }
  throw new Error('the slow read did not begin');
}
