import { describe, expect, it } from '@jest/globals';
import {
  emptyCounts,
  emptyHistogram,
  emptyLoads,
  HistogramRecorder,
  histogramsOf,
  mergeHistograms,
  type AttemptCounts,
  type Callers,
  type Histogram,
  type RequestStats,
} from '@slipway/dataplane';
import { GUARDS, judgeGuard, type GuardName, type GuardQuestion, type GuardResult } from './guards.js';

const CHANCES = { looks: 4, metrics: 4 };
/** Each outcome, by the count and the column of callers that has it. */
const OUTCOMES = [
  ['failed', 'error_rate', 'server_error', 1],
  ['client_error', 'client_error_rate', 'client_error', 2],
  ['overloaded', 'overloaded_rate', 'overloaded', 3],
  ['abandoned', 'abandoned_rate', 'abandoned', 4],
] as const;
type Outcome = (typeof OUTCOMES)[number];

/** @param byCaller for each caller, all its requests and those with the outcome */
function stats([, , count, column]: Outcome, byCaller: [requests: number, events: number][]): RequestStats {
  const events = byCaller.reduce((sum, one) => sum + one[1], 0);
  const all = byCaller.reduce((sum, one) => sum + one[0], 0);
  const callers: Callers = Object.fromEntries(
    byCaller.map(([requests, some], bucket) => {
      const counts: Callers[string] = [requests, 0, 0, 0, 0];
      counts[column] = some;
      return [String(bucket), counts];
    }),
  );
  const left = column === 4 ? { waits: { left: waitsOf(events, 30_000), waiting: emptyHistogram() } } : {};
  return { ...statsOf({ ok: all - events, [count]: events }), callers, ...left };
}

function statsOf(counts: Partial<AttemptCounts>): RequestStats {
  return {
    counts: { ...emptyCounts(), ...counts },
    streamed: 0,
    tokens_in: 0,
    tokens_out: 0,
    ...histogramsOf(() => emptyHistogram()),
    loads: { ...emptyLoads(), instances: 1 },
  };
}

function waitsOf(count: number, ms: number): Histogram {
  const recorder = new HistogramRecorder();
  if (count > 0) recorder.record(ms, count);
  return recorder.snapshot();
}

const callers = (count: number, requests: number, events: number) =>
  Array.from({ length: count }, (): [number, number] => [requests, events]);

function judge(name: GuardName, candidate: RequestStats, more: Partial<GuardQuestion> = {}): GuardResult {
  const guard = GUARDS.find((one) => one.name === name)!;
  return judgeGuard(guard, {
    candidate,
    isStableReady: true,
    isPausedWithoutRequests: true,
    chances: CHANCES,
    ...more,
  });
}
const stable = (stats: RequestStats, basis: 'same_time' | 'earlier' = 'same_time') => ({ stable: { stats, basis } });

