import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  bucketOf,
  bucketUpperBound,
  bucketValue,
  emptyHistogram,
  HistogramRecorder,
  mean,
  mergeHistograms,
  quantile,
  sortedBuckets,
  subtractHistograms,
  variance,
  type Histogram,
} from './histogram.js';

const values = fc.array(fc.double({ min: 0.002, max: 1e8, noNaN: true }), { minLength: 1, maxLength: 300 });

function histogramOf(list: readonly number[]): Histogram {
  const recorder = new HistogramRecorder();
  for (const value of list) recorder.record(value);
  return recorder.snapshot();
}

function exactQuantile(list: readonly number[], q: number): number {
  const sorted = [...list].sort((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(q * sorted.length)) - 1] as number;
}

it('keeps every quantile within 5 % of the exact one', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(0, 0.5, 0.9, 0.95, 0.99, 1), (list, q) => {
      const exact = exactQuantile(list, q);
      expect(Math.abs((quantile(histogramOf(list), q) as number) / exact - 1)).toBeLessThan(0.05);
    }),
  );
});

it('leaves the other part of a merge when one part is subtracted', () => {
  fc.assert(
    fc.property(values, values, (one, other) => {
      const [part, rest] = [histogramOf(one), histogramOf(other)];
      const left = subtractHistograms(mergeHistograms([part, rest]), part);
      expect([left.n, left.b]).toEqual([rest.n, rest.b]);
      expect(left.sum).toBeCloseTo(rest.sum, 3);
      expect(subtractHistograms(left, left)).toEqual(emptyHistogram());
    }),
  );
});

it('gives the same result for a merge as for all values at once', () => {
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 5 }), (lists) => {
      const merged = mergeHistograms(lists.map(histogramOf));
      const whole = histogramOf(lists.flat());
      expect(merged.n).toBe(whole.n);
      expect(merged.b).toEqual(whole.b);
      expect(mean(merged) as number).toBeCloseTo(mean(whole) as number, 3);
      // Each part is rounded to six decimals.
      expect(Math.abs(merged.sq - whole.sq)).toBeLessThanOrEqual(1e-5 + 1e-9 * whole.sq);
    }),
  );
});

it('survives JSON, keeps the mean exact, and has no quantile without values', () => {
  const stored = JSON.parse(JSON.stringify(histogramOf([10, 20, 60]))) as Histogram;
  expect(mean(stored)).toBe(30);
  expect(variance(stored)).toBeCloseTo(700, 6);
  expect(quantile(emptyHistogram(), 0.5)).toBeNull();
  expect(mean(emptyHistogram())).toBeNull();
  expect(variance(histogramOf([5]))).toBeNull();
});

it('accepts zero, negative and huge values without losing their count', () => {
  const histogram = histogramOf([0, -3, 1e30]);
  expect(histogram.n).toBe(3);
  expect(sortedBuckets(histogram)).toEqual([
    [-80, 2],
    [272, 1],
  ]);
});

it('puts a value below the upper bound of its bucket, and the bound itself into the next one', () => {
  for (const value of [0.01, 0.9, 1, 1.5, 7, 250, 1e6]) {
    const bucket = bucketOf(value);
    expect(value).toBeLessThan(bucketUpperBound(bucket));
    expect(value).toBeGreaterThanOrEqual(bucketUpperBound(bucket - 1));
    expect(bucketValue(bucket)).toBeLessThan(bucketUpperBound(bucket));
    expect(bucketValue(bucket)).toBeGreaterThan(bucketUpperBound(bucket - 1));
  }
  expect([bucketOf(1), bucketOf(2), bucketOf(0.5)]).toEqual([0, 8, -8]);
});

it('reads buckets from the lowest to the highest, those below one first', () => {
  expect(sortedBuckets(histogramOf([1_000, 0.1, 1, 0.01, 30]))).toEqual([
    [-54, 1],
    [-27, 1],
    [0, 1],
    [39, 1],
    [79, 1],
  ]);
});

it('counts a value as often as requested', () => {
  const recorder = new HistogramRecorder();
  recorder.record(10, 3);
  recorder.record(40);
  expect(recorder.snapshot()).toEqual({ n: 4, sum: 70, sq: 1_900, b: { '26': 3, '42': 1 } });
  expect(quantile(recorder.snapshot(), 0.75) as number).toBeLessThan(11);
});

it('a recorder counts each value, in any order of small and large ones', () => {
  fc.assert(
    fc.property(values, (list) => {
      const each = mergeHistograms(list.map((value) => histogramOf([value])));
      const { n, b } = histogramOf([...list, 0, 1e300]);
      const [lowest, highest] = [bucketOf(0), bucketOf(1e300)];
      expect(n).toBe(list.length + 2);
      expect(b).toEqual({ ...each.b, [lowest]: 1 + (each.b[lowest] ?? 0), [highest]: 1 + (each.b[highest] ?? 0) });
    }),
  );
});
