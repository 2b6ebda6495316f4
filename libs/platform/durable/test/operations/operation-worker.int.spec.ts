import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newId } from '@slipway/platform-database';
import { done, sleep } from '../../src/operations/index.js';
import { Schedule } from '../../src/scheduling/index.js';
import type { OperationQueue, WakeUp, WakeUpHandler } from '../../src/queue/index.js';
import {
  claimOf,
  Effects1700000000099,
  effectsOf,
  Gate,
  oneAfterAnother,
  leavesAnEffect,
  script,
  TENANT,
  until,
  type Run,
} from './probe.js';
import { OperationHarness, platformMigrations } from '../../src/operations/testing/index.js';

/** A queue in memory that loses wake-ups if the test wants it. */
class ForgetfulQueue implements OperationQueue {
  readonly taken: WakeUp[] = [];
  readonly lost: WakeUp[] = [];
  isLosing = false;
  concurrency = 0;
  calls: string[] = [];
  private handler: WakeUpHandler = async () => undefined;

  async add(job: WakeUp): Promise<void> {
    this.calls.push('add');
    (this.isLosing ? this.lost : this.taken).push(job);
    if (this.isLosing) return;
    setTimeout(() => void this.handler(job.operationId), job.delayMs ?? 0);
  }

  async consume(handler: WakeUpHandler, concurrency: number): Promise<void> {
    this.handler = handler;
    this.concurrency = concurrency;
  }

  ready(): boolean {
    return true;
  }

  async close(): Promise<void> {
    this.calls.push('close');
  }
}

const queue = new ForgetfulQueue();
let harness: OperationHarness;

beforeAll(async () => {
  harness = await OperationHarness.start({
    migrations: [...platformMigrations, Effects1700000000099],
    // Leases expire when a test decides, never because the machine is busy.
    config: { leaseSeconds: 3600 },
    queue,
  });
});
afterAll(() => harness?.stop());
beforeEach(() => {
  queue.isLosing = false;
  queue.taken.length = 0;
  queue.lost.length = 0;
});

/** No test in this file drives: the worker's own parts wake every operation that runs. */
const ends = (id: string) => until('it ends', async () => (await harness.record(TENANT, id))['status'] === 'succeeded');

it('runs accepted operations, and wakes sleeping ones', async () => {
  const first = oneAfterAnother(async () => sleep({ forMs: 300, status: 'waiting' }), leavesAnEffect);
  const id = await script([harness], { first, second: leavesAnEffect }).begin();
  await ends(id);
  expect(await effectsOf(harness, id)).toEqual(['first', 'second']);
  const [begun, woken] = queue.taken.filter((job) => job.operationId === id);
  expect(begun).toMatchObject({ dispatch: 1, delayMs: 0 });
  expect(woken).toMatchObject({ dispatch: 2 });
  expect(woken!.delayMs).toBeGreaterThan(0);
  expect(woken!.delayMs).toBeLessThanOrEqual(300);
});

it('runs an operation whose wake-up the queue has lost, by polling alone', async () => {
  queue.isLosing = true;
  const id = await script([harness], { first: leavesAnEffect }).begin();
  await until('the queue has lost it', () => queue.lost.some((job) => job.operationId === id));
  queue.isLosing = false;
  await ends(id);
  expect(queue.taken.filter((job) => job.operationId === id)).toEqual([]);
});

it('runs an operation whose wake-up never reached the outbox, by polling alone', async () => {
  const { definition: operation } = script([harness], { first: leavesAnEffect });
  const id = await harness.database.tx({ tenantId: TENANT }, async (tx) => {
    const { id: own } = await harness.store.claim(tx, claimOf(operation));
    const stream = `operation/${own}`;
    const start = { id: own, operation, resourceId: 'thing', stream, input: { world: own }, steps: ['first'] };
    await harness.store.start(tx, start);
    await tx.query('delete from outbox where operation_id = $1', [own]);
    return own;
  });
  await ends(id);
  expect(queue.taken.filter((job) => job.operationId === id)).toEqual([]);
});

