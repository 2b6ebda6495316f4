import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { emptyHistogram, HistogramRecorder, type Histogram } from '../statistics/histogram.js';
import { packHistogram, unpackHistogram } from './packed-histogram.js';

const counts = fc.dictionary(
  fc.integer({ min: -80, max: 272 }).map(String),
  fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 1, max: 1e12 })),
);

it('a packed histogram is read as it was, whatever its counts', () => {
  fc.assert(
    fc.property(counts, (b) => {
      const n = Object.values(b).reduce((sum, count) => sum + count, 0);
      const histogram: Histogram = n === 0 ? emptyHistogram() : { n, sum: 12.345, sq: 1e15, b };
      const text = packHistogram(histogram);
      expect(unpackHistogram(text)).toEqual(histogram);
      expect(unpackHistogram(`7 8 9 #|${text}|x`, 8, 8 + text.length)).toEqual(histogram);
      // It is a text inside of JSON, with `|` around it.
      expect(JSON.stringify(text)).toBe(`"${text}"`);
      expect(text).not.toContain('|');
    }),
  );
});

it('a packed histogram is about as long as it has buckets', () => {
  const recorder = new HistogramRecorder();
  for (let at = 0; at < 300; at += 1) recorder.record(Math.exp(4 + 2 * Math.sin(at)));
  const histogram = recorder.snapshot();
  const text = packHistogram(histogram);
  expect(text.length).toBeLessThan(JSON.stringify(histogram).length / 3);
  expect(packHistogram(emptyHistogram())).toBe('');
});

it('sums are rounded to a thousandth', () => {
  const text = packHistogram({ n: 2, sum: 1.2345678, sq: 0.00049, b: { 0: 2 } });
  expect(text).toBe('1.235 0 0 %');
});
