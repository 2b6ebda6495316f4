import { expect, it } from '@jest/globals';
import { predictionsIn } from './predictions.js';

const ONE = { metric: 'ttft_ms', stat: 'p95', now: 900, predicted: { value: 450, low: 400, high: 500 } };

it('reads what the autopilot writes', () => {
  const metrics = [{ ...ONE, baseline: { low: 800, high: null, n: 9 } }];
  expect(predictionsIn({ metrics })).toEqual([{ ...ONE, before: { low: 800, high: Infinity } }]);
  expect(predictionsIn({ metrics: [{ ...ONE, now: undefined }] })).toEqual([{ ...ONE, now: null, before: null }]);
});

it.each<[string, unknown]>([
  ['nothing', null],
  ['a text', 'fast'],
  ['another metric', { ...ONE, metric: 'speed' }],
  ['a metric of objects', { ...ONE, metric: '__proto__' }],
  ['another statistic', { ...ONE, stat: 'p42' }],
  ['a rate with a quantile', { ...ONE, metric: 'error_rate' }],
  ['a duration with a rate', { ...ONE, stat: 'rate' }],
  ['no interval', { ...ONE, predicted: 450 }],
  ['a text as its value', { ...ONE, predicted: { value: '450', low: 400, high: 500 } }],
  ['bounds on one side', { ...ONE, predicted: { value: 450, low: 460, high: 500 } }],
  ['a negative value', { ...ONE, predicted: { value: -1, low: -2, high: 3 } }],
  ['an endless interval', { ...ONE, predicted: { value: 450, low: 400, high: null } }],
])('keeps a plan and does not measure an entry that is, or has, %s', (_what, entry) => {
  expect(predictionsIn({ metrics: [entry, ONE] })).toHaveLength(1);
  expect(predictionsIn({ metrics: entry })).toEqual([]);
});

it('reads each metric once, and a bounded number', () => {
  expect(predictionsIn({ metrics: [ONE, { ...ONE, now: 1 }] })).toMatchObject([{ now: 900 }]);
  const stats = ['avg', 'p50', 'p90', 'p95', 'p99'];
  const metrics = ['ttft_ms', 'itl_ms', 'e2e_latency_ms', 'longest_gap_ms', 'output_tokens_per_s'].flatMap((metric) =>
    stats.map((stat) => ({ ...ONE, metric, stat })),
  );
  expect(predictionsIn({ metrics })).toHaveLength(18);
});
