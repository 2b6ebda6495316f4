import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Database } from '@slipway/platform-database';
import type { TargetDriver } from '@slipway/target-driver';
import type { InstanceKeeper } from './instance-keeper.js';
import { READ_TARGET_WORKLOADS } from '../workloads/instance.query.js';
import type { InstanceTransitions } from './instance-transitions.js';
import type { TargetLeadership } from '../catalog/target-leadership.js';
import { TargetReconciler } from './target-reconciler.js';

const HOUR_MS = 3_600_000;
/** Minimum time between two passes. */
const GAP_MS = 100;
/** Maximum time between two passes after a long pass. */
const LONGEST_GAP_MS = 2_000;
/** Limit of one target. */
const STARTS_AT_ONCE = 32;
const INSTANCE = {
  id: 'ins_1',
  ordinal: 0,
  state: 'ready',
  version: 1,
  start_in_seconds: 0,
  replace_drain_seconds: null,
};

/**
 * A target with one ready instance. Every check returns an hour until the next one. Time passes only when a test
 * advances it.
 */
class Bed {
  readonly listeners: ((instanceId: string) => void)[] = [];
  /** The passes, each with the rows that it reads: those of the named instances, or all (null). */
  readonly asked: (readonly string[] | null)[] = [];
  instances = [INSTANCE];
  readonly look = jest.fn<InstanceKeeper['perform']>(async () => HOUR_MS);
  isLeading = true;
  isRetained = true;
  /** How long Postgres takes to read all rows. */
  answersInMs = 0;
  /** Known from the last time that it was requested. */
  readonly leadership = {
    leads: false,
    isHeld: async () => (this.leadership.leads = this.isLeading),
    resign: async () => undefined,
  };
  private readonly driver = {
    adopts: true,
    onChange: (listener: (instanceId: string) => void) => void this.listeners.push(listener),
  };
  readonly reconciler = new TargetReconciler(
    { config: { name: 'twin', kind: 'twin' }, driver: this.driver as unknown as TargetDriver, isRemoved: false },
    this.leadership as unknown as TargetLeadership,
    {
      read: async (_: unknown, statement: unknown, [, ids]: [string, readonly string[] | null]) => {
        if (statement !== READ_TARGET_WORKLOADS) return [];
        this.asked.push(ids);
        if (this.answersInMs > 0) await new Promise((resolve) => setTimeout(resolve, this.answersInMs));
        return this.rows();
      },
      // Reads the specs.
      tx: async () => [{ revision_id: 'rev_1', spec: {} }],
    } as unknown as Database,
    {} as InstanceTransitions,
    { perform: this.look } as unknown as InstanceKeeper,
  );

  private readonly rows = () => [
    {
      revision_id: 'rev_1',
      replicas: 1,
      is_retained: this.isRetained,
      retainers: this.isRetained ? ['route'] : [],
      suspended_by: null,
      is_waking: false,
      warm_age_seconds: null,
      instances: this.instances,
    },
  ];

  /** Reports a change of the instance, as the target does. */
  async tell(): Promise<void> {
    for (const listener of this.listeners) listener(INSTANCE.id);
    await pass(GAP_MS);
  }
}

/** Resolves when all pending work is done, except timers: nothing here makes a system call. */
const settled = () => new Promise<void>((done) => setImmediate(done));
const pass = async (ms: number) => {
  await jest.advanceTimersByTimeAsync(ms);
  await settled();
};

let bed: Bed;

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  bed = new Bed();
});
afterEach(async () => {
  await bed.reconciler.stop();
  jest.useRealTimers();
});

const started = async () => {
  bed.reconciler.start();
  await settled();
  expect(bed.look).toHaveBeenCalledTimes(1);
};

it('an instance is checked at once when the target reports a change, long before its check is due', async () => {
  await started();
  await bed.tell();
  expect(bed.look).toHaveBeenCalledTimes(2);
  await bed.tell();
  expect(bed.look).toHaveBeenCalledTimes(3);
});

