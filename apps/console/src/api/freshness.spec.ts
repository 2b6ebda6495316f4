import { expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/sdk';
import { freshnessOf, type ReadState } from './freshness.js';

const fine: ReadState = { dataUpdatedAt: 5_000, error: null, fetchFailureReason: null };
const away = new Error('fetch failed');
const refusal = new SlipwayError('no', { code: 'scope_insufficient', status: 403, retryable: false });

it('reports no old data if every request was answered', () =>
  expect(freshnessOf([fine])).toEqual({ since: Number.POSITIVE_INFINITY, failing: null }));

it('reports the age of the oldest data that could not be read again, and the reason', () =>
  expect(
    freshnessOf([
      fine,
      { ...fine, dataUpdatedAt: 3_000, fetchFailureReason: away },
      { ...fine, dataUpdatedAt: 1_000, error: away },
    ]),
  ).toEqual({ since: 1_000, failing: away }));

it('reports no age for data that never arrived', () =>
  expect(freshnessOf([{ ...fine, dataUpdatedAt: 0, error: away }])).toEqual({
    since: Number.POSITIVE_INFINITY,
    failing: away,
  }));

it('counts a refusal as an answer, unless older data is shown', () => {
  expect(freshnessOf([{ ...fine, dataUpdatedAt: 0, error: refusal }]).failing).toBeNull();
  expect(freshnessOf([{ ...fine, error: refusal }])).toEqual({ since: 5_000, failing: refusal });
  const broken = new SlipwayError('no', { code: 'internal', status: 500, retryable: false });
  expect(freshnessOf([{ ...fine, dataUpdatedAt: 0, error: broken }]).failing).toBe(broken);
});
