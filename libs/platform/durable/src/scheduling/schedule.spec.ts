import 'reflect-metadata';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Logger } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { Database } from '@slipway/platform-database';
import { Recurring, Schedule, type Transact } from './schedule.js';

const tenIterations = async () => {
  for (let i = 0; i < 10; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Counts its runs, and pauses in its transaction until it is released. */
class SlowWork {
  readonly everySeconds = 1;
  runs = 0;
  inside = 0;
  private gates: (() => void)[] = [];

  constructor(readonly name: string) {}

  readonly run = async (transact: Transact): Promise<void> => {
    this.runs += 1;
    await transact('system', async () => {
      this.inside += 1;
      await new Promise<void>((resolve) => this.gates.push(resolve));
    });
  };

  release(): void {
    for (const open of this.gates.splice(0)) open();
  }
}

let open = 0;
let most = 0;
const database = {
  async tx(_scope: unknown, work: (tx: unknown) => Promise<unknown>) {
    most = Math.max(most, (open += 1));
    try {
      return await work({});
    } finally {
      open -= 1;
    }
  },
} as unknown as Database;

/** Without providers: each test adds its work. */
const scheduleOf = (isWorker: boolean) =>
  new Schedule(database, isWorker, { getProviders: () => [] } as unknown as DiscoveryService, new MetadataScanner());

beforeEach(() => {
  [open, most] = [0, 0];
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

const second = async () => {
  jest.advanceTimersByTime(1_000);
  await tenIterations();
};

describe('slow recurring work', () => {
  it('delays no other work and no repair, however many slow ones there are', async () => {
    const schedule = scheduleOf(true);
    const slow = ['a', 'b', 'c', 'd', 'e'].map((name) => new SlowWork(name));
    const repair = new SlowWork('repair');
    for (const work of slow) schedule.add(work, work.run);
    schedule.add({ name: 'repair', everySeconds: 1, isRepair: true }, repair.run);
    schedule.onApplicationBootstrap();
    await second();
    // Three transactions of areas at a time, and the repair in addition.
    expect([slow.filter(({ inside }) => inside > 0).length, repair.inside, most]).toEqual([3, 1, 4]);
    repair.release();
    await tenIterations();
    await second();
    expect(repair.runs).toBe(2);
    expect(slow.map(({ runs }) => runs)).toEqual([1, 1, 1, 1, 1]);
    for (const one of [...slow, repair]) one.release();
    await tenIterations();
    expect(slow.every(({ inside }) => inside === 1)).toBe(true);
    const stopping = schedule.beforeApplicationShutdown();
    for (const one of [...slow, repair]) one.release();
    await stopping;
  });

  it('is awaited at shutdown, and not begun again', async () => {
    const schedule = scheduleOf(true);
    const work = new SlowWork('a');
    schedule.add(work, work.run);
    schedule.onApplicationBootstrap();
    await second();
    let isOver = false;
    const stopping = schedule.beforeApplicationShutdown().then(() => (isOver = true));
    await tenIterations();
    expect(isOver).toBe(false);
    work.release();
    await stopping;
    await second();
    await second();
    expect(work.runs).toBe(1);
  });
});

it('continues with recurring work that failed', async () => {
  const schedule = scheduleOf(true);
  let runs = 0;
  schedule.add({ name: 'broken', everySeconds: 1 }, async () => {
    runs += 1;
    throw new Error('no luck');
  });
  schedule.onApplicationBootstrap();
  await second();
  await second();
  expect(runs).toBe(2);
  expect(Logger.prototype.warn).toHaveBeenCalledWith('recurring task broken failed: no luck');
  await schedule.beforeApplicationShutdown();
});

it('runs nothing by itself in a process that is no worker, except through runNow', async () => {
  const schedule = scheduleOf(false);
  const log: string[] = [];
  for (const name of ['a', 'b']) schedule.add({ name, everySeconds: 1 }, async () => void log.push(name));
  schedule.onApplicationBootstrap();
  await second();
  expect(log).toEqual([]);
  await schedule.runNow('b');
  await schedule.runNow();
  expect(log).toEqual(['b', 'a', 'b']);
});

it('runs all work once soon after the start, however seldom it is due', async () => {
  const schedule = scheduleOf(true);
  let runs = 0;
  schedule.add({ name: 'daily', everySeconds: 86_400 }, async () => void (runs += 1));
  schedule.onApplicationBootstrap();
  await second();
  expect(runs).toBe(1);
  for (let after = 0; after < 3; after += 1) await second();
  expect(runs).toBe(1);
  await schedule.beforeApplicationShutdown();
});

it('finds the marked methods of all providers when the process starts', async () => {
  const log: string[] = [];
  @Injectable()
  class Upkeep {
    private readonly own = 'upkeep';
    @Recurring({ name: 'one', everySeconds: 60 })
    async one(transact: Transact): Promise<void> {
      await transact('system', async () => void log.push(`one of ${this.own}`));
    }
    @Recurring({ name: 'two', everySeconds: 60 })
    async two(): Promise<void> {
      log.push('two');
    }
    async unmarked(): Promise<void> {
      log.push('unmarked');
    }
  }
  const module = await Test.createTestingModule({
    imports: [DiscoveryModule],
    providers: [
      Upkeep,
      {
        provide: Schedule,
        inject: [DiscoveryService, MetadataScanner],
        useFactory: (discovery: DiscoveryService, methods: MetadataScanner) =>
          new Schedule(database, false, discovery, methods),
      },
    ],
  }).compile();
  await module.init();
  await module.get(Schedule).runNow();
  expect(log.sort()).toEqual(['one of upkeep', 'two']);
  await module.close();
});