it('an instance is not checked before its check is due', async () => {
  await started();
  bed.reconciler.kick();
  await pass(GAP_MS);
  await pass(HOUR_MS - 1_000);
  expect(bed.look).toHaveBeenCalledTimes(1);
  await pass(6_000);
  expect(bed.look).toHaveBeenCalledTimes(2);
});

it('an unwanted instance is stopped at once, whenever its next check is due', async () => {
  await started();
  bed.isRetained = false;
  bed.reconciler.kick();
  await pass(GAP_MS);
  expect(bed.look.mock.lastCall).toMatchObject([{ kind: 'withdraw' }, {}]);
});

it('an instance is checked once more if the target reports a change during a check', async () => {
  await started();
  let end = (_inMs: number): void => undefined;
  bed.look.mockImplementationOnce(() => new Promise((resolve) => (end = resolve)));
  await bed.tell();
  await bed.tell();
  expect(bed.look).toHaveBeenCalledTimes(2);
  end(HOUR_MS);
  await pass(GAP_MS);
  expect(bed.look).toHaveBeenCalledTimes(3);
  await pass(HOUR_MS - 1_000);
  expect(bed.look).toHaveBeenCalledTimes(3);
});

it('concurrent changes are handled in one pass, however many reports there are', async () => {
  await started();
  const before = bed.asked.length;
  for (let count = 0; count < 50; count += 1) {
    for (const listener of bed.listeners) listener(INSTANCE.id);
    await pass(1);
  }
  await pass(GAP_MS);
  expect(bed.asked.length - before).toBe(1);
  expect(bed.look).toHaveBeenCalledTimes(2);
});

it('the reconciler does not wait long after a pass that hung because Postgres was gone', async () => {
  await started();
  bed.answersInMs = 15_000;
  bed.reconciler.kick();
  await pass(GAP_MS);
  bed.answersInMs = 0;
  await pass(15_000);
  expect(bed.look).toHaveBeenCalledTimes(1);
  for (const listener of bed.listeners) listener(INSTANCE.id);
  await pass(LONGEST_GAP_MS);
  expect(bed.look).toHaveBeenCalledTimes(2);
});

it('only a process that reconciles listens to the target, so an API process does not', async () => {
  expect(bed.listeners).toEqual([]);
  await started();
  expect(bed.listeners).toHaveLength(1);
});

it('nothing is checked while another worker leads, whatever the target reports', async () => {
  bed.isLeading = false;
  const asked = jest.spyOn(bed.leadership, 'isHeld');
  bed.reconciler.start();
  await bed.tell();
  await bed.tell();
  expect(bed.look).not.toHaveBeenCalled();
  // It does not query Postgres each time either.
  expect(asked).toHaveBeenCalledTimes(1);
});

it('the reconciler tries twice a second to take the lead again, and then checks everything', async () => {
  await started();
  bed.isLeading = false;
  await pass(5_000);
  expect(bed.look).toHaveBeenCalledTimes(1);
  bed.isLeading = true;
  await pass(500);
  expect(bed.look).toHaveBeenCalledTimes(2);
});

it('a report of the target makes a pass read only the changed rows, and a notification or the poll interval makes it read all', async () => {
  await started();
  await bed.tell();
  expect(bed.asked).toEqual([null, ['ins_1']]);
  bed.reconciler.kick();
  await pass(GAP_MS);
  expect(bed.asked).toEqual([null, ['ins_1'], null]);
  await pass(5_000);
  expect(bed.asked.slice(3)).toEqual([null]);
});

it('all rows are read after a notification that came during a read of some', async () => {
  await started();
  bed.answersInMs = 50;
  for (const listener of bed.listeners) listener(INSTANCE.id);
  await pass(GAP_MS);
  bed.reconciler.kick();
  await pass(500);
  expect(bed.asked).toEqual([null, ['ins_1'], null]);
});

