import { describe, expect, it } from '@jest/globals';
import {
  emptyCounts,
  emptyHistogram,
  emptyLoads,
  HistogramRecorder,
  histogramsOf,
  type RequestStats,
} from '@slipway/dataplane';
import { DISTRIBUTIONS } from '@slipway/contracts';
import { confidenceOf, judge, overall } from './analysis.js';
import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';

function stats(options: { ok?: number; failed?: number; ttft?: number[] } = {}): RequestStats {
  const ttft = new HistogramRecorder();
  for (const value of options.ttft ?? []) ttft.record(value);
  return alone({
    counts: { ...emptyCounts(), ok: options.ok ?? options.ttft?.length ?? 0, server_error: options.failed ?? 0 },
    streamed: options.ttft?.length ?? 0,
    tokens_in: 0,
    tokens_out: 0,
    ...histogramsOf(() => emptyHistogram()),
    ttft_ms: ttft.snapshot(),
    loads: emptyLoads(),
  });
}

/** Adds the load of one instance on which each request was alone. */
function alone(stats: RequestStats): RequestStats {
  const loads = { ...emptyLoads(), instances: 1 };
  for (const name of DISTRIBUTIONS) loads.histograms[name] = { 0: stats[name] };
  return { ...stats, loads };
}

/** Values close to `center`. */
function around(center: number, samples = 100) {
  const recorder = new HistogramRecorder();
  for (let index = 0; index < samples; index += 1) recorder.record(center * (0.9 + (0.2 * index) / samples));
  return recorder.snapshot();
}

function metric(values: Partial<AnalysisMetricDto>): AnalysisMetricDto {
  return {
    name: 'error_rate',
    check: 'threshold',
    min_samples: 50,
    failure_limit: 0,
    dry_run: false,
    ...values,
  } as AnalysisMetricDto;
}

describe('a threshold check', () => {
  const errors = metric({ threshold: 0.05 });

  it('passes within and breaches beyond the threshold', () => {
    expect(judge(errors, stats({ ok: 96, failed: 4 }), undefined)).toMatchObject({
      verdict: 'pass',
      candidate: { value: 0.04, samples: 100 },
    });
    expect(judge(errors, stats({ ok: 94, failed: 6 }), undefined)).toMatchObject({
      verdict: 'breached',
      limit: 0.05,
      baseline: null,
    });
  });

  it('never passes without samples, and is inconclusive with too few', () => {
    expect(judge(errors, stats(), undefined).verdict).toBe('unavailable');
    expect(judge(errors, stats({ ok: 49 }), undefined).verdict).toBe('inconclusive');
    expect(judge(errors, stats({ ok: 50 }), undefined).verdict).toBe('pass');
    expect(judge(metric({ name: 'ttft_ms', threshold: 100 }), stats({ ok: 500 }), undefined).verdict).toBe(
      'unavailable',
    );
  });
});

describe('failures and samples', () => {
  const counted = (counts: Partial<RequestStats['counts']>) => {
    const one = stats();
    return judge(
      metric({ threshold: 0.5, min_samples: 1 }),
      { ...one, counts: { ...one.counts, ...counts } },
      undefined,
    ).candidate;
  };

  it('counts a failed connection as a failure, but not a client error or a client that disconnected', () => {
    expect(counted({ ok: 6, connect_error: 2 })).toEqual({ value: 0.25, samples: 8 });
    expect(counted({ ok: 6, server_error: 2 })).toEqual({ value: 0.25, samples: 8 });
    expect(counted({ ok: 6, client_error: 2 })).toEqual({ value: 0, samples: 8 });
    expect(counted({ ok: 6, cancelled: 2 })).toEqual({ value: 0, samples: 6 });
    // A retry succeeded, and the client saw only that attempt.
    expect(counted({ ok: 6, connect_error: 1, retried: 1 })).toEqual({ value: 0, samples: 6 });
  });

  it('takes the direction from the metric, unless the check names an operator', () => {
    const tokens = (value: number) => alone({ ...stats(), output_tokens_per_s: around(value) });
    const check = metric({ name: 'output_tokens_per_s', stat: 'avg', threshold: 50 });
    expect([judge(check, tokens(60), undefined).verdict, judge(check, tokens(40), undefined).verdict]).toEqual([
      'pass',
      'breached',
    ]);
    expect(judge({ ...check, operator: 'lte' }, tokens(40), undefined).verdict).toBe('pass');
    const regression = metric({ name: 'output_tokens_per_s', check: 'regression', max_regression_percent: 20 });
    expect(judge(regression, tokens(40), tokens(100)).verdict).toBe('breached');
    expect(judge(regression, tokens(100), tokens(40)).verdict).toBe('pass');
  });
});

