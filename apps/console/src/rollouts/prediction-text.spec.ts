import { describe, expect, it } from '@jest/globals';
import { limitOfPrediction, metricName, planPrediction, predictionLine } from './prediction-text.js';

const METRIC = {
  metric: 'ttft_ms',
  stat: 'p95',
  now: 1110,
  predicted: { value: 154, low: 120, high: 198 },
  confidence: 0.9,
  calibrated_on: 0,
};
const COST = { now: { amount: 1.6, currency: 'EUR' }, predicted: { amount: 2.4, currency: 'EUR' } };
const impact = (more: object = {}) => ({
  metrics: [METRIC],
  cost: COST,
  basis: 'a week of records',
  gpu_hours: 168,
  ...more,
});

describe('the prediction of a plan', () => {
  it('has its metrics with intervals, and cost and assumptions in words', () =>
    expect(
      planPrediction({
        predicted_impact: impact(),
        assumes: {
          peak_request_rate: 8.13,
          input_tokens_p95: 1200,
          output_tokens_p95: null,
          engine_version: 'vllm 0.11',
        },
      }),
    ).toEqual({
      metrics: [
        {
          metric: 'ttft_ms',
          stat: 'p95',
          now: 1110,
          predicted: { value: 154, low: 120, high: 198 },
          basis: '90 % interval, not yet calibrated',
        },
      ],
      facts: {
        'cost now': '1.60 EUR/h',
        'cost predicted': '2.40 EUR/h',
        'GPU hours': 'at most 168 more',
        'requests at the peak': '8.13 per second',
        'input tokens, p95': '1,200',
        engine: 'vllm 0.11',
        basis: 'a week of records',
      },
    }));

  it('says if it is calibrated, if a value is not measured, and if there is no price', () => {
    const metrics = [{ ...METRIC, now: null, calibrated_on: 12, confidence: undefined }];
    const read = planPrediction({ predicted_impact: impact({ metrics, cost: null }) });
    expect(read?.metrics[0]).toMatchObject({ now: null, basis: 'interval, calibrated on 12 plans' });
    expect(read?.facts).toMatchObject({ cost: 'no price' });
    const halfPriced = planPrediction({
      predicted_impact: impact({ cost: { now: COST.now, predicted: { amount: '2' } } }),
    });
    expect(halfPriced?.facts).toMatchObject({ 'cost now': '1.60 EUR/h', 'cost predicted': 'no price' });
  });

  it('says whether devices are added, removed or neither', () => {
    const hours = (gpu_hours: number) =>
      planPrediction({ predicted_impact: impact({ gpu_hours }) })?.facts['GPU hours'];
    expect([168, 0, -24].map(hours)).toEqual(['at most 168 more', 'none more', '24 fewer']);
  });

  it('may have an interval without an upper end', () => {
    const metrics = [{ ...METRIC, predicted: { value: 154, low: 120, high: null } }];
    expect(planPrediction({ predicted_impact: { metrics } })?.metrics[0]?.predicted.high).toBeNull();
    expect(predictionLine({ predicted_impact: { metrics } })).toBe('ttft_ms p95 1,110 ms → 154 ms (at least 120 ms)');
  });

  it.each<[string, Record<string, unknown> | null]>([
    ['no prediction', null],
    ['the words of a person', { ttft: 'half of it' }],
    ['metrics that are no list', { metrics: 'all' }],
    ['no metric with an interval', { metrics: [null, 7, { metric: 'ttft_ms', predicted: 154 }] }],
    ['an older plan of the autopilot', { load_per_replica_percent: -50, gpu_hours: 0, basis: 'even load' }],
  ])('is null for %s', (_, predicted_impact) => expect(planPrediction({ predicted_impact })).toBeNull());

  it('keeps the metrics that can be read', () =>
    expect(planPrediction({ predicted_impact: { metrics: [{ metric: 'x' }, METRIC] } })?.metrics).toHaveLength(1));
});

it('is one line in a list', () => {
  expect(predictionLine({ predicted_impact: impact() })).toBe('ttft_ms p95 1,110 ms → 154 ms (120 to 198 ms)');
  const metrics = [{ ...METRIC, now: null }, METRIC];
  expect(predictionLine({ predicted_impact: { metrics } })).toMatch(
    /^ttft_ms p95 154 ms \(.*\); ttft_ms p95 1,110 ms → /,
  );
  expect(predictionLine({ predicted_impact: { ttft: 'half' } })).toBeNull();
});

it('names a metric with its statistic, except a rate', () => {
  expect(metricName(METRIC)).toBe('ttft_ms p95');
  expect(metricName({ metric: 'error_rate', stat: 'rate' })).toBe('error_rate');
  expect(metricName({ metric: 'later', stat: null })).toBe('later');
});

describe('the limit of a prediction', () => {
  const policy = (version: number, threshold = 500) => ({ version, slos: [{ metric: 'ttft_ms' as const, threshold }] });
  const gate = (threshold: unknown) => ({
    policy_version: 1,
    execution: { analysis: { metrics: [{ name: 'ttft_ms', stat: 'p95', check: 'threshold', threshold }] } },
  });

  it('is the SLO of the policy that the plan follows', () =>
    expect(limitOfPrediction(METRIC, gate(400), policy(1))).toEqual({ value: 500, label: 'limit' }));

  it('is the threshold of the gate if the policy has changed', () =>
    expect(limitOfPrediction(METRIC, gate(400), policy(2, 300))).toEqual({ value: 400, label: 'limit' }));

  it('is the current SLO, marked as such, if the gate has no threshold', () =>
    expect(limitOfPrediction(METRIC, gate(undefined), policy(2, 300))).toEqual({
      value: 300,
      label: 'limit of policy version 2',
    }));

  it('is null if no SLO has this metric and statistic', () => {
    expect(limitOfPrediction({ metric: 'ttft_ms', stat: 'p50' }, gate(400), policy(1))).toBeNull();
    expect(limitOfPrediction(METRIC, { policy_version: null }, null)).toBeNull();
  });
});
