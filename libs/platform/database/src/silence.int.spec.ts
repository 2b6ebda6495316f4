import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database } from './database.js';
import { DatabaseModule } from './database.module.js';
import { migrations } from './index.js';
import { Notifications } from './notifications.js';
import { prepared, lookup } from './tx.js';
import { createTestDatabase, TcpProxy, until, type TestDatabase } from './testing/index.js';

/** The documentation promises 30 s. */
const RECOVERED_WITHIN_MS = 20_000;
const ONE = prepared('silence-one', 'select 1 as one');
const LOOKUP = lookup('silence-lookup', 'select 1 as one');

let testDatabase: TestDatabase;
let proxy: TcpProxy;
let module: TestingModule;
let database: Database;

beforeAll(async () => {
  testDatabase = await createTestDatabase(migrations);
  const { hostname, port } = new URL(testDatabase.url);
  proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
  const config = {
    env: 'test',
    database: { url: proxy.through(testDatabase.url), migrateUrl: testDatabase.ownerUrl, embedded: false, poolSize: 4 },
  } as Config;
  module = await Test.createTestingModule({
    imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config)],
  }).compile();
  await module.init();
  database = module.get(Database);
});
afterAll(async () => {
  await module?.close();
  await proxy?.close();
  await testDatabase?.drop();
});

it('recovers after Postgres vanished silently: statements in progress fail, notifications arrive again', async () => {
  const told: string[] = [];
  let reconnects = 0;
  await database.listen(
    'slipway_silence',
    (payload) => told.push(payload),
    () => (reconnects += 1),
  );
  // Opens every connection of the pool and of the reader.
  const asked = () => [
    ...Array.from({ length: 4 }, () => database.read('system', ONE)),
    database.read('system', LOOKUP),
    database.read({ tenantId: 'ten_a' }, LOOKUP),
  ];
  await Promise.all(asked());

  proxy.vanish();
  const begin = Date.now();
  const lost = await Promise.allSettled(asked());
  expect(lost.map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 'rejected'));
  await until('it listens again', () => reconnects === 1);
  await Promise.all(asked());
  await database.tx('system', (tx) => tx.query(`select pg_notify('slipway_silence', 'here')`));
  await until('the notification', () => told.length === 1);
  expect(Date.now() - begin).toBeLessThan(RECOVERED_WITHIN_MS);
}, 60_000);

it('recovers too if a new listener is the first to notice', async () => {
  const asked = () => Promise.all([database.read('system', ONE), database.read({ tenantId: 'ten_a' }, LOOKUP)]);
  await asked();
  proxy.vanish();
  const begin = Date.now();
  const lost = Promise.allSettled([asked()]);
  await database.listen('slipway_silence_first', () => undefined);
  expect((await lost)[0]?.status).toBe('rejected');
  // Statements of the same turn may still get a connection that is being closed.
  await new Promise(setImmediate);
  await asked();
  expect(Date.now() - begin).toBeLessThan(RECOVERED_WITHIN_MS);
}, 60_000);

it('leaves no connection open if it is closed while it connects', async () => {
  const notifications = new Notifications(testDatabase.url);
  notifications.start();
  const { connecting } = notifications as unknown as { connecting: Promise<void> };
  await notifications.close();
  await connecting;
  const listening = async () => {
    const [row] = await database.read<{ count: number }>(
      'system',
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and application_name = 'slipway-listen'`,
    );
    return row?.count;
  };
  // The connection of this spec's own module stays.
  await until('it is gone', async () => (await listening()) === 1);
});