describe('a regression check', () => {
  const errors = metric({ check: 'regression', max_regression_percent: 50 });

  it('needs a baseline with enough samples', () => {
    expect(judge(errors, stats({ ok: 100 }), undefined).verdict).toBe('unavailable');
    expect(judge(errors, stats({ ok: 100 }), stats({ ok: 20 })).verdict).toBe('inconclusive');
  });

  it('breaches if the regression is certain, not if it may be chance', () => {
    expect(judge(errors, stats({ ok: 160, failed: 40 }), stats({ ok: 1990, failed: 10 })).verdict).toBe('breached');
    expect(judge(errors, stats({ ok: 198, failed: 2 }), stats({ ok: 199, failed: 1 })).verdict).toBe('pass');
  });

  it('detects a time to first token that is three times as long', () => {
    const spread = (center: number) => Array.from({ length: 100 }, (_, i) => center * (0.8 + (0.4 * i) / 100));
    const slower = judge(
      metric({ name: 'ttft_ms', check: 'regression', max_regression_percent: 50 }),
      stats({ ttft: spread(150) }),
      stats({ ttft: spread(50) }),
    );
    expect(slower.verdict).toBe('breached');
    expect(slower.regression_percent).toBeGreaterThan(180);
    expect(slower.regression_bound_percent).toBeLessThan(slower.regression_percent as number);
  });
});

describe('a comparison by load', () => {
  const check = metric({ name: 'ttft_ms', check: 'regression', max_regression_percent: 20 });
  const spread = (center: number, n: number) => Array.from({ length: n }, (_, i) => center * (0.8 + (0.4 * i) / n));
  const unknown = (one: RequestStats) => ({ ...one, loads: emptyLoads() });

  it('is not comparable and never passes if a load is unknown or the other side never had it', () => {
    const busy = stats({ ttft: spread(100, 2_000) });
    busy.loads.histograms.ttft_ms = { 9: busy.ttft_ms };
    for (const baseline of [busy, unknown(busy)]) {
      const found = judge(check, stats({ ttft: spread(50, 100) }), baseline);
      expect(found).toMatchObject({
        verdict: 'not_comparable',
        regression_percent: null,
        compared: { basis: null, candidate: null, baseline: null },
      });
      expect(overall([found, { verdict: 'pass', dry_run: false }])).toBe('not_comparable');
      expect(overall([found, { verdict: 'inconclusive', dry_run: false }])).toBe('not_comparable');
    }
    expect(judge(check, stats({ ttft: spread(50, 100) }), busy).compared).toMatchObject({
      traffic_ratio: 0.05,
      loads: [
        { load: 1, candidate: 100, baseline: 0 },
        { load: 19.027, candidate: 0, baseline: 2_000 },
      ],
    });
  });

  it('reports the compared numbers if both sides had the same load', () => {
    const found = judge(check, stats({ ttft: spread(52, 400) }), stats({ ttft: spread(50, 4_000) }));
    expect(found).toMatchObject({
      verdict: 'pass',
      confidence: 0.99,
      compared: { basis: 'equal_load', traffic_ratio: 0.1, candidate: { samples: 400 }, baseline: { samples: 4_000 } },
    });
    expect(found.regression_upper_percent).toBeLessThan(20);
  });
});

describe('a candidate that is certainly worse, but perhaps within the limit', () => {
  it('does not pass, so that a person or more traffic decides', () => {
    const check = metric({ name: 'ttft_ms', stat: 'p50', check: 'regression', max_regression_percent: 20 });
    const spread = (center: number) => Array.from({ length: 200 }, (_, i) => center * (0.7 + (0.6 * i) / 200));
    const found = judge(check, stats({ ttft: spread(61) }), stats({ ttft: spread(50) }));
    expect(found).toMatchObject({ verdict: 'inconclusive' });
    expect(found.regression_bound_percent).toBeGreaterThan(0);
    expect(found.regression_bound_percent).toBeLessThan(20);
    expect(
      judge({ ...check, max_regression_percent: 50 }, stats({ ttft: spread(61) }), stats({ ttft: spread(50) })).verdict,
    ).toBe('pass');
  });
});

