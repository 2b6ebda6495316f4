import { expect, it } from '@jest/globals';
import { SlipwayError } from './errors.js';
import { pause, pauseAfter } from './retries.js';

const failed = (facts: Partial<ConstructorParameters<typeof SlipwayError>[1]>): SlipwayError =>
  new SlipwayError('no', { code: 'unavailable', retryable: true, status: 503, ...facts });
const tries = { before: 0, most: 4, isRepeatable: true };

it('errors that the api calls retryable are retried, up to the limit', () => {
  expect(pauseAfter(failed({}), tries)).toBeGreaterThan(0);
  expect(pauseAfter(failed({ retryable: false }), tries)).toBeUndefined();
  expect(pauseAfter(failed({}), { ...tries, before: 4 })).toBeUndefined();
  expect(pauseAfter(new TypeError('a mistake of ours'), tries)).toBeUndefined();
});

it('a client waits longer each time, up to a limit, and never as long as another one', () => {
  const pauses = [0, 1, 2, 3, 9].map((before) => pauseAfter(failed({}), { ...tries, before, most: 10 }) ?? 0);
  const most = [500, 1000, 2000, 4000, 8000];
  pauses.forEach((ms, at) => {
    expect(ms).toBeLessThanOrEqual(most[at]!);
    expect(ms).toBeGreaterThanOrEqual(most[at]! / 2);
  });
  expect(new Set(Array.from({ length: 20 }, () => pauseAfter(failed({}), tries))).size).toBeGreaterThan(1);
});

it('a client waits as long as the api requests, unless that is too long', () => {
  expect(pauseAfter(failed({ retryAfterMs: 7_000 }), tries)).toBe(7_000);
  expect(pauseAfter(failed({ retryAfterMs: 61_000 }), tries)).toBeUndefined();
});

it('a call that must not happen twice is repeated only if nothing was done', () => {
  const once = { ...tries, isRepeatable: false };
  for (const status of [408, 409, 429]) expect(pauseAfter(failed({ status }), once)).toBeGreaterThan(0);
  for (const status of [undefined, 500, 502, 503]) expect(pauseAfter(failed({ status }), once)).toBeUndefined();
});

it('a pause ends with its signal', async () => {
  const stopped = new AbortController();
  const waiting = pause(60_000, stopped.signal);
  stopped.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
