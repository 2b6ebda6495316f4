import { AsyncLocalStorage } from 'node:async_hooks';
import { jest } from '@jest/globals';

const DEADLINE_MS = 20_000;

/** Runs code as another process would: outside every transaction that is open here. */
export const beside = AsyncLocalStorage.snapshot();

/**
 * Polls a named condition until it holds. The pauses grow up to `longestPauseMs`, because each check uses processor
 * time that the awaited work needs.
 * @param seen returns what to show in the error when the deadline passes
 */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seen?: () => unknown,
  { deadlineMs = DEADLINE_MS, longestPauseMs = 10 } = {},
): Promise<void> {
  const deadline = Date.now() + deadlineMs;
  for (let pauseMs = 10; !(await isSo()); pauseMs = Math.min(longestPauseMs, pauseMs * 1.3)) {
    if (Date.now() > deadline)
      throw new Error(`not within ${deadlineMs} ms: ${what}${seen ? `; saw ${JSON.stringify(await seen())}` : ''}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

/** An event that the test triggers. */
export class Latch<T = void> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  reject!: (error: Error) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => Object.assign(this, { resolve, reject }));
  }
}

/** Intervals elapse only when the test says so (`jest.advanceTimersByTime`); everything else runs in real time. */
export function holdIntervals(): void {
  const names = ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const;
  const timers = ['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const;
  jest.useFakeTimers({ doNotFake: [...names, ...timers] });
}