it('divides the chance of a false alarm between all planned checks and metrics', () => {
  expect(confidenceOf({ looks: 1, metrics: 1 })).toBeCloseTo(0.99, 5);
  expect(confidenceOf({ looks: 4, metrics: 1 })).toBeCloseTo(0.9975, 5);
  expect(confidenceOf({ looks: 4, metrics: 2 })).toBeCloseTo(0.99875, 5);
  expect(confidenceOf({ looks: 0, metrics: 0 })).toBeCloseTo(0.99, 5);
});

/** A small deterministic generator, so that the measured rates are the same in every run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('the measured rates of wrong verdicts, as docs/judging-a-canary.md states them', () => {
  const ROUNDS = 400;
  const next = random(20261121);
  const failures = (n: number, rate: number) =>
    Array.from({ length: n }, () => (next() < rate ? 1 : 0)).reduce<number>((sum, one) => sum + one, 0);
  const latencies = (n: number, median: number) =>
    Array.from({ length: n }, () => median * Math.exp(0.4 * gaussian(next)));
  const share = (check: () => boolean) => Array.from({ length: ROUNDS }, check).filter(Boolean).length / ROUNDS;

  it('error rate: at most 6 % false alarms at the limit itself, at most 5 % misses at six times the limit', () => {
    const check = metric({ check: 'regression', max_regression_percent: 100 });
    const sample = (n: number, rate: number) => {
      const failed = failures(n, rate);
      return stats({ ok: n - failed, failed });
    };
    expect(share(() => judge(check, sample(200, 0.04), sample(1000, 0.02)).verdict === 'breached')).toBeLessThan(0.06);
    expect(share(() => judge(check, sample(200, 0.24), sample(1000, 0.02)).verdict === 'pass')).toBeLessThan(0.05);
  });

  it('time to first token, p95: at most 6 % false alarms at the limit, at most 5 % misses at twice the limit', () => {
    const check = metric({ name: 'ttft_ms', stat: 'p95', check: 'regression', max_regression_percent: 20 });
    expect(
      share(
        () =>
          judge(check, stats({ ttft: latencies(200, 120) }), stats({ ttft: latencies(1000, 100) })).verdict ===
          'breached',
      ),
    ).toBeLessThan(0.06);
    expect(
      share(
        () =>
          judge(check, stats({ ttft: latencies(200, 240) }), stats({ ttft: latencies(1000, 100) })).verdict === 'pass',
      ),
    ).toBeLessThan(0.05);
  });

  it('mean: at most 8 % false alarms at the limit', () => {
    const check = metric({ name: 'ttft_ms', stat: 'avg', check: 'regression', max_regression_percent: 20 });
    expect(
      share(
        () =>
          judge(check, stats({ ttft: latencies(200, 120) }), stats({ ttft: latencies(1000, 100) })).verdict ===
          'breached',
      ),
    ).toBeLessThan(0.08);
  });
});

describe('time per output token, with a limit of 10 %', () => {
  const check = metric({ name: 'itl_ms', check: 'regression', max_regression_percent: 10 });

  /** Streams of one true speed that put this many tokens into an event, measured from the first event to the last. */
  function streams(next: () => number, { tokenMs, eventTokens }: { tokenMs: number; eventTokens: number }) {
    const itl = new HistogramRecorder();
    for (let stream = 0; stream < 300; stream += 1) {
      const events = 8 + Math.floor(next() * 16);
      const tokens = (events - 1) * eventTokens;
      let ms = 0;
      for (let token = 0; token < tokens; token += 1) ms += tokenMs * Math.exp(0.3 * gaussian(next));
      itl.record(ms / tokens);
    }
    return alone({ ...stats({ ok: 300 }), itl_ms: itl.snapshot() });
  }
  const verdicts = (candidate: { tokenMs: number; eventTokens: number }) =>
    Array.from({ length: 20 }, (_, seed) => {
      const next = random(1_000 + seed);
      const baseline = streams(next, { tokenMs: 20, eventTokens: 4 });
      return judge(check, streams(next, candidate), baseline).verdict;
    });

  it.each([4, 3, 6])('passes an engine of the same speed that puts %s tokens into an event', (eventTokens) =>
    expect(new Set(verdicts({ tokenMs: 20, eventTokens }))).toEqual(new Set(['pass'])),
  );

  it.each([1, 4, 16])('stops an engine of half the speed that puts %s tokens into an event', (eventTokens) =>
    expect(new Set(verdicts({ tokenMs: 40, eventTokens }))).toEqual(new Set(['breached'])),
  );
});

