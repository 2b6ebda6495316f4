import { afterEach, expect, it } from '@jest/globals';
import type { OperationQueue, WakeUpHandler } from '../../queue/index.js';
import type { OperationPriority } from '../define/operation.definition.js';
import type { OperationRow } from '../operation.row.js';
import { OperationWorker } from './operation.worker.js';
import type { LeasedOperation, OperationRunner } from './operation.runner.js';
import type { OutboxRelay } from './outbox.relay.js';
import type { ClaimRequest } from './worker-slots.js';

/** A worker whose Postgres is a list of due operations. Only the test sends wake-ups, and the worker does not poll. */
class Bed {
  due: { id: string; tenantId: string }[] = [];
  readonly asked: ClaimRequest[] = [];
  readonly started: string[] = [];
  failure: Error | undefined;
  /** Called in the middle of each claim. */
  onClaim = (): void => undefined;
  private ring: WakeUpHandler = async () => undefined;
  private readonly ends = new Map<string, () => void>();
  private readonly worker: OperationWorker;

  constructor(concurrency: number) {
    const queue: OperationQueue = {
      add: async () => undefined,
      consume: async (handler) => void (this.ring = handler),
      ready: () => true,
      close: async () => undefined,
    };
    const runner = {
      claim: async (ask: ClaimRequest) => this.claim(ask),
      priorityOf: (): OperationPriority => 'ordinary',
      run: ({ operation }: LeasedOperation) => new Promise<void>((resolve) => this.ends.set(operation.id, resolve)),
    } as unknown as OperationRunner;
    const relay = { start: async () => undefined, stop: async () => undefined } as OutboxRelay;
    this.worker = new OperationWorker({ worker: { concurrency } }, queue, runner, relay, 0);
  }

  start = () => this.worker.onApplicationBootstrap();
  stop = () => this.worker.beforeApplicationShutdown();
  wake = () => this.ring('any');

  end = async (id: string): Promise<void> => {
    this.ends.get(id)?.();
    // The worker waits until this iteration of the event loop ends, and acts before the end of the next one.
    for (let iteration = 0; iteration < 2; iteration += 1) await new Promise((resolve) => setImmediate(resolve));
  };

  endAll(): void {
    for (const end of this.ends.values()) end();
  }

  private claim(ask: ClaimRequest): LeasedOperation[] {
    this.asked.push(ask);
    this.onClaim();
    if (this.failure) throw this.failure;
    const taken = this.due
      .filter(({ tenantId }) => ask.priorities.includes('ordinary') && !ask.skip.includes(tenantId))
      .slice(0, ask.limit);
    this.due = this.due.filter((one) => !taken.includes(one));
    this.started.push(...taken.map(({ id }) => id));
    return taken.map(
      (one) =>
        ({
          operation: one as OperationRow,
          steps: [],
          isLate: false,
          signal: new AbortController().signal,
        }) satisfies LeasedOperation,
    );
  }
}

let bed: Bed;
afterEach(async () => {
  bed.endAll();
  await bed.stop();
});
async function opened(concurrency: number): Promise<Bed> {
  bed = new Bed(concurrency);
  await bed.start();
  return bed;
}
const operations = (tenantId: string, count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `${tenantId}-${index}`, tenantId }));

it('claims a due operation for each slot that becomes free, without another wake-up', async () => {
  const { wake, end, started } = await opened(4);
  bed.due = operations('a', 6);
  await wake();
  expect(started).toHaveLength(3);
  await end('a-0');
  expect(started).toHaveLength(4);
  await end('a-1');
  await end('a-2');
  await end('a-3');
  expect(started).toHaveLength(6);
});

it('claims once if little is due, and not again when that has ended', async () => {
  const { wake, end, asked } = await opened(20);
  bed.due = operations('a', 1);
  await wake();
  await end('a-0');
  expect(asked).toHaveLength(1);
});

it('claims once for several wake-ups in one iteration of the event loop, and once more for wake-ups during the claim', async () => {
  const { wake, asked } = await opened(20);
  await Promise.all([wake(), wake(), wake()]);
  expect(asked).toHaveLength(1);
  bed.onClaim = () => {
    bed.onClaim = () => undefined;
    void wake();
    void wake();
  };
  await wake();
  expect(asked).toHaveLength(3);
});

it('fills slots that become free together with one claim', async () => {
  const { wake, end, asked, started } = await opened(20);
  bed.due = operations('a', 30);
  await wake();
  expect(started).toHaveLength(15);
  const before = asked.length;
  await Promise.all(['a-0', 'a-1', 'a-2'].map((id) => end(id)));
  expect(started).toHaveLength(18);
  expect(asked[before]).toMatchObject({ limit: 3 });
});

it('does not repeat a claim that found nothing until the next wake-up', async () => {
  const { wake, end, asked, started } = await opened(20);
  bed.due = operations('a', 30);
  await wake();
  const before = asked.length;
  await end('a-0');
  expect(started).toHaveLength(16);
  // The first wake-up found that other tenants have nothing due.
  expect(asked.slice(before)).toEqual([expect.objectContaining({ limit: 1, skip: [] })]);
  bed.due.push(...operations('b', 1));
  await wake();
  expect(started).toContain('b-0');
});

it('repeats a claim if a wake-up during it may have made operations due', async () => {
  const { wake, started } = await opened(20);
  bed.due = operations('a', 30);
  bed.onClaim = () => {
    if (!bed.asked.at(-1)?.skip.includes('a')) return;
    bed.onClaim = () => undefined;
    void wake();
    // This claim has already read what was due before.
    queueMicrotask(() => bed.due.push(...operations('b', 1)));
  };
  await wake();
  expect(started).toContain('b-0');
});

it('continues after a claim that failed', async () => {
  const { wake, started } = await opened(20);
  bed.due = operations('a', 1);
  bed.failure = new Error('away');
  await wake();
  bed.failure = undefined;
  await wake();
  expect(started).toEqual(['a-0']);
});

it('waits at shutdown for running operations, and claims nothing more', async () => {
  const { wake, stop, started } = await opened(4);
  bed.due = operations('a', 1);
  await wake();
  let hasStopped = false;
  const stopped = stop().then(() => (hasStopped = true));
  bed.due = operations('b', 1);
  await wake();
  await new Promise((resolve) => setImmediate(resolve));
  expect([hasStopped, started]).toEqual([false, ['a-0']]);
  bed.endAll();
  await stopped;
});
