import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { inBatches } from './schedule.js';

/** A simulated clock: each batch takes so many milliseconds per row. */
let now = 0;
beforeEach(() => {
  now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => void jest.restoreAllMocks());

/** @returns the number of rows that each batch was called with */
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

it('continues until nothing is left', async () => {
  expect(await sizes(1, 0)).toEqual([500]);
  expect(await sizes(3, 0.4)).toEqual([500, 500, 500]);
});

it('makes batches as large as fit into a fifth of a second, step by step and within limits', async () => {
  expect(await sizes(6, 0)).toEqual([500, 1_000, 2_000, 4_000, 5_000, 5_000]);
  expect(await sizes(5, 0.2)).toEqual([500, 1_000, 1_000, 1_000, 1_000]);
  expect(await sizes(3, 2)).toEqual([500, 250, 200]);
});

it('begins no further batch when the process stops, and does not wait for the end of its pause', async () => {
  const stopping = new AbortController();
  expect(await sizes(9, 0.4, stopping.signal, () => stopping.abort())).toEqual([500, 500]);
  expect(await sizes(9, 0.1, stopping.signal)).toEqual([]);
});
