import { describe, expect, it } from '@jest/globals';
import { MAX_RETRY_AFTER_MS, PRODUCT_TIMING, retryDelayMs } from './delivery-timing.js';

it('a delivery waits longer each time, then gives up', () => {
  const delays = PRODUCT_TIMING.retryDelaysMs.map(
    (_delay, index) => retryDelayMs(PRODUCT_TIMING, index + 1, 0, () => 0.5) as number,
  );
  expect(delays).toEqual([...delays].sort((a, b) => a - b));
  expect(retryDelayMs(PRODUCT_TIMING, delays.length + 1)).toBeUndefined();
  const days = delays.reduce((sum, delay) => sum + delay, 0) / 86_400_000;
  expect(days).toBeGreaterThan(2.5);
  expect(days).toBeLessThan(3.5);
});

it('a wait varies by a fifth', () => {
  expect([0, 0.5, 1].map((chance) => retryDelayMs({ retryDelaysMs: [1_000] }, 1, 0, () => chance))).toEqual([
    800, 1_000, 1_200,
  ]);
});

it('a sender owns a queue longer than a request may take', () => {
  expect(PRODUCT_TIMING.leaseMs).toBeGreaterThan(PRODUCT_TIMING.timeoutMs * 1.5);
});

describe('the next attempt', () => {
  const delay = (attempts: number, requested?: number) => retryDelayMs(PRODUCT_TIMING, attempts, requested, () => 0.5);

  it('is not before the time that the receiver requests, up to a day', () => {
    expect(delay(1, 120_000)).toBe(120_000);
    expect(delay(1, Infinity)).toBe(MAX_RETRY_AFTER_MS);
    expect(MAX_RETRY_AFTER_MS).toBe(86_400_000);
  });

  it('is not before its own time either, so that no receiver uses up all attempts at once', () => {
    expect(delay(1, 0)).toBe(delay(1));
    expect(delay(5, 1_000)).toBe(delay(5));
  });

  it('does not exist after the last attempt, whatever the receiver requests', () => {
    expect(delay(PRODUCT_TIMING.retryDelaysMs.length + 1, 1_000)).toBeUndefined();
  });
});
