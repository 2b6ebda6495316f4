import { expect, it } from '@jest/globals';
import {
  emptyCounts,
  emptyHistogram,
  emptyLoads,
  HistogramRecorder,
  histogramsOf,
  type AttemptCounts,
  type RequestStats,
} from '@slipway/dataplane';
import { availabilityOf, performanceOf, type BindingHealth } from './product-measurements.js';

const counts = (ok = 0, server_error = 0, more: Partial<AttemptCounts> = {}): AttemptCounts => ({
  ...emptyCounts(),
  ok,
  server_error,
  ...more,
});
const sight = (more: Partial<BindingHealth> = {}): BindingHealth => ({
  weight: 1,
  priority: 0,
  canServe: true,
  recent: counts(),
  ...more,
});

it.each<[string, BindingHealth[], string]>([
  ['one that can serve and was not asked', [sight()], 'available'],
  ['one that serves well', [sight({ recent: counts(100, 1) })], 'available'],
  ['too few failures to say anything', [sight({ recent: counts(0, 4) })], 'available'],
  ['one in ten failed', [sight({ recent: counts(90, 10) })], 'degraded'],
  ['nearly everything failed', [sight({ recent: counts(1, 99) })], 'unavailable'],
  ['one in ten found it overloaded', [sight({ recent: counts(90, 0, { overloaded: 10 }) })], 'degraded'],
  [
    'another one served what was overloaded',
    [sight({ recent: counts(90, 0, { overloaded: 10, overloaded_retried: 10 }) })],
    'available',
  ],
  ['one in ten waited in vain', [sight({ recent: counts(90, 0, { abandoned: 10 }) })], 'degraded'],
  ['all clients waited in vain', [sight({ recent: counts(0, 0, { abandoned: 10 }) })], 'unavailable'],
  ['clients make mistakes', [sight({ recent: counts(50, 0, { client_error: 50 }) })], 'available'],
  ['nobody can serve', [sight({ canServe: false })], 'unavailable'],
  ['the preferred one is away, the reserve serves', [sight({ canServe: false }), sight({ priority: 1 })], 'degraded'],
  ['the reserve is away', [sight(), sight({ priority: 1, canServe: false })], 'available'],
  ['only a dark one can serve', [sight({ canServe: false }), sight({ weight: 0 })], 'unavailable'],
])('the availability follows from the bindings: %s', (_case, sights, expected) => {
  expect(availabilityOf(sights)).toBe(expected);
});

function stats(ttft: number[], speed: number[]): RequestStats {
  const of = (values: number[]) => {
    const recorder = new HistogramRecorder();
    for (const value of values) recorder.record(value);
    return recorder.snapshot();
  };
  return {
    counts: counts(ttft.length + speed.length),
    streamed: ttft.length,
    tokens_in: 0,
    tokens_out: 0,
    ...histogramsOf(() => emptyHistogram()),
    ttft_ms: of(ttft),
    output_tokens_per_s: of(speed),
    loads: emptyLoads(),
  };
}

it('performance is measured over all bindings, and null if nothing was measured', () => {
  expect(performanceOf([stats([], [])])).toBeNull();
  expect(performanceOf([stats([], [50])])).toMatchObject({ ttft_ms: null });
  const both = performanceOf([stats(Array(19).fill(100), [20]), stats([1000], [20])]);
  expect(both!.ttft_ms!.p50).toBeCloseTo(100, -1);
  expect(both!.ttft_ms!.p95).toBeLessThan(200);
  expect(both!.output_tokens_per_s).toBeCloseTo(20, 0);
});
