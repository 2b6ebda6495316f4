import { describe, expect, it } from '@jest/globals';
import { ApiError, UnreachableError } from './errors.js';
import { RetryPace } from './retry-pace.js';

const call = { verb: 'watch', resource: 'pods', group: '', namespace: 'models' };
const refusal = (status: number, seconds?: number): ApiError => new ApiError(call, status, undefined, seconds);
const away = new UnreachableError('https://x', 'ECONNREFUSED', 'away');

/** The pauses after seven failures in a row, with the least and the most jitter. */
const waits = (error: unknown): [number[], number[]] => {
  const [least, most] = [new RetryPace(() => 0), new RetryPace(() => 1)];
  return [Array.from({ length: 7 }, () => least.failed(error)), Array.from({ length: 7 }, () => most.failed(error))];
};

describe('the pause between two tries', () => {
  it.each<[string, unknown, number[]]>([
    ['a server that is away', away, [1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000]],
    ['a right that is missing', refusal(403), [1_000, 2_000, 4_000, 8_000, 8_000, 8_000, 8_000]],
    ['a server in trouble', refusal(500), [1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]],
    ['garbage', new Error('garbage'), [1_000, 2_000, 4_000, 8_000, 10_000, 10_000, 10_000]],
  ])('grows to its limit for %s, and half of it is random', (_what, error, most) => {
    expect(waits(error)).toEqual([most.map((ms) => Math.max(500, ms / 2)), most]);
  });

  it('is at least what the server requests, up to 30 s', () => {
    const pace = new RetryPace(() => 0);
    expect([pace.failed(refusal(429, 12)), pace.failed(refusal(429, 600))]).toEqual([12_000, 30_000]);
  });

  it('starts again after a success, and with another kind of trouble', () => {
    const pace = new RetryPace(() => 1);
    for (let n = 0; n < 5; n += 1) pace.failed(away);
    expect([pace.inARow, pace.failed(refusal(403)), pace.inARow]).toEqual([5, 1_000, 1]);
    pace.failed(refusal(401));
    pace.succeeded();
    expect([pace.inARow, pace.failed(refusal(403))]).toEqual([0, 1_000]);
  });
});
