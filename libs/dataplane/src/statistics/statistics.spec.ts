import { expect, it } from '@jest/globals';
import { HistogramRecorder, emptyHistogram } from './histogram.js';
import { emptyLoads } from './load.js';
import type { RequestStats } from './stats.query.js';
import { kindestValue, readMetric, normalQuantile } from './statistics.js';

function stats(
  metrics: Partial<Record<'ttft_ms' | 'itl_ms' | 'output_tokens_per_s', number[]>>,
  streamed = 0,
): RequestStats {
  const histogram = (values: number[] = []) => {
    const recorder = new HistogramRecorder();
    for (const value of values) recorder.record(value);
    return values.length > 0 ? recorder.snapshot() : emptyHistogram();
  };
  return {
    counts: { ok: 90, client_error: 7, server_error: 8, connect_error: 2, cancelled: 5, retried: 3 },
    streamed,
    tokens_in: 0,
    tokens_out: 0,
    ttft_ms: histogram(metrics.ttft_ms),
    itl_ms: histogram(metrics.itl_ms),
    e2e_latency_ms: emptyHistogram(),
    output_tokens_per_s: histogram(metrics.output_tokens_per_s),
    loads: emptyLoads(),
  };
}

const around = (center: number) => Array.from({ length: 200 }, (_, i) => center * (0.9 + i / 1_000));

it('computes the quantiles of the normal distribution', () => {
  for (const [p, z] of [
    [0.5, 0],
    [0.9, 1.2816],
    [0.95, 1.6449],
    [0.975, 1.96],
    [0.999, 3.0902],
  ] as const)
    expect(Math.abs(normalQuantile(p) - z)).toBeLessThan(0.0005);
});

it('counts only failures of the revision, among the requests that it got', () => {
  expect(readMetric('upstream_fault_rate', 'rate', stats({}))).toEqual({ samples: 107, value: 10 / 107 });
  // Three of the failures were repaired by another attempt, and no client saw them.
  expect(readMetric('error_rate', 'rate', stats({}))).toEqual({ samples: 104, value: 7 / 104 });
});

it('counts one sample per stream if the values of a stream depend on each other', () => {
  const values = stats({ itl_ms: around(20), ttft_ms: around(20) }, 4);
  expect(readMetric('itl_ms', 'avg', values).samples).toBe(4);
  expect(readMetric('ttft_ms', 'avg', values).samples).toBe(200);
});

it.each([
  ['ttft_ms', 'lower'],
  ['output_tokens_per_s', 'higher'],
] as const)('moves the kindest value of %s in the direction that is better: %s', (metric, better) => {
  const values = stats({ [metric]: around(100) });
  for (const stat of ['avg', 'p50', 'p95'] as const) {
    const kind = kindestValue(metric, stat, values, 0.95)!;
    const plain = readMetric(metric, stat, values).value!;
    expect(better === 'higher' ? kind > plain : kind < plain).toBe(true);
  }
});
