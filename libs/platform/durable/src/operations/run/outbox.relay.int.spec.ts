import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { OperationQueue, WakeUp } from '../../queue/index.js';
import { OUTBOX_CHANNEL } from '@slipway/contracts';
import { holdIntervals, Latch, until } from '@slipway/platform-database/testing';
import type { WakeableTask } from '../../scheduling/index.js';
import { OperationsBed, TENANT } from '../../../test/operations/bed.js';
import { OutboxRelay } from './outbox.relay.js';

const POLL_MS = 1_000;
/** A wake-up that is due later is added to the queue by itself. */
const LATER = `now() + interval '1 hour'`;

let bed: OperationsBed;
/** The wake-ups that were added so far, and the queue's answer to the next one. */
let added: WakeUp[];
let answer: (job: WakeUp) => Promise<void>;
let relays: OutboxRelay[];

beforeAll(async () => {
  holdIntervals();
  bed = await OperationsBed.start();
});
afterAll(async () => {
  await bed?.stop();
  jest.useRealTimers();
});
beforeEach(async () => {
  await bed.sql('delete from outbox');
  added = [];
  answer = async () => undefined;
  relays = [];
});
afterEach(() => Promise.all(relays.map((relay) => relay.stop())));

const queue: Pick<OperationQueue, 'add'> = {
  add: (job) => {
    added.push(job);
    return answer(job);
  },
};
async function relay(): Promise<OutboxRelay> {
  const made = new OutboxRelay(bed.database, queue as OperationQueue);
  await made.start();
  relays.push(made);
  return made;
}
/** Inserts a row without notifying any relay. */
const put = (id: string, notBefore = 'now()', dispatch = 1) =>
  bed.sql(`insert into outbox (tenant_id, operation_id, dispatch, not_before) values ($1, $2, $3, ${notBefore})`, [
    TENANT,
    id,
    dispatch,
  ]);
const sent = () => added.map(({ operationId, dispatch }) => [operationId, dispatch]);

it('deletes a row when the queue has accepted its wake-up', async () => {
  await put('op_a');
  const taken = new Latch();
  answer = () => taken.promise;
  const one = await relay();
  await until('it is added', () => added.length === 1);
  // Only the relay's open transaction has deleted it yet.
  expect(await bed.outbox()).toEqual([{ id: 'op_a', dispatch: 1 }]);
  taken.resolve();
  await one.stop();
  expect(await bed.outbox()).toEqual([]);
  expect(added).toEqual([{ operationId: 'op_a', dispatch: 1, delayMs: 0 }]);
});

it('keeps a row that the queue refuses late, and sends it again under the same number', async () => {
  await put('op_a', 'now()', 7);
  const refused = new Latch();
  answer = () => refused.promise;
  const one = await relay();
  await until('it is added', () => added.length === 1);
  refused.reject(new Error('too late'));
  await one.stop();
  expect(await bed.outbox()).toEqual([{ id: 'op_a', dispatch: 7 }]);

  answer = async () => undefined;
  await (await relay()).stop();
  expect(sent()).toEqual([
    ['op_a', 7],
    ['op_a', 7],
  ]);
  expect(await bed.outbox()).toEqual([]);
});

it('keeps a row locked against other relays while the queue hangs, and keeps it if the queue then fails', async () => {
  await put('op_a');
  const hanging = new Latch();
  answer = () => hanging.promise;
  const one = await relay();
  await until('it is added', () => added.length === 1);
  await put('op_b');
  answer = async () => undefined;
  await (await relay()).stop();
  expect(sent()).toEqual([
    ['op_a', 1],
    ['op_b', 1],
  ]);
  expect(await bed.outbox()).toEqual([{ id: 'op_a', dispatch: 1 }]);
  hanging.reject(new Error('the queue is away'));
  await one.stop();
  expect(await bed.outbox()).toEqual([{ id: 'op_a', dispatch: 1 }]);
});

it('keeps the whole batch if one row is refused, and sends all of it with the next poll', async () => {
  for (const id of ['op_a', 'op_b', 'op_c']) await put(id, LATER);
  let refusals = 0;
  answer = async ({ operationId }) => {
    if (operationId !== 'op_b' || refusals > 0) return;
    refusals += 1;
    throw new Error('not that one');
  };
  const one = await relay();
  await until('one is refused', () => refusals === 1);
  await until('nothing is on its way', () => isIdle(one));
  expect((await bed.outbox()).map((row) => row.id)).toEqual(['op_a', 'op_b', 'op_c']);
  jest.advanceTimersByTime(POLL_MS);
  await one.stop();
  expect(await bed.outbox()).toEqual([]);
  expect(added).toHaveLength(6);
});

