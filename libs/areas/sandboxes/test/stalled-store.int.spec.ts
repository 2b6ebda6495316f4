import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { BLOB_STORE, newBlob, type BlobStore } from '../src/storage/blob-store.js';
import { startFakeS3, type FakeS3 } from './fake-s3.js';
import { configOf, MIGRATIONS, startApp } from './sandbox-app.js';
import { clientOf, eventually, newTenant, type SandboxAnswer, type SandboxClient } from './tenants.js';

/** Three times the connections of the pool. */
const CALLERS = 30;
const POOL = 10;
/**
 * Longer than a busy machine needs until all callers wait for the store, and longer than a request waits for a removal.
 */
const IDLE_TIMEOUT_MS = 10_000;
/** The S3 client begins to count three seconds late. A busy machine may need the rest. */
const GIVEN_UP_WITHIN_MS = IDLE_TIMEOUT_MS + 12_000;

let testDatabase: TestDatabase;
let s3: FakeS3;
let app: NestFastifyApplication;
let calledInTransaction: string[];
let database: Database;
let send: SandboxClient;
/** Clients of other tenants, whose requests must not wait. */
let others: SandboxClient[];
let id: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase(MIGRATIONS);
  s3 = await startFakeS3();
  const config = configOf(testDatabase.url, {
    upload: { maxBytes: 300_000, workspaceStore: 's3://workspaces/w', s3: { endpoint: s3.endpoint, region: 'x' } },
  });
  config.database.poolSize = POOL;
  const started = await startApp(config, IDLE_TIMEOUT_MS);
  ({ app, calledInTransaction } = started);
  database = app.get(Database, { strict: false });
  send = clientOf(started.origin, (await newTenant(app)).token);
  others = [];
  for (let count = 0; count < 2; count += 1) others.push(clientOf(started.origin, (await newTenant(app)).token));
});

afterAll(async () => {
  s3?.silence();
  await app?.close();
  s3?.stop();
  await testDatabase?.drop();
});

beforeEach(async () => {
  s3.silence();
  ({ id } = (await send('POST', '/sandboxes', { json: {} })).body);
});

const put = (index: number, body: string): Promise<SandboxAnswer> =>
  send('PUT', `/sandboxes/${id}/files?path=f${index}`, { body });
const strays = async (): Promise<number> =>
  (await database.read('system', 'select 1 from sandbox_stray_blobs where sandbox_id = $1', [id])).length;
/** Simulates that the lease of a removal has passed. A removal caught by the silence ends with its idle time-out. */
const sweptAll = async (): Promise<boolean> => {
  await database.tx('system', (tx) =>
    tx.query('update sandbox_stray_blobs set delete_after = now() where sandbox_id = $1', [id]),
  );
  return (await strays()) === 0;
};
const all = <T>(make: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: CALLERS }, (_one, index) => make(index)));
const timed = async <T>(work: Promise<T>): Promise<[T, number]> => {
  const from = performance.now();
  return [await work, performance.now() - from];
};

/** Sends requests of the other tenants until `isOver`. Returns the longest time of an answer in milliseconds. */
async function longestAnswer(isOver: () => boolean): Promise<{ longestMs: number; answers: number }> {
  let [longestMs, answers] = [0, 0];
  while (!isOver()) {
    const timedAnswers = await Promise.all(others.map((other) => timed(other('GET', '/sandboxes'))));
    expect(timedAnswers.map(([{ status }]) => status)).toEqual(others.map(() => 200));
    longestMs = Math.max(longestMs, ...timedAnswers.map(([, ms]) => ms));
    answers += timedAnswers.length;
    // Stays below the rate limit of one token.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return { longestMs, answers };
}

it('the test bed finds a call of the store inside a transaction', async () => {
  const store = app.get<BlobStore>(BLOB_STORE, { strict: false });
  await database.tx('system', () => store.remove(newBlob('sbx_watched')));
  expect(calledInTransaction.splice(0)).toEqual(['store.remove']);
  await store.remove(newBlob('sbx_watched'));
  expect(calledInTransaction).toEqual([]);
});

it('a store that is silent when blobs are removed takes no connection, and the sweep removes them later', async () => {
  await all((index) => put(index, 'old'));
  s3.silence('DELETE');
  let isOver = false;
  const replacing = all((index) => put(index, 'new')).finally(() => (isOver = true));
  await eventually(async () => s3.unanswered() >= CALLERS, 'every upload waits for the store', 60_000);
  const { longestMs, answers } = await longestAnswer(() => isOver);
  console.log(
    `${CALLERS} uploads waited for the store; ${answers} other requests took ${Math.ceil(longestMs)} ms at most`,
  );
  expect(answers).toBeGreaterThan(CALLERS);
  expect(longestMs).toBeLessThan(2_000);
  expect((await replacing).map(({ status }) => status)).toEqual(Array.from({ length: CALLERS }, () => 200));
  expect(await strays()).toBe(CALLERS);
  s3.silence();
  await eventually(sweptAll, 'the sweep', GIVEN_UP_WITHIN_MS + 10_000);
  expect(s3.keys().filter((key) => key.includes(id))).toHaveLength(CALLERS);
});

it('the sweep finds a removal that a crash interrupted', async () => {
  const store = app.get<BlobStore>(BLOB_STORE, { strict: false });
  const blob = newBlob(id);
  const [tenant] = await database.read<{ tenant_id: string }>(
    'system',
    'select tenant_id from sandboxes where id = $1',
    [id],
  );
  await put(0, 'x');
  // The blob is written first: a sweep between the two statements finds nothing to remove yet.
  await store.write(blob, Readable.from([Buffer.from('left')], { objectMode: false }), { bytes: 4 });
  const doomed = `insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after, is_doomed) values ($1, $2, $3, now(), true)`;
  await database.tx('system', (tx) => tx.query(doomed, [blob, tenant!.tenant_id, id]));
  await eventually(async () => (await strays()) === 0, 'the sweep');
  expect(s3.keys().filter((key) => key.includes(id))).toHaveLength(1);
});

it('uploads and downloads of a silent store end with 503 within the idle time-out, and no other client waits', async () => {
  await all((index) => put(index, 'old'));
  s3.silence('PUT', 'GET', 'DELETE');
  let isOver = false;
  const writing = all((index) => timed(put(index, 'new')));
  const reading = all((index) => timed(send('GET', `/sandboxes/${id}/files?path=f${index}`)));
  const waiting = Promise.all([writing, reading]).finally(() => (isOver = true));
  await eventually(async () => s3.unanswered() >= 2 * CALLERS, 'every request waits for the store', 60_000);
  const { longestMs, answers } = await longestAnswer(() => isOver);
  const ended = (await waiting).flat();
  const slowest = Math.max(...ended.map(([, ms]) => ms));
  console.log(
    `${ended.length} requests ended after ${Math.ceil(slowest)} ms; ${answers} others took ${Math.ceil(longestMs)} ms at most`,
  );
  expect(new Set(ended.map(([{ status, body }]) => `${status} ${body.error.code}`))).toEqual(
    new Set(['503 unavailable']),
  );
  expect(slowest).toBeLessThan(GIVEN_UP_WITHIN_MS);
  expect(longestMs).toBeLessThan(2_000);
  s3.silence();
  expect((await send('GET', `/sandboxes/${id}/files?path=f0`)).bytes.toString()).toBe('old');
  await eventually(sweptAll, 'the sweep removes what may have been written', GIVEN_UP_WITHIN_MS + 10_000);
}, 120_000);
