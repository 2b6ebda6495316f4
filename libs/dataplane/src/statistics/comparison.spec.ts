import { expect, it } from '@jest/globals';
import { DISTRIBUTIONS } from '@slipway/contracts';
import { compare, classifyRegression, type Comparison } from './comparison.js';
import { HistogramRecorder, mergeHistograms, type Histogram } from './histogram.js';
import { emptyLoads } from './load.js';
import { emptyCounts, histogramsOf, type RequestStats } from './stats.query.js';

const E2E = { metric: 'e2e_latency_ms', stat: 'p50', limitPercent: 20, z: 1.645, minSamples: 50 } as const;

/** Returns as many values as `samples`, close to one value. */
function around(center: number, samples = 200): Histogram {
  const recorder = new HistogramRecorder();
  for (let index = 0; index < samples; index += 1) recorder.record(center * (0.9 + (0.2 * index) / samples));
  return recorder.snapshot();
}

/** Returns statistics with these values for every metric, by bucket of load. */
function stats(byLoad: Record<number, Histogram>, { instances = 1, ok = 0 } = {}): RequestStats {
  const all = mergeHistograms(Object.values(byLoad));
  const loads = { ...emptyLoads(), instances };
  for (const metric of DISTRIBUTIONS) loads.histograms[metric] = byLoad;
  return {
    counts: { ...emptyCounts(), ok: ok || all.n },
    streamed: 0,
    tokens_in: 0,
    tokens_out: 0,
    ...histogramsOf(() => all),
    loads,
  };
}

/** Returns statistics with these values for every metric, by parts of the time. */
function sliced(slices: Histogram[], all = stats({ 3: mergeHistograms(slices) })): RequestStats {
  return { ...all, slices: slices.map((slice) => stats({ 3: slice })) };
}

it('compares at equal load if the baseline has more traffic, because the candidate would not have its queues', () => {
  const baseline = stats({ 0: around(10), 5: around(100, 4_000) });
  const found = compare(E2E, stats({ 0: around(13), 5: around(100, 5) }), baseline) as Comparison;
  expect(found).toMatchObject({ basis: 'equal_load', candidate: { samples: 200 }, baseline: { samples: 200 } });
  expect(found.percent).toBeCloseTo(30, -1);
  expect(found.loads).toEqual([{ load: 1, candidate: 200, baseline: 200 }]);
  expect(found.traffic!.ratio).toBeCloseTo(205 / 4_200);
});

it('is certain at any load if the slowest requests of the baseline are faster than the fastest of the candidate', () => {
  const busier = { 3: around(20, 200), 7: around(30, 4_000) };
  const baseline = stats({ 0: around(8), 3: around(10), 5: around(11, 60) }, { ok: 300 });
  const found = compare({ ...E2E, limitPercent: 10 }, stats(busier), baseline) as Comparison;
  expect(found).toMatchObject({ basis: 'any_load', candidate: { samples: 200 }, baseline: { samples: 60 } });
  expect(found.boundPercent).toBeGreaterThan(10);
});

it.each([
  ['the baseline was slower at one load', { 0: around(30), 3: around(10), 5: around(11, 60) }],
  ['the difference may be within the limit', { 0: around(8), 3: around(10), 5: around(19.5, 60) }],
  ['the baseline never had the load of the candidate', { 0: around(8), 1: around(10) }],
])('is not certain at any load if %s', (_case, baseline) => {
  const busier = stats({ 3: around(20, 200), 7: around(30, 4_000) });
  expect(compare({ ...E2E, limitPercent: 10 }, busier, stats(baseline, { ok: 300 }))).toMatchObject({ basis: null });
});

it('weighs each load of the baseline as the candidate had it', () => {
  const candidate = stats({ 1: around(10, 300), 3: around(40, 100) });
  const found = compare({ ...E2E, stat: 'avg' }, candidate, stats({ 1: around(10, 300), 3: around(40, 2_700) }));
  expect((found as Comparison).percent).toBeCloseTo(0, 0);
  expect((found as Comparison).baseline.value).toBeCloseTo(17.5, 0);
});

it.each([
  ['no load in common', stats({ 0: around(10) }), stats({ 7: around(10, 4_000) })],
  [
    'most of the candidate beyond what is in common',
    stats({ 0: around(10, 90), 1: around(10, 110) }),
    stats({ 0: around(10, 4_000) }),
  ],
  ['too few of the baseline in common', stats({ 0: around(10) }), stats({ 0: around(10, 49), 7: around(10, 4_000) })],
  [
    'a load that an old gateway did not tell',
    stats({ 0: around(10) }),
    { ...stats({ 0: around(10) }), loads: emptyLoads() },
  ],
])('is not comparable with %s', (_what, candidate, baseline) => {
  expect(compare(E2E, candidate, baseline)).toMatchObject({ basis: null });
});

