import { expect, it, jest } from '@jest/globals';
import { RateLimiter } from './budgets.js';

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

it('says how long to wait at slow rates, and removes full buckets', () => {
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

it('is not filled by a wall clock that is set', () => {
  const limiter = new RateLimiter(2);
  expect([1, 2, 3].map(() => limiter.take('a').isAllowed)).toEqual([true, true, false]);
  const wall = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + 86_400_000);
  expect(limiter.take('a').isAllowed).toBe(false);
  wall.mockRestore();
});

it('survives a clock that steps back', () => {
  let now = 1_000_000;
  const limiter = new RateLimiter(2, () => now);
  limiter.take('a');
  now -= 600_000;
  expect(limiter.take('a').isAllowed).toBe(true);
  expect(limiter.take('a').isAllowed).toBe(false);
});

it('saves up at most a minute of requests, and says how many are left and when the bucket is full', () => {
  let now = 1_000_000;
  const limiter = new RateLimiter(6, () => now);
  limiter.take('a');
  now += 600_000;
  expect(limiter.take('a')).toEqual({ isAllowed: true, limit: 6, remaining: 5, resetSeconds: 10, retrySeconds: 1 });
  expect([1, 2, 3, 4, 5].map(() => limiter.take('a').remaining)).toEqual([4, 3, 2, 1, 0]);
  // Half a request has flowed in, which is not enough for one.
  now += 5_000;
  expect(limiter.take('a')).toEqual({ isAllowed: false, limit: 6, remaining: 0, resetSeconds: 55, retrySeconds: 5 });
  now += 5_000;
  expect(limiter.take('a').isAllowed).toBe(true);
});

it('keeps the bucket of a limited client, however often full buckets are removed', () => {
  let now = 1_000_000;
  const limiter = new RateLimiter(60, () => now);
  for (let n = 0; n < 60; n += 1) limiter.take('busy');
  now += 30_000;
  for (let n = 0; n < 30; n += 1) limiter.take('busy');
  now += 30_001;
  limiter.take('other');
  for (let n = 0; n < 30; n += 1) expect(limiter.take('busy').isAllowed).toBe(true);
  expect(limiter.take('busy').isAllowed).toBe(false);
});

it('never fills a bucket above its limit between two removals of full buckets', () => {
  let now = 1_000_000;
  const limiter = new RateLimiter(60, () => now);
  expect(limiter.take('a').remaining).toBe(59);
  now += 59_000;
  expect(limiter.take('a')).toMatchObject({ remaining: 59, resetSeconds: 1 });
});
