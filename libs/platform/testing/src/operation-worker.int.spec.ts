import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sleep } from '@slipway/platform-operations';
import type { OperationQueue, WakeUp, WakeUpHandler } from '@slipway/platform-queue';
import {
  claimOf,
  Effects1700000000099,
  effectsOf,
  inTurn,
  leavesAnEffect,
  script,
  TENANT,
  until,
} from '../test/probe.js';
import { OperationHarness, platformMigrations } from './index.js';

/** A queue in memory that a test may make forget what it is given. */
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
    config: { leaseSeconds: 4 },
    queue,
  });
});
afterAll(() => harness?.stop());
beforeEach(() => {
  queue.isLosing = false;
  queue.taken.length = 0;
  queue.lost.length = 0;
});

/** Nobody drives in this file: what runs was woken by the worker's own parts. */
const ends = (id: string) => until('it ends', async () => (await harness.record(TENANT, id))['status'] === 'succeeded');

it('runs what was accepted, and wakes what sleeps', async () => {
  const first = inTurn(async () => sleep({ forMs: 300, status: 'waiting' }), leavesAnEffect);
  const id = await script([harness], { first, second: leavesAnEffect }).begin();
  await ends(id);
  expect(await effectsOf(harness, id)).toEqual(['first', 'second']);
  const [begun, woken] = queue.taken.filter((job) => job.operationId === id);
  expect(begun).toMatchObject({ dispatch: 1, delayMs: 0 });
  expect(woken).toMatchObject({ dispatch: 2 });
  expect(woken!.delayMs).toBeGreaterThan(0);
  expect(woken!.delayMs).toBeLessThanOrEqual(300);
});

it('runs what the queue has lost, by repair alone', async () => {
  queue.isLosing = true;
  const id = await script([harness], { first: leavesAnEffect }).begin();
  await until('the queue has lost it', () => queue.lost.some((job) => job.operationId === id));
  queue.isLosing = false;
  await ends(id);
  expect(queue.taken.filter((job) => job.operationId === id)).toEqual([{ operationId: id, dispatch: 2, delayMs: 0 }]);
});

it('runs what never reached the outbox, by repair alone', async () => {
  const { definition: operation } = script([harness], { first: leavesAnEffect });
  const id = await harness.database.tx({ tenantId: TENANT }, async (tx) => {
    const [made] = await harness.store.claim(tx, [claimOf(operation)]);
    const { id: own } = made!;
    const stream = `operation/${own}`;
    await harness.store.start(tx, [
      { id: own, operation, resourceId: 'thing', stream, input: { world: own }, steps: ['first'] },
    ]);
    await tx.query('delete from outbox where operation_id = $1', [own]);
    return own;
  });
  await ends(id);
  expect(queue.taken.filter((job) => job.operationId === id).map((job) => job.dispatch)).toEqual([2]);
});

it('takes over what a dead worker held', async () => {
  let tell: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (tell = resolve));
  const dies = async () => {
    tell();
    return new Promise<never>(() => undefined);
  };
  const id = await script([harness], { first: inTurn(dies, leavesAnEffect) }).begin();
  await begun;
  await harness.abandon(id);
  await harness.skipTime(id);
  await ends(id);
  expect(await harness.record(TENANT, id)).toMatchObject({ attempt: 2 });
  expect(await effectsOf(harness, id)).toEqual(['first']);
});

it('takes as many at a time as its configuration says, and adds nothing behind its shutdown', async () => {
  const another = new ForgetfulQueue();
  const migrations = [...platformMigrations, Effects1700000000099];
  const brief = await OperationHarness.start({
    migrations,
    config: { worker: { concurrency: 7 } as never },
    queue: another,
  });
  const id = await script([brief], { first: leavesAnEffect }).begin();
  await until('it is sent', () => another.calls.length > 0);
  await until('it ends', async () => (await brief.record(TENANT, id))['status'] === 'succeeded');
  await brief.stop();
  expect(another.concurrency).toBe(7);
  expect(another.calls.at(-1)).toBe('close');
});