describe.each(OUTCOMES)('requests that are %s', (...outcome) => {
  const [, name] = outcome;
  const good = stable(stats(outcome, callers(20, 50, 0)));

  it.each([
    ['all', callers(10, 20, 20)],
    ['60 %', callers(10, 20, 12)],
    ['15 %', callers(10, 40, 6)],
    ['all of three callers', callers(3, 10, 10)],
  ])('stop a candidate that has %s of them', (_share, byCaller) => {
    expect(judge(name, stats(outcome, byCaller), good)).toMatchObject({ verdict: 'breached', basis: 'same_time' });
    expect(judge(name, stats(outcome, byCaller))).toMatchObject({ verdict: 'breached', basis: 'threshold' });
  });

  it('do not stop a candidate that has few, or as many as the stable revision', () => {
    expect(judge(name, stats(outcome, callers(10, 20, 0)), good).verdict).toBe('pass');
    expect(judge(name, stats(outcome, callers(10, 40, 1)), good).verdict).toBe('pass');
    for (const events of [1, 2, 4, 8, 20])
      expect([
        events,
        judge(name, stats(outcome, callers(10, 20, events)), stable(stats(outcome, callers(20, 20, events)))).verdict,
      ]).toEqual([events, 'pass']);
  });

  it.each([
    ['one caller', [...callers(1, 50, 50), ...callers(10, 20, 0)]],
    ['two callers', [...callers(2, 30, 30), ...callers(10, 20, 0)]],
    ['the only caller', callers(1, 200, 200)],
    ['two callers next to one that is unlucky once', [...callers(2, 30, 30), [20, 1], ...callers(9, 20, 0)]],
  ] as [string, [number, number][]][])('pause a rollout if %s cause the difference', (_who, byCaller) => {
    expect(judge(name, stats(outcome, byCaller), good)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'few_callers',
    });
  });

  it('roll nothing back with few requests', () => {
    expect(judge(name, stats(outcome, callers(9, 2, 2)), good)).toMatchObject({
      verdict: 'inconclusive',
      reason: 'few_requests',
    });
    expect(judge(name, stats(outcome, callers(3, 1, 0)), good).verdict).toBe('pass');
  });

  it('are compared without callers if a gateway does not report them', () => {
    const { callers: _, ...unknown } = stats(outcome, callers(1, 200, 100));
    expect(judge(name, unknown, good).verdict).toBe('breached');
  });

  it('pause a rollout if the stable revision has neither requests nor a ready instance', () => {
    const bad = stats(outcome, callers(10, 20, 12));
    expect(judge(name, bad, { isStableReady: false })).toMatchObject({ verdict: 'unavailable', reason: 'no_baseline' });
    expect(judge(name, stats(outcome, callers(10, 20, 0)), { isStableReady: false }).verdict).toBe('pass');
  });
});

it('passes identical revisions nearly always, and with clusters of callers too', () => {
  let state = 7;
  const next = () => (state = (state * 1664525 + 1013904223) >>> 0) / 2 ** 32;
  const outcome = OUTCOMES[1];
  /** Callers differ: half of them never err, the others err in 10 % of their requests. */
  const sample = (count: number) =>
    stats(
      outcome,
      Array.from({ length: count }, (): [number, number] => {
        const rate = next() < 0.5 ? 0 : 0.1;
        return [10, Array.from({ length: 10 }, () => (next() < rate ? 1 : 0)).reduce<number>((a, b) => a + b, 0)];
      }),
    );
  const stopped = Array.from({ length: 500 }, () => judge(outcome[1], sample(10), stable(sample(40))));
  expect(stopped.filter(({ verdict }) => verdict !== 'pass').length).toBeLessThan(10);
});

describe('a candidate without requests', () => {
  it('is not judged by guards if the gate has checks of its own, which may only report', () => {
    expect(judge('client_error_rate', statsOf({}), { isPausedWithoutRequests: false })).toMatchObject({
      verdict: 'pass',
    });
  });

  it('is not judged, even if clients left it early', () => {
    for (const candidate of [statsOf({}), statsOf({ cancelled: 50 })])
      expect(judge('error_rate', candidate)).toMatchObject({ verdict: 'unavailable', reason: 'no_requests' });
  });

  it('is judged if requests wait at it', () => {
    const waiting = { ...statsOf({}), waits: { left: emptyHistogram(), waiting: waitsOf(50, 5_000) } };
    expect(judge('error_rate', waiting).verdict).toBe('pass');
    expect(judge('abandoned_rate', waiting)).toMatchObject({
      verdict: 'breached',
      candidate: { value: 1, samples: 50 },
    });
  });
});