it('an instance is checked again after a check that changed it, without a read of other rows', async () => {
  await started();
  bed.look.mockImplementationOnce(async () => {
    bed.instances = [{ ...INSTANCE, version: 2 }];
    return 0;
  });
  await bed.tell();
  await pass(GAP_MS);
  expect(bed.look.mock.calls.slice(1)).toMatchObject([
    [{ instance: { version: 1 } }, {}],
    [{ instance: { version: 2 } }, {}],
  ]);
  expect(bed.asked).toEqual([null, ['ins_1'], ['ins_1']]);
});

it('an instance that needs capacity is left to a pass that knows how much is free', async () => {
  await started();
  bed.instances = [{ ...INSTANCE, state: 'pending', version: 2 }];
  await bed.tell();
  expect(bed.asked).toEqual([null, ['ins_1']]);
  expect(bed.look).toHaveBeenCalledTimes(1);
  await pass(GAP_MS);
  expect(bed.asked).toEqual([null, ['ins_1'], null]);
  expect(bed.look.mock.lastCall).toMatchObject([{ kind: 'start' }, {}]);
});

it('ready instances are checked while many others start, with a limit on concurrent starts', async () => {
  const begun = Array.from({ length: 100 }, (_, at) => ({ ...INSTANCE, id: `ins_n${at}`, state: 'pending' }));
  bed.instances = [INSTANCE, ...begun];
  const starts: ((inMs: number) => void)[] = [];
  bed.look.mockImplementation(({ kind }) =>
    kind === 'start' ? new Promise<number>((resolve) => starts.push(resolve)) : Promise.resolve(HOUR_MS),
  );
  bed.reconciler.start();
  await settled();
  expect([starts.length, bed.look.mock.calls.length]).toEqual([STARTS_AT_ONCE, STARTS_AT_ONCE + 1]);
  await bed.tell();
  expect(bed.look.mock.lastCall).toMatchObject([{ kind: 'look', instance: { id: 'ins_1' } }, {}]);
  // The waiting ones follow in order.
  while (starts.length > 0) {
    for (const end of starts.splice(0)) end(HOUR_MS);
    await settled();
  }
  expect(bed.look).toHaveBeenCalledTimes(102);
});

it('a started instance is checked without a read of other rows', async () => {
  bed.instances = [{ ...INSTANCE, state: 'pending' }];
  bed.look.mockImplementationOnce(async () => {
    bed.instances = [{ ...INSTANCE, state: 'starting', version: 2 }];
    return 150;
  });
  bed.reconciler.start();
  await settled();
  await pass(GAP_MS);
  expect(bed.look.mock.calls).toMatchObject([
    [{ kind: 'start' }, {}],
    [{ kind: 'look', instance: { version: 2 } }, {}],
  ]);
  expect(bed.asked).toEqual([null, ['ins_1']]);
});

it('a back-off ends in time, even if it was seen in a pass of that instance alone', async () => {
  await started();
  bed.instances = [{ ...INSTANCE, state: 'backing_off', version: 2, start_in_seconds: 1 }];
  await bed.tell();
  bed.instances = [{ ...INSTANCE, state: 'backing_off', version: 2, start_in_seconds: 0 }];
  await pass(1_000);
  expect(bed.look.mock.lastCall).toMatchObject([{ kind: 'start' }, {}]);
});

it('checks that are due one after the other are gathered, and none comes before its time', async () => {
  bed.instances = Array.from({ length: 5 }, (_, at) => ({ ...INSTANCE, id: `ins_${at}`, ordinal: 0 }));
  bed.look.mockImplementation(async ({ instance }) => 5_000 + 400 * Number(instance.id.slice(4)));
  bed.reconciler.start();
  await settled();
  expect(bed.look).toHaveBeenCalledTimes(5);
  await pass(4_999);
  expect(bed.look).toHaveBeenCalledTimes(5);
  await pass(3_001);
  expect(bed.look).toHaveBeenCalledTimes(10);
  expect(bed.asked).toEqual([null, null, null]);
});