function gaussian(next: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
}

describe('a regression that may be that of a few callers', () => {
  /** @param byCaller requests of each caller, and those that failed and that the client left */
  const called = (byCaller: [requests: number, failed: number, left: number][], one = stats()): RequestStats => {
    const sum = (at: 0 | 1 | 2) => byCaller.reduce((total, caller) => total + caller[at], 0);
    const counts = { ...emptyCounts(), ok: sum(0) - sum(1) - sum(2), server_error: sum(1), abandoned: sum(2) };
    const callers = Object.fromEntries(byCaller.map(([of, failed, left], at) => [at, [of, failed, 0, 0, left]]));
    return { ...one, counts, callers: callers as RequestStats['callers'] };
  };
  const many = (count: number, requests: number, failed: number, left = 0) =>
    Array.from({ length: count }, (): [number, number, number] => [requests, failed, left]);
  const errors = metric({ check: 'regression', max_regression_percent: 20 });
  const stable = called(many(20, 100, 1));

  it('is no breach of a rate if two callers have nearly all failures', () => {
    const two = called([...many(18, 20, 0), [20, 20, 0], [20, 20, 0]]);
    expect(judge(errors, two, stable)).toMatchObject({ verdict: 'inconclusive', reason: 'few_callers' });
    const all = judge(errors, called(many(20, 20, 2)), stable);
    expect(all).toMatchObject({ verdict: 'breached' });
    expect(all).not.toHaveProperty('reason');
  });

  it('needs more certainty before the end of a soak', () => {
    const some = called([...many(14, 20, 0), ...many(6, 20, 3)]);
    const chances = { looks: 1, metrics: 1 };
    expect(judge(errors, some, stable, chances).verdict).toBe('breached');
    expect(judge(errors, some, stable, chances, { isEarly: true }).verdict).toBe('inconclusive');
  });

  it('is no breach of a latency if two callers left enough requests to be its slowest ones', () => {
    const latency = metric({ name: 'ttft_ms', stat: 'p95', check: 'regression', max_regression_percent: 20 });
    const values = (left: number) => [
      ...Array.from({ length: 360 - left }, (_, at) => 100 + (at % 10)),
      ...Array.from({ length: left }, () => 8_000),
    ];
    const fast = called(many(18, 20, 0), stats({ ttft: values(0) }));
    const two = called([...many(16, 20, 0), ...many(2, 20, 0, 20)], stats({ ttft: values(40) }));
    expect(judge(latency, two, fast)).toMatchObject({ verdict: 'inconclusive', reason: 'few_callers' });
    const all = called([...many(8, 20, 0, 4), ...many(10, 20, 0)], stats({ ttft: values(40) }));
    expect(judge(latency, all, fast).verdict).toBe('breached');
    // A slow candidate that no client leaves has no such doubt.
    const slow = called(many(18, 20, 0), stats({ ttft: values(0).map((value) => 2 * value) }));
    expect(judge(latency, slow, fast).verdict).toBe('breached');
  });

  it('needs a larger difference of latencies before the end of a soak', () => {
    const latency = metric({ name: 'ttft_ms', stat: 'p95', check: 'regression', max_regression_percent: 20 });
    const spread = (factor: number) =>
      stats({ ttft: Array.from({ length: 200 }, (_, at) => factor * 100 * 1.006 ** at) });
    const bounds = [false, true].map(
      (isEarly) => judge(latency, spread(2), spread(1), undefined, { isEarly }).regression_bound_percent as number,
    );
    expect(bounds[1]).toBeLessThan((bounds[0] as number) - 2);
  });
});