it('takes over the operation of a dead worker', async () => {
  let tell: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (tell = resolve));
  const dies = async () => {
    tell();
    return new Promise<never>(() => undefined);
  };
  const id = await script([harness], { first: oneAfterAnother(dies, leavesAnEffect) }).begin();
  await begun;
  await harness.abandon(id);
  await harness.skipTime(id);
  await ends(id);
  expect(await harness.record(TENANT, id)).toMatchObject({ attempt: 2 });
  expect(await effectsOf(harness, id)).toEqual(['first']);
});

it('takes one wake-up at a time, and adds nothing after its shutdown', async () => {
  const another = new ForgetfulQueue();
  const migrations = [...platformMigrations, Effects1700000000099];
  const brief = await OperationHarness.start({ migrations, queue: another });
  const id = await script([brief], { first: leavesAnEffect }).begin();
  await until('it is sent', () => another.calls.length > 0);
  await until('it ends', async () => (await brief.record(TENANT, id))['status'] === 'succeeded');
  await brief.stop();
  expect(another.concurrency).toBe(1);
  expect(another.calls.at(-1)).toBe('close');
});

/** A step that pauses, as if its host outside never answered, until the test lets all of them continue. */
function hanging(): { run: Run; open: () => void; count: number } {
  const gate = new Gate();
  const state = {
    count: 0,
    open: gate.open,
    run: async () => {
      state.count += 1;
      await gate.pass();
      return done();
    },
  };
  return state;
}

describe('one tenant', () => {
  const [hostile, quiet] = [newId('ten'), newId('ten')];
  const statusOf = async (tenantId: string, id: string) => (await harness.record(tenantId, id))['status'];
  const endsOf = (tenantId: string, id: string) =>
    until('it ends', async () => (await statusOf(tenantId, id)) === 'succeeded');

  it('whose outbound calls hang keeps no other tenant from running, nor itself from rolling back', async () => {
    const outside = hanging();
    const inside = hanging();
    const calls = script([harness], { first: outside.run }, { priority: 'outbound' });
    const others = script([harness], { first: inside.run });
    const ordinary = script([harness], { first: leavesAnEffect });
    const urgent = script([harness], { first: leavesAnEffect }, { priority: 'urgent' });
    const hung: string[] = [];
    for (let count = 0; count < 30; count += 1) hung.push(await calls.begin(hostile), await others.begin(hostile));
    await until('its share hangs', () => outside.count >= 3 && inside.count >= 12);
    const before = Date.now();
    await endsOf(quiet, await ordinary.begin(quiet));
    await endsOf(quiet, await urgent.begin(quiet));
    await endsOf(hostile, await urgent.begin(hostile));
    // An operation that starves waits until `outside` opens, which never happens before this line.
    expect(Date.now() - before).toBeLessThan(15_000);
    const another = await calls.begin(quiet);
    await until('another tenant calls outside too', () => outside.count >= 4);
    expect(outside.count).toBe(4);
    expect(outside.count + inside.count).toBeLessThan(20);
    outside.open();
    inside.open();
    await Promise.all(hung.map((id) => endsOf(hostile, id)));
    await endsOf(quiet, another);
  });

  it('whose operations wait for a slot adds only the first job of each to the queue', async () => {
    const gate = hanging();
    const { begin } = script([harness], { first: gate.run });
    const ids: string[] = [];
    for (let count = 0; count < 60; count += 1) ids.push(await begin(hostile));
    await until('its share runs', () => gate.count >= 15);
    // As if all of them had waited for ten minutes, through as many repairs as this takes.
    await harness.database.tx('system', (tx) =>
      tx.query(
        `update operations set dispatched_at = now() - interval '10 minutes', created_at = created_at - interval '10 minutes'
         where tenant_id = $1 and status = 'pending'`,
        [hostile],
      ),
    );
    const repaired = await harness.context.get(Schedule, { strict: false });
    for (let round = 0; round < 20; round += 1) await repaired.runNow('operations');
    gate.open();
    await Promise.all(ids.map((id) => endsOf(hostile, id)));
    const jobs = queue.taken.filter(({ operationId }) => ids.includes(operationId));
    // Fewer if several became due at one time, because those share a wake-up.
    expect(jobs.length).toBeLessThanOrEqual(60);
    expect(new Set(jobs.map(({ dispatch }) => dispatch))).toEqual(new Set([1]));
  });
});
