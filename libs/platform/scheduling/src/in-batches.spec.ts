import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { inBatches, MOST_ROWS } from './in-batches.js';

/** A clock of its own: each batch takes so many milliseconds a row. */
let now = 0;
beforeEach(() => {
  now = 0;
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** @returns how many rows each batch was asked for */
async function sizes(count: number, msPerRow: number, stopping?: AbortSignal, stopAt?: () => void): Promise<number[]> {
  const asked: number[] = [];
  await inBatches(async (rows) => {
    asked.push(rows);
    now += rows * msPerRow;
    if (asked.length === 2) stopAt?.();
    return asked.length < count;
  }, stopping);
  return asked;
}

it('goes on until nothing is left', async () => {
  expect(await sizes(1, 0)).toEqual([500]);
  expect(await sizes(3, 0.1)).toEqual([500, 500, 500]);
});

it('makes batches as large as fit into 50 ms, step by step and within bounds', async () => {
  expect(await sizes(6, 0)).toEqual([500, 1_000, 2_000, 4_000, MOST_ROWS, MOST_ROWS]);
  expect((await sizes(5, 1)).slice(0, 5)).toEqual([500, 250, 125, 63, 50]);
});

it('begins no further batch when the process stops, and does not wait out its rest', async () => {
  const stopping = new AbortController();
  expect(await sizes(9, 0.1, stopping.signal, () => stopping.abort())).toEqual([500, 500]);
  expect(await sizes(9, 0.1, stopping.signal)).toEqual([]);
});
