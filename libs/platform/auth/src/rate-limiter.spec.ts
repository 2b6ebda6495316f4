import { expect, it } from '@jest/globals';
import { RateLimiter } from './rate-limiter.js';

it('allows a minute of requests at once, then as many as flow in', () => {
  let now = 1_000_000;
  const limiter = new RateLimiter(60, () => now);
  for (let i = 0; i < 60; i += 1) expect(limiter.take('a').isAllowed).toBe(true);
  expect(limiter.take('a')).toEqual({ isAllowed: false, limit: 60, remaining: 0, resetSeconds: 60, retrySeconds: 1 });
  expect(limiter.take('b').isAllowed).toBe(true);
  now += 1_000;
  expect(limiter.take('a').isAllowed).toBe(true);
  expect(limiter.take('a').isAllowed).toBe(false);
});

it('says how long to wait at slow rates, and forgets full buckets', () => {
  let now = 1_000_000;
  const limiter = new RateLimiter(1, () => now);
  expect(limiter.take('a')).toMatchObject({ isAllowed: true, remaining: 0, resetSeconds: 60 });
  expect(limiter.take('a').retrySeconds).toBe(60);
  now += 10_000;
  expect(limiter.take('a').retrySeconds).toBe(50);
  now += 120_000;
  limiter.take('b');
  expect((limiter as unknown as { buckets: Map<string, unknown> }).buckets.size).toBe(1);
});

it('survives a clock that steps back', () => {
  let now = 1_000_000;
  const limiter = new RateLimiter(2, () => now);
  limiter.take('a');
  now -= 600_000;
  expect(limiter.take('a').isAllowed).toBe(true);
  expect(limiter.take('a').isAllowed).toBe(false);
});