it('needs no buckets if each instance got as much traffic', () => {
  // Three times as slow, so three times as many in flight at once: no load in common, but still fair.
  const slow = stats({ 5: around(30, 300) });
  expect(compare(E2E, slow, stats({ 2: around(10, 300) }))).toMatchObject({ basis: 'equal_traffic' });
  const three = stats({ 2: around(10, 900) }, { instances: 3 });
  const found = compare(E2E, slow, three) as Comparison;
  expect([found.basis, found.boundPercent > 150]).toEqual(['equal_traffic', true]);
});

it('blames no queue on a candidate that got a little more traffic, unless it is slower at equal load', () => {
  const queued = { 0: around(10, 20), 7: around(90, 400) };
  const busy = (ok: number) => stats(queued, { ok });
  const idle = stats({ 0: around(10, 400), 1: around(12, 20) }, { ok: 1_000 });
  expect(compare(E2E, busy(1_050), idle)).toMatchObject({ basis: null });
  expect(compare(E2E, busy(1_000), idle)).toMatchObject({ basis: 'equal_traffic' });
  // The few requests at loads that both had show that it is slower.
  const slow = stats({ 0: around(30, 60), 7: around(90, 400) }, { ok: 1_050 });
  expect(compare(E2E, slow, idle)).toMatchObject({ basis: 'equal_load', candidate: { samples: 60 } });
  // They never show that it is as good.
  const some = stats({ 0: around(10, 60), 7: around(90, 400) }, { ok: 1_050 });
  expect(compare(E2E, some, idle)).toMatchObject({ basis: null });
});

it('lets no value of the baseline count for more than four of the candidate', () => {
  const candidate = stats({ 1: around(10, 400), 5: around(40, 300) }, { ok: 700 });
  const loadsOf = (queued: number) => {
    const baseline = stats({ 1: around(10, 400), 5: around(25, queued) }, { ok: 2_000 });
    return (compare({ ...E2E, limitPercent: 300 }, candidate, baseline) as Comparison).loads.map((one) => one.baseline);
  };
  expect([loadsOf(75), loadsOf(74)]).toEqual([[400, 75], [400]]);
});

it('detects a regression that less traffic does not excuse, and an improvement despite more traffic', () => {
  const busy = stats({ 7: around(20, 4_000) });
  expect(compare(E2E, stats({ 5: around(40) }), busy)).toMatchObject({ basis: 'less_traffic' });
  // Faster with less traffic proves nothing, and neither does slower with more.
  expect(compare(E2E, stats({ 5: around(10) }), busy)).toMatchObject({ basis: null });
  expect(compare(E2E, busy, stats({ 5: around(40) }))).toMatchObject({ basis: 'more_traffic' });
  expect(compare(E2E, busy, stats({ 5: around(10) }))).toMatchObject({ basis: null });
});

it('is less sure if slow values occurred together, because requests in one queue are not independent evidence', () => {
  const fast = around(10, 20);
  const slow = around(40, 20);
  const cut = ({ n, ...one }: Histogram, by: number): Histogram => ({
    n: n / by,
    sum: one.sum / by,
    sq: one.sq / by,
    b: Object.fromEntries(Object.entries(one.b).map(([bucket, count]) => [bucket, count / by])),
  });
  const together = sliced([...Array.from({ length: 18 }, () => fast), slow, slow]);
  const apart = sliced(Array.from({ length: 20 }, () => mergeHistograms([cut(fast, 20 / 18), cut(slow, 10)])));
  for (const stat of ['avg', 'p90'] as const) {
    const boundOf = (one: RequestStats) => (compare({ ...E2E, stat }, one, one) as Comparison).boundPercent;
    const { slices: _unknown, ...counted } = together;
    expect(boundOf(apart)).toBeCloseTo(boundOf(counted));
    expect(boundOf(together)).toBeLessThan(boundOf(apart) - 5);
  }
});

it('is less sure if slow slices follow each other, because a queue may outlast a slice', () => {
  const boundOf = (isSlow: (index: number) => boolean, stat: 'avg' | 'p90') => {
    const all = sliced(Array.from({ length: 20 }, (_, index) => around(isSlow(index) ? 40 : 10, 20)));
    return (compare({ ...E2E, stat }, all, all) as Comparison).boundPercent;
  };
  for (const stat of ['avg', 'p90'] as const) {
    const scattered = boundOf((index) => index % 5 === 0, stat);
    expect(boundOf((index) => index < 4, stat)).toBeLessThan(scattered - 5);
  }
});

