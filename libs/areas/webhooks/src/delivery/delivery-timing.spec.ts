import { expect, it } from '@jest/globals';
import { PRODUCT_TIMING, retryDelayMs } from './delivery-timing.js';

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
