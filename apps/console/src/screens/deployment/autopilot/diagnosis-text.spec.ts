import { describe, expect, it } from '@jest/globals';
import {
  causeText,
  curveOf,
  measuredText,
  peakLoad,
  predictedText,
  replicasText,
  workloadRows,
  type SloDiagnosis,
} from './diagnosis-text.js';

const SLO: SloDiagnosis = {
  metric: 'ttft_ms',
  stat: 'p95',
  threshold: 500,
  cause: 'load_dependent',
  value: { value: 1110, low: 1050, high: 1180, n: 812 },
  idle: { value: 106, low: 95, high: 118, n: 90 },
  predicted: { value: 154, low: 120, high: 198 },
  replicas: { now: 2, needed: 3, at_rate: 8.13 },
  curve: [
    { load: 3.36, n: 812, value: 1110, low: 1050, high: null },
    { load: 1.19, n: 90, value: 106, low: 95, high: 118 },
  ],
  message: 'TTFT p95 is 1,110 ms.',
};
const workload = (concurrency: number | null) => ({
  declared: { request_rate: 8, input_tokens_p95: 400 },
  observed: { request_rate: 8.13, concurrency, input_tokens_p95: 900, output_tokens_p95: null },
  moved: ['input_tokens_p95'],
});

it('names the cause in words', () => {
  expect(causeText('met')).toEqual({ words: 'met', tone: 'good' });
  expect(causeText('intrinsic')).toEqual({ words: 'missed even without load', tone: 'bad' });
  expect(causeText('cause_of_later')).toEqual({ words: 'cause of later', tone: 'plain' });
});

it('formats measured and predicted values with their intervals', () => {
  expect(measuredText('ttft_ms', SLO.value)).toBe('1,110 ms (1,050 to 1,180 ms), 812 samples');
  expect(measuredText('ttft_ms', null)).toBeUndefined();
  expect(predictedText(SLO)).toBe('154 ms (120 to 198 ms) with 3 replicas at 8.13 requests per second');
  expect(predictedText({ ...SLO, replicas: { now: 2, needed: null, at_rate: null } })).toBe('154 ms (120 to 198 ms)');
  expect(predictedText({ ...SLO, predicted: null })).toBeUndefined();
  expect(replicasText(SLO)).toBe('2 now, 3 needed');
  expect(replicasText({ ...SLO, replicas: { now: 1, needed: null, at_rate: null } })).toBe(
    '1 now, unknown how many are needed',
  );
});

describe('the load at the peak', () => {
  it('is spread over the instances', () => expect(peakLoad(SLO, workload(6.4))).toBe(3.2));

  it('is at least that of one request', () => expect(peakLoad(SLO, workload(0.3))).toBe(1));

  it('is null without requests or instances', () => {
    expect(peakLoad(SLO, workload(null))).toBeNull();
    expect(peakLoad({ replicas: { now: 0, needed: null, at_rate: null } }, workload(4))).toBeNull();
  });
});

describe('the curve', () => {
  it('rises by load, and is described in words', () => {
    const curve = curveOf(SLO, workload(6.4));
    expect(curve.points).toEqual([
      { load: 1.19, value: 106, low: 95, high: 118 },
      { load: 3.36, value: 1110, low: 1050, high: null },
    ]);
    expect(curve).toMatchObject({
      title: 'ttft_ms p95 by load',
      unit: 'ms, by requests in flight on an instance',
      limit: { value: 500, label: 'limit 500 ms' },
      peak: { value: 3.2, label: 'load at the peak 3.2' },
    });
    expect(curve.description).toBe(
      'ttft_ms p95 by load: 106 ms (95 to 118 ms), 90 samples at load 1.19; 1,110 ms (at least 1,050 ms), 812 samples at load 3.36; limit 500 ms; load at the peak 3.2',
    );
  });

  it('has shares in percent, and no mark for an unknown load', () => {
    const point = { load: 1, n: 50, value: 0.01, low: 0.005, high: 0.02 };
    const rate = { ...SLO, metric: 'error_rate' as const, stat: 'rate' as const, threshold: 0.05, curve: [point] };
    const { points, limit, peak, unit } = curveOf(rate, workload(null));
    expect(points).toEqual([{ load: 1, value: 1, low: 0.5, high: 2 }]);
    expect([limit, peak, unit]).toEqual([
      { value: 5, label: 'limit 5 %' },
      null,
      '%, by requests in flight on an instance',
    ]);
  });
});

it('compares the declared workload with the observed one', () =>
  expect(workloadRows(workload(6.4))).toEqual([
    { name: 'Requests per second', declared: '8', observed: '8.13', isMoved: false },
    { name: 'Requests in progress', declared: '–', observed: '6.4', isMoved: false },
    { name: 'Input tokens, p95', declared: '400', observed: '900', isMoved: true },
    { name: 'Output tokens, p95', declared: '–', observed: '–', isMoved: false },
  ]));
