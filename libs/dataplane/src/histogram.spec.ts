import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  emptyHistogram,
  HistogramRecorder,
  mean,
  mergeHistograms,
  quantile,
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

it('says the same of a merge as of all values at once', () => {
  fc.assert(
    fc.property(fc.array(values, { minLength: 1, maxLength: 5 }), (lists) => {
      const merged = mergeHistograms(lists.map(histogramOf));
      const whole = histogramOf(lists.flat());
      expect(merged.n).toBe(whole.n);
      expect(merged.b).toEqual(whole.b);
      expect(mean(merged) as number).toBeCloseTo(mean(whole) as number, 3);
    }),
  );
});

it('survives JSON, keeps the mean exact and has no quantile of nothing', () => {
  const stored = JSON.parse(JSON.stringify(histogramOf([10, 20, 60]))) as Histogram;
  expect(mean(stored)).toBe(30);
  expect(variance(stored)).toBeCloseTo(700, 6);
  expect(quantile(emptyHistogram(), 0.5)).toBeNull();
  expect(mean(emptyHistogram())).toBeNull();
  expect(variance(histogramOf([5]))).toBeNull();
});

it('takes zero, negative and huge values without losing their count', () => {
  expect(histogramOf([0, -3, 1e30]).n).toBe(3);
});