describe('abandoned requests', () => {
  const patient = { ...statsOf({ ok: 500 }), e2e_latency_ms: waitsOf(500, 10_000) };
  const waited = (left: Histogram, waiting = emptyHistogram()) => ({
    ...statsOf({ ok: 100 }),
    waits: { left, waiting },
  });

  it('count only if they waited longer than nearly all requests of the stable revision', () => {
    expect(judge('abandoned_rate', waited(waitsOf(60, 5_000)), stable(patient))).toMatchObject({
      verdict: 'pass',
      candidate: { value: 0, samples: 100 },
    });
    expect(judge('abandoned_rate', waited(waitsOf(60, 15_000)), stable(patient)).verdict).toBe('breached');
    expect(judge('abandoned_rate', waited(waitsOf(60, 1_500))).verdict).toBe('pass');
  });

  it('are compared with the first byte of streams', () => {
    const streaming = { ...patient, streamed: 500, ttft_ms: waitsOf(500, 300) };
    expect(judge('abandoned_rate', waited(waitsOf(60, 5_000)), stable(streaming)).verdict).toBe('breached');
  });

  it('count while they still wait, and pause a rollout if their callers are unknown', () => {
    const waiting = waited(emptyHistogram(), waitsOf(60, 15_000));
    expect(judge('abandoned_rate', waiting, stable(patient)).verdict).toBe('breached');
    const known = { ...waiting, callers: { 1: [100, 0, 0, 0, 0] } as Callers };
    expect(judge('abandoned_rate', known, stable(patient))).toMatchObject({
      verdict: 'inconclusive',
      reason: 'unknown_callers',
    });
  });

  it('are not comparable if the instances of the candidate got more requests', () => {
    const few = { ...statsOf({ ok: 50 }), e2e_latency_ms: waitsOf(50, 100) };
    expect(judge('abandoned_rate', waited(waitsOf(60, 15_000)), stable(few))).toMatchObject({
      verdict: 'not_comparable',
      reason: 'more_traffic',
    });
    expect(judge('abandoned_rate', waited(waitsOf(1, 15_000)), stable(few)).verdict).toBe('pass');
  });

  describe('of a candidate whose instances got more requests', () => {
    /** Times of answers by bucket of load: how many were short, and how many were long. */
    function busy(byLoad: Record<number, readonly [short: number, long: number]>, left = 0): RequestStats {
      const all = Object.entries(byLoad).map(([load, [short, long]]) => {
        const recorder = new HistogramRecorder();
        if (short > 0) recorder.record(100, short);
        if (long > 0) recorder.record(15_000, long);
        return [load, recorder.snapshot()] as const;
      });
      const sum = mergeHistograms(all.map(([, histogram]) => histogram));
      const stats = statsOf({ ok: sum.n - left, abandoned: left });
      stats.loads.histograms.e2e_latency_ms = Object.fromEntries(all);
      return { ...stats, e2e_latency_ms: sum, waits: { left: waitsOf(left, 15_000), waiting: emptyHistogram() } };
    }

    it.each([
      // The stable revision has long waits at that load too.
      ['as many at each load', { 1: [40, 0], 9: [300, 100] }, { 1: [200, 0], 9: [75, 25] }, 'pass'],
      ['more at each load', { 1: [20, 20], 9: [300, 100] }, { 1: [100, 0], 9: [150, 0] }, 'breached'],
      // Few requests had a load in common. They can show a fault, and not its absence.
      ['more at the few loads in common', { 1: [20, 20], 9: [300, 100] }, { 1: [100, 0] }, 'breached'],
      ['as many at the few loads in common', { 1: [40, 0], 9: [300, 100] }, { 1: [100, 0] }, 'not_comparable'],
      ['with no load in common', { 9: [300, 100] }, { 1: [200, 0] }, 'not_comparable'],
    ] as const)('are compared at equal load: %s', (_case, ours, theirs, verdict) => {
      const found = judge('abandoned_rate', busy(ours, 100), stable(busy(theirs)));
      expect(found).toMatchObject({ verdict, reason: verdict === 'breached' ? null : 'more_traffic' });
    });
  });

  it('stop a candidate that answers nothing, even if its instances got more requests', () => {
    const few = { ...statsOf({ ok: 50 }), e2e_latency_ms: waitsOf(50, 100) };
    const hanging = stats(OUTCOMES[3], callers(10, 10, 10));
    expect(judge('abandoned_rate', hanging, stable(few))).toMatchObject({ verdict: 'breached', reason: null });
    const slow = stats(OUTCOMES[3], callers(10, 10, 9));
    expect(judge('abandoned_rate', slow, stable(few))).toMatchObject({ reason: 'more_traffic' });
  });
});
