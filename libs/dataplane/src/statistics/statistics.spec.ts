import { expect, it } from '@jest/globals';
import type { Distribution } from '@slipway/contracts';
import { HistogramRecorder, emptyHistogram } from './histogram.js';
import { emptyLoads } from './load.js';
import { histogramsOf, type RequestStats } from './stats.query.js';
import { kindestValue, readMetric, normalQuantile } from './statistics.js';

function stats(metrics: Partial<Record<Distribution, number[]>>): RequestStats {
  const histogram = (values: number[] = []) => {
    const recorder = new HistogramRecorder();
    for (const value of values) recorder.record(value);
    return values.length > 0 ? recorder.snapshot() : emptyHistogram();
  };
  return {
    counts: {
      ok: 80,
      client_error: 7,
      overloaded: 10,
      server_error: 8,
      connect_error: 2,
      abandoned: 6,
      cancelled: 5,
      retried: 3,
      overloaded_retried: 4,
    },
    streamed: 0,
    tokens_in: 0,
    tokens_out: 0,
    ...histogramsOf((metric) => histogram(metrics[metric])),
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
  expect(readMetric('error_rate', 'rate', stats({}))).toEqual({ samples: 100, value: 7 / 100 });
});

it('counts each outcome that clients saw once', () => {
  expect(readMetric('client_error_rate', 'rate', stats({}))).toEqual({ samples: 100, value: 7 / 100 });
  // Another attempt followed four of the answers of an overloaded engine.
  expect(readMetric('overloaded_rate', 'rate', stats({}))).toEqual({ samples: 100, value: 6 / 100 });
  expect(readMetric('abandoned_rate', 'rate', stats({}))).toEqual({ samples: 106, value: 6 / 106 });
});

it('counts one sample for each value of a distribution', () => {
  expect(readMetric('itl_ms', 'avg', stats({ itl_ms: around(20) })).samples).toBe(200);
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