it('passes the delay of a wake-up to the queue', async () => {
  await put('op_late', LATER);
  await put('op_due', `now() - interval '1 hour'`);
  await (await relay()).stop();
  const delays = Object.fromEntries(added.map((job) => [job.operationId, job.delayMs]));
  expect(delays['op_due']).toBe(0);
  expect(delays['op_late']).toBeGreaterThan(3_500_000);
  expect(delays['op_late']).toBeLessThanOrEqual(3_600_000);
  expect(Number.isInteger(delays['op_late'])).toBe(true);
});

it('sends more than one batch without another notification, oldest first', async () => {
  await bed.sql(
    `insert into outbox (tenant_id, operation_id, dispatch, not_before) select $1, 'op_' || n, 1, ${LATER} from generate_series(1, 450) n order by n`,
    [TENANT],
  );
  await (await relay()).stop();
  const numbers = added.map(({ operationId }) => Number(operationId.slice(3)));
  expect(new Set(numbers).size).toBe(450);
  expect(Math.max(...numbers.slice(0, 200))).toBe(200);
  expect(await bed.outbox()).toEqual([]);
});

it.each([
  [1, 1],
  [16, 1],
  [17, 2],
  [50, 4],
])('sends for %i due rows %i wake-ups, and one for each row that is due later', async (due, rings) => {
  await bed.sql(
    `insert into outbox (tenant_id, operation_id, dispatch) select $1, 'op_' || n, 1 from generate_series(1, $2) n`,
    [TENANT, due],
  );
  for (const id of ['op_later', 'op_last']) await put(id, LATER);
  await (await relay()).stop();
  expect(added.filter(({ delayMs }) => delayMs === 0)).toHaveLength(rings);
  expect(added.filter(({ delayMs }) => delayMs! > 0)).toHaveLength(2);
  expect(await bed.outbox()).toEqual([]);
});

it('is woken by the transaction that accepts an operation', async () => {
  const one = await relay();
  await until('it has looked', () => isIdle(one));
  const id = await bed.begin();
  await until('it is added', () => added.length === 1);
  expect(sent()).toEqual([[id, 1]]);
});

it('finds rows without a notification by polling', async () => {
  const one = await relay();
  await until('it has looked', () => isIdle(one));
  await put('op_a');
  expect(added).toEqual([]);
  jest.advanceTimersByTime(POLL_MS);
  await until('it is added', () => added.length === 1);
});

it('reads the outbox again when notifications may have been lost', async () => {
  const one = await relay();
  await until('it has looked', () => isIdle(one));
  await put('op_a');
  await bed.cutNotifications();
  await until('it is added', () => added.length === 1);
});

it('reads the outbox again if a notification arrives during a read', async () => {
  await put('op_a');
  const taken = new Latch();
  answer = () => taken.promise;
  const one = await relay();
  await until('it is added', () => added.length === 1);
  const id = await bed.begin();
  await until('it is told', () => (one as unknown as { relaying: { isWoken: boolean } }).relaying.isWoken);
  answer = async () => undefined;
  taken.resolve();
  await until('the second one is added', () => added.length === 2);
  expect(sent()[1]).toEqual([id, 1]);
});

it('completes the batch in progress before it stops, and sends nothing after that', async () => {
  await put('op_a');
  const taken = new Latch();
  answer = () => taken.promise;
  const one = await relay();
  await until('it is added', () => added.length === 1);
  let isStopped = false;
  const stopping = one.stop().then(() => (isStopped = true));
  await bed.sql('select 1');
  expect(isStopped).toBe(false);
  taken.resolve();
  await stopping;
  expect(await bed.outbox()).toEqual([]);
  const told = new Latch();
  const unlisten = await bed.database.listen(OUTBOX_CHANNEL, () => told.resolve());
  await bed.begin();
  await told.promise;
  await unlisten();
  jest.advanceTimersByTime(POLL_MS);
  expect(isIdle(one)).toBe(true);
  expect(added).toHaveLength(1);
});

function isIdle(one: OutboxRelay): boolean {
  return (one as unknown as { relaying: WakeableTask }).relaying.isIdle;
}