it('is less sure at equal load, too, if slow values occurred together', () => {
  const of = (count: number, isQueued: (index: number) => boolean) => {
    const queues = Array.from({ length: 20 }, (_, index) => around(isQueued(index) ? 60 : 10, count));
    return sliced(queues, stats({ 3: around(10, 10 * count), 5: around(60, 10 * count) }));
  };
  const boundOf = (isQueued: (index: number) => boolean) => {
    const found = compare({ ...E2E, stat: 'avg' }, of(20, isQueued), of(60, isQueued)) as Comparison;
    expect(found.basis).toBe('equal_load');
    return found.boundPercent;
  };
  expect(boundOf((index) => index < 10)).toBeLessThan(boundOf((index) => index % 2 === 0) - 5);
});

it('compares at equal load if a candidate of equal traffic is beyond the limit and queues may be the cause', () => {
  const sideOf = (factor: number, queues: readonly number[]) => {
    const slices = queues.map((queue) => stats({ 0: around(10 * factor, 20), 5: around(60 * factor, queue) }));
    const all = stats({ 0: around(10 * factor, 400), 5: around(60 * factor, sum(queues)) }, { ok: 600 });
    return { ...all, slices };
  };
  const sum = (some: readonly number[]) => some.reduce((total, one) => total + one, 0);
  // Occasional long queues: two more of them are no evidence against the candidate, but its requests at equal load are.
  const queues = (long: number) => Array.from({ length: 20 }, (_, index) => (index % 10 < long ? 30 : 1));
  const baseline = sideOf(1, queues(2));
  const mean = { ...E2E, stat: 'avg' } as const;
  const same = compare(mean, sideOf(1, queues(4)), baseline) as Comparison;
  expect([same.basis, same.percent > 20, classifyRegression(same, 20)]).toEqual(['equal_traffic', true, 'within']);
  const slower = compare(mean, sideOf(1.3, queues(2)), baseline) as Comparison;
  expect([slower.basis, classifyRegression(slower, 20)]).not.toEqual(['equal_traffic', 'within']);
  expect(slower.percent).toBeCloseTo(30, -1);
});

it('corrects for long requests that were joined and so left the alone bucket, while the correction is small', () => {
  const joinedBy = (joined: number, long: number, others: Record<number, Histogram>) => {
    const alone = mergeHistograms([around(10, 500), around(20, long)]);
    const one = stats({ 0: alone, ...others });
    return { ...one, loads: { ...one.loads, alone_ms: 1_000, joined } };
  };
  // Of those that take 20 ms, exp(0.1 · 10) times as many were joined as of those that take 10.
  const percentOf = (metric: 'e2e_latency_ms' | 'itl_ms', joined: number) => {
    const baseline = joinedBy(joined, 184, { 7: around(90, 4_000) });
    const found = compare({ ...E2E, metric, stat: 'avg' }, joinedBy(0, 500, {}), baseline);
    return found && 'percent' in found ? found.percent : null;
  };
  expect(Math.abs(percentOf('e2e_latency_ms', 100) as number)).toBeLessThan(3);
  expect(percentOf('e2e_latency_ms', 200)).toBeNull();
});

it('treats the same change as a regression of one metric and an improvement of another', () => {
  const doubled = (metric: 'ttft_ms' | 'output_tokens_per_s') =>
    compare({ ...E2E, metric }, stats({ 0: around(200) }), stats({ 0: around(100) })) as Comparison;
  expect(doubled('ttft_ms').percent).toBeCloseTo(100, -1);
  expect(doubled('output_tokens_per_s').percent).toBeCloseTo(-50, -1);
  for (const metric of ['ttft_ms', 'output_tokens_per_s'] as const) {
    expect(doubled(metric).boundPercent).toBeLessThan(doubled(metric).percent);
    expect(doubled(metric).upperPercent).toBeGreaterThan(doubled(metric).percent);
  }
  expect(compare(E2E, stats({ 0: around(1) }), stats({}))).toBeNull();
});

it('counts failures at any load, and does not take zero failures as proof of none', () => {
  const failing = (failed: number, ok: number) => {
    const one = stats({}, { ok });
    return { ...one, counts: { ...one.counts, server_error: failed } };
  };
  const rate = { ...E2E, metric: 'error_rate', stat: 'rate' } as const;
  expect((compare(rate, failing(0, 100), failing(0, 1_900)) as Comparison).boundPercent).toBeLessThan(0);
  expect(compare(rate, failing(30, 70), failing(10, 1_900))).toMatchObject({ basis: 'counts' });
  expect((compare(rate, failing(30, 70), failing(10, 1_900)) as Comparison).boundPercent).toBeGreaterThan(1_000);
});

it('classifies a regression as certain, or as unsure', () => {
  expect(classifyRegression({ boundPercent: 21, upperPercent: 60 }, 20)).toBe('beyond');
  expect(classifyRegression({ boundPercent: 5, upperPercent: 25 }, 20)).toBe('unsure');
  expect(classifyRegression({ boundPercent: 5, upperPercent: 19 }, 20)).toBe('within');
  expect(classifyRegression({ boundPercent: -5, upperPercent: 60 }, 20)).toBe('within');
});
