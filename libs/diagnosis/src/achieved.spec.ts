import { describe, expect, it } from '@jest/globals';
import { achievedIn, judgeOutcome, recordsAtRate, type Expectation } from './achieved.js';
import { servedRecords, type ServedTraffic } from './testing/index.js';

const START = new Date('2026-06-01T00:00:00Z');
const served = (changes: Partial<ServedTraffic> = {}) =>
  servedRecords(
    { firstTokenMs: (load) => 100 * load, perTokenMs: () => 10, tokens: 100, loadIn: () => 4, minutes: 60, ...changes },
    START,
  );
const interval = (value: number) => ({ value, low: value * 0.95, high: value * 1.05 });
const EVIDENCE = { minSamples: 50, confidence: 0.95 };
const P95 = { metric: 'ttft_ms', stat: 'p95' } as const;

describe('the result of a plan', () => {
  const faster: Expectation = {
    isHigherBetter: false,
    predicted: { value: 500, low: 400, high: 625 },
    now: 1_000,
    before: { low: 950, high: 1_050 },
  };
  const slower: Expectation = { ...faster, now: 200, before: { low: 190, high: 210 } };

  it.each([
    ['inside the interval', faster, 620, 'as_predicted', true],
    ['faster than predicted', faster, 300, 'better', false],
    ['slower than predicted, but faster than before', faster, 750, 'better', false],
    ['about as slow as before', faster, 1_000, 'no_effect', false],
    ['not certainly slower than before', faster, 1_090, 'no_effect', false],
    ['slower than before', faster, 1_200, 'worse', false],
    ['slower, as predicted', slower, 600, 'as_predicted', true],
    ['slower than before and than predicted', slower, 800, 'worse', false],
    ['without a value before', { ...faster, now: null, before: null }, 900, 'worse', false],
    ['with a value before that has no interval', { ...faster, before: null }, 900, 'better', false],
    ['on the bound of the interval', faster, 625, 'as_predicted', true],
  ] as const)('if it is %s', (_what, expectation, value, result, within) => {
    const judged = judgeOutcome(expectation, interval(value));
    expect(judged).toMatchObject({ result, within });
    expect(judged.logError).toBeCloseTo(Math.log(value / 500));
  });

  it.each([
    [120, 'better'],
    [75, 'no_effect'],
    [60, 'worse'],
    [95, 'as_predicted'],
  ])('is the other way round for a metric that is better when higher: %d is %s', (value, result) => {
    const rate = { value: 100, low: 90, high: 110 };
    const more = { isHigherBetter: true, predicted: rate, now: 75, before: { low: 70, high: 80 } };
    expect(judgeOutcome(more, interval(value)).result).toBe(result);
  });

  it.each([
    [{ value: 800, low: 500, high: 1_200 }, null],
    [{ value: 800, low: 625, high: 950 }, null],
    [{ value: 800, low: 626, high: 950 }, 'no_effect'],
    [{ value: 800, low: 500, high: 949 }, 'better'],
  ])('is not known if it may be the value before as well as the predicted one: %o is %s', (achieved, result) => {
    expect(judgeOutcome(faster, achieved).result).toBe(result);
  });

  it('is worse if an SLO is newly missed, even inside the interval', () => {
    expect(judgeOutcome(faster, interval(500), true)).toMatchObject({ result: 'worse', within: true });
  });

  it('has no error without a value above zero', () => {
    const none = { ...faster, predicted: { value: 0, low: 0, high: 0 } };
    expect(judgeOutcome(none, { value: 0, low: 0, high: 1 })).toEqual({
      within: true,
      logError: null,
      result: 'as_predicted',
    });
  });
});

describe('the records at a comparable load', () => {
  const perMinute = (minute: number): number => [600, 300, 640, 2_000][Math.floor(minute / 15)] as number;
  const records = servedRecords(
    { firstTokenMs: () => 1, perTokenMs: () => 1, tokens: 5, loadIn: () => 1, minutes: 60, requestsPerMinute: 20 },
    START,
  ).map((record, minute) => ({ ...record, arrivals: perMinute(minute) }));

  it('are those whose rate differs from that of the plan by at most a quarter', () => {
    const { atLoad, all } = recordsAtRate(records, 10);
    expect(all).toHaveLength(60);
    const kept = atLoad.map(({ at }) => (at.getTime() - START.getTime()) / 60_000);
    expect(kept).toEqual(Array.from({ length: 30 }, (_, index) => (index < 15 ? index : index + 15)));
  });

  it('are all of them if the plan assumes no rate, and none if the rate never came', () => {
    expect(recordsAtRate(records, null).atLoad).toHaveLength(60);
    expect(recordsAtRate(records, 100).atLoad).toEqual([]);
    expect(recordsAtRate([], 10).atLoad).toEqual([]);
  });

  it('count times without requests, which have no records', () => {
    const sparse = records.slice(0, 15).filter((_, minute) => minute % 5 === 0);
    expect(
      recordsAtRate(
        sparse.map((record) => ({ ...record, arrivals: 100 })),
        100 / 60,
      ).atLoad,
    ).toEqual([]);
  });

  it('are few minutes together if a minute has few requests', () => {
    const quiet = records.map((record, minute) => ({ ...record, arrivals: minute % 2 ? 10 : 50 }));
    expect(recordsAtRate(quiet, 0.5).atLoad.length).toBeGreaterThan(50);
  });
});

describe('the achieved value', () => {
  it('is the statistic of the records, with its interval', () => {
    const value = achievedIn(served(), P95, EVIDENCE)!;
    expect(value.low).toBeLessThan(value.value);
    expect(value.high).toBeGreaterThan(value.value);
    expect(value.value).toBeGreaterThan(450);
    expect(value.value).toBeLessThan(600);
    expect(value.n).toBeGreaterThan(1_000);
  });

  it('is missing with fewer samples than the statistic or the policy needs', () => {
    const few = served({ minutes: 2, requestsPerMinute: 30 });
    expect(achievedIn(few, P95, EVIDENCE)).toBeNull();
    expect(achievedIn(few, { metric: 'ttft_ms', stat: 'p50' }, EVIDENCE)).not.toBeNull();
    expect(achievedIn(few, { metric: 'ttft_ms', stat: 'p50' }, { ...EVIDENCE, minSamples: 61 })).toBeNull();
    expect(achievedIn([], P95, EVIDENCE)).toBeNull();
  });

  it('is a share for a rate', () => {
    const failing = served({ failuresIn: () => 0.1 });
    const value = achievedIn(failing, { metric: 'error_rate', stat: 'rate' }, EVIDENCE)!;
    expect(value.low).toBeLessThan(0.1);
    expect(value.high).toBeGreaterThan(0.1);
  });
});
