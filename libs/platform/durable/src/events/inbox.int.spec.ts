import 'reflect-metadata';
import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import { systemActor } from '@slipway/contracts';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, migrations as databaseMigrations, type Tx } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { SchedulingModule } from '../scheduling/index.js';
import { appendEvents, EventsModule, Inbox, migrations, Subscription, type ReceivedEvent } from './index.js';

const TYPES = ['bread.baked', 'bread.sold'];

class Subscribe1700000000999 {
  async up(runner: { query(sql: string): Promise<unknown> }): Promise<void> {
    await runner.query(`select slipway_subscribe('shop', '{bread.baked,bread.sold}')`);
    await runner.query('create table shop_notes (stream text, sequence int)');
    await runner.query(`select slipway_system_table('shop_notes')`);
  }
  async down(): Promise<void> {}
}

/** The reaction of a receiver, in addition to recording the event; it may throw. */
let react: (event: ReceivedEvent) => void | Promise<void> = () => undefined;

@Injectable()
@Subscription({ name: 'shop', types: TYPES })
class Shop {
  async receive(tx: Tx, event: ReceivedEvent): Promise<void> {
    await tx.query('insert into shop_notes values ($1, $2)', [event.stream, event.sequence]);
    await react(event);
  }
}

@Injectable()
@Subscription({ name: 'shop', types: ['bread.baked'] })
class ShopOfAnotherVersion extends Shop {}

let testDatabase: TestDatabase;
const modules: TestingModule[] = [];

function moduleOf(...providers: (typeof Shop)[]): Promise<TestingModule> {
  const config = {
    env: 'test',
    database: { url: testDatabase.url, migrateUrl: testDatabase.url, embedded: false, poolSize: 4 },
  };
  const given = config as unknown as Config;
  const surroundings = [
    ConfigModule.forRoot(given),
    DatabaseModule.forRoot(given),
    SchedulingModule.forApi(),
    EventsModule.forWorker(),
  ];
  return Test.createTestingModule({ imports: surroundings, providers }).compile();
}

async function start(...providers: (typeof Shop)[]): Promise<TestingModule> {
  const module = await moduleOf(...providers);
  modules.push(module);
  return module.init();
}

let database: Database;
let inbox: Inbox;

beforeAll(async () => {
  testDatabase = await createTestDatabase([...databaseMigrations, ...migrations, Subscribe1700000000999]);
  const worker = await start(Shop);
  [database, inbox] = [worker.get(Database), worker.get(Inbox)];
}, 60_000);
afterAll(async () => {
  for (const module of modules) await module.close();
  await testDatabase?.drop();
});
afterEach(() => {
  react = () => undefined;
  jest.restoreAllMocks();
});

const append = (stream: string, ...types: string[]) =>
  database.tx({ tenantId: 'ten_a' }, (tx) =>
    appendEvents(
      tx,
      'ten_a',
      stream,
      types.map((type) => ({ type, subject: `breads/${stream}`, data: { at: stream }, actor: systemActor('test') })),
    ),
  );
const notesOf = async (stream: string) =>
  (
    await database.read<{ sequence: number }>(
      'system',
      'select sequence from shop_notes where stream = $1 order by 1',
      [stream],
    )
  ).map(({ sequence }) => sequence);
const waiting = (stream: string) =>
  database.read<{ attempts: number; trouble: string | null; isDue: boolean }>(
    'system',
    `select attempts, trouble, due_at <= now() as "isDue" from event_inbox where stream = $1 order by sequence`,
    [stream],
  );
const makeDue = (stream: string) =>
  database.read('system', 'update event_inbox set due_at = now() where stream = $1', [stream]);

it('delivers each event of its types once, and no other', async () => {
  const received: ReceivedEvent[] = [];
  react = (event) => void received.push(event);
  await append('rye', 'bread.baked', 'bread.cut', 'bread.sold');
  await inbox.drain();
  await inbox.drain();
  received.sort((a, b) => a.sequence - b.sequence);
  expect(received.map(({ type, sequence }) => [type, sequence])).toEqual([
    ['bread.baked', 1],
    ['bread.sold', 3],
  ]);
  expect(received[0]).toMatchObject({ tenantId: 'ten_a', stream: 'rye', subject: 'breads/rye', data: { at: 'rye' } });
  expect(await notesOf('rye')).toEqual([1, 3]);
  expect(await waiting('rye')).toEqual([]);
});

it('contains no event whose transaction was rolled back', async () => {
  const rolledBack = database.tx({ tenantId: 'ten_a' }, async (tx) => {
    await appendEvents(tx, 'ten_a', 'oat', [
      { type: 'bread.baked', subject: 'b', data: {}, actor: systemActor('test') },
    ]);
    throw new Error('no');
  });
  await expect(rolledBack).rejects.toThrow('no');
  await inbox.drain();
  expect([await notesOf('oat'), await waiting('oat')]).toEqual([[], []]);
});

it("keeps an event whose receiver failed, rolls back the receiver's writes, and does not delay other events", async () => {
  const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  react = ({ stream, sequence }) => {
    if (stream === 'spelt' && sequence === 1) throw new Error('too hot');
  };
  await append('spelt', 'bread.baked', 'bread.baked');
  await inbox.drain();
  expect(await notesOf('spelt')).toEqual([2]);
  expect(await waiting('spelt')).toEqual([{ attempts: 1, trouble: 'too hot', isDue: false }]);
  expect(warned).toHaveBeenCalledWith('subscription shop failed on bread.baked of spelt: too hot');
  await makeDue('spelt');
  await inbox.drain();
  expect(await waiting('spelt')).toMatchObject([{ attempts: 2 }]);
  react = () => undefined;
  await makeDue('spelt');
  await inbox.drain();
  expect([await notesOf('spelt'), await waiting('spelt')]).toEqual([[1, 2], []]);
});

it('shares the work among workers without delivering any event twice', async () => {
  const another = (await start(Shop)).get(Inbox);
  await append('maize', ...Array.from({ length: 40 }, () => 'bread.baked'));
  await Promise.all([inbox.drain(), another.drain(), inbox.drain(), another.drain()]);
  while ((await waiting('maize')).length > 0) await inbox.drain();
  expect(await notesOf('maize')).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
});

it('removes an event from the inbox if it is no longer kept', async () => {
  await database.tx('system', async (tx) => {
    await tx.query(
      `insert into event_inbox (subscription, tenant_id, stream, sequence) values ('shop', 'ten_a', 'forgotten', 1)`,
    );
  });
  await inbox.drain();
  expect([await notesOf('forgotten'), await waiting('forgotten')]).toEqual([[], []]);
});

it('does not start if the code subscribes to other types than the migrations did', async () => {
  const module = await moduleOf(ShopOfAnotherVersion);
  await expect(module.init()).rejects.toThrow(
    'subscription shop has the event types bread.baked, but the database lists',
  );
  await module.close();
});
