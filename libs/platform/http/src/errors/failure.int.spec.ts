import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { migrations } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import pg from 'pg';
import { toSlipwayError } from './failure.js';

let testDatabase: TestDatabase;
beforeAll(async () => {
  testDatabase = await createTestDatabase(migrations);
});
afterAll(() => testDatabase?.drop());

/** Provokes each kind of trouble with Postgres in the current pg driver. Most of its errors have no code. */
const TROUBLES: Record<string, () => Promise<unknown>> = {
  'an answer that does not come': () =>
    withPool({ connectionString: testDatabase.url, query_timeout: 50 }, (pool) => pool.query('select pg_sleep(5)')),
  'a connection that is ended': () =>
    withPool({ connectionString: testDatabase.url }, (pool) =>
      pool.query('select pg_terminate_backend(pg_backend_pid())'),
    ),
  'a pool without a free connection': () =>
    withPool({ connectionString: testDatabase.url, max: 1, connectionTimeoutMillis: 50 }, async (pool) => {
      const client = await pool.connect();
      return pool.query('select 1').finally(() => client.release());
    }),
  'a host that says nothing': async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const silent = { host: '127.0.0.1', port, user: 'x', database: 'x', connectionTimeoutMillis: 50 };
    return withPool(silent, (pool) => pool.query('select 1')).finally(() => server.close());
  },
  'nobody at the address': () =>
    withPool({ host: '127.0.0.1', port: 1, user: 'x', database: 'x' }, (pool) => pool.query('select 1')),
};

it.each(Object.keys(TROUBLES))('%s is 503 unavailable, so that clients retry', async (trouble) => {
  const error = await TROUBLES[trouble]!().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeDefined();
  expect(toSlipwayError(error, 'req_1')).toMatchObject({ code: 'unavailable', status: 503, retryable: true });
});

it('an error of the statement itself is not 503', async () => {
  const error = await withPool({ connectionString: testDatabase.url }, (pool) => pool.query('select nonsense')).catch(
    (thrown: unknown) => thrown,
  );
  expect(toSlipwayError(error, 'req_1')).toMatchObject({ code: 'internal' });
});

async function withPool<T>(config: pg.PoolConfig, work: (pool: pg.Pool) => Promise<T>): Promise<T> {
  const pool = new pg.Pool(config);
  pool.on('error', () => undefined);
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}
