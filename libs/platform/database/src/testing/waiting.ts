import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';

const DEADLINE_MS = 20_000;

/** Runs something as another process would: in no transaction that is open here. */
export const beside = AsyncLocalStorage.snapshot();

/** Waits for a condition that has a name. */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + DEADLINE_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${DEADLINE_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Something that happens when a test says so. */
export class Pending<T = void> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
}

/** Intervals pass when a test says so (`jest.advanceTimersByTime`); everything else takes its time. */
export function holdIntervals(): void {
  const names = ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const;
  const timers = ['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const;
  jest.useFakeTimers({ doNotFake: [...names, ...timers] });
}
