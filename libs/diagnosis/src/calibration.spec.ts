import { describe, expect, it } from '@jest/globals';
import { calibrate, hasMoved, summarize, type CalibrationSummary } from './calibration.js';
import { randomFrom } from './testing/index.js';

const scores = (n: number): number[] => Array.from({ length: n }, (_, index) => (index + 1) / 100);

describe('the width of an interval', () => {
  it('is 25 % until nine plans are known, whatever their errors were', () => {
    expect(calibrate([], 0.95)).toEqual({ width: 0.25, calibratedOn: 0 });
    expect(calibrate([9, ...scores(7)], 0.95)).toEqual({ width: 0.25, calibratedOn: 0 });
    expect(calibrate(scores(9), 0.95)).toEqual({ width: 0.09, calibratedOn: 9 });
  });

  it.each([
    [9, 0.95, 0.09],
    [19, 0.95, 0.18],
    [20, 0.95, 0.19],
    [99, 0.95, 0.9],
    [9, 0.75, 0.05],
    [9, 0.5, 0.01],
  ])('is the quantile of %i errors at the confidence %d', (n, confidence, width) => {
    expect(calibrate(scores(n).reverse(), confidence)).toEqual({ width, calibratedOn: n });
  });

  it('needs more plans for a higher level, and is the widest that is known until then', () => {
    expect(calibrate(scores(18), 0.975)).toEqual({ width: 0.25, calibratedOn: 0 });
    expect(calibrate([2, ...scores(17)], 0.975)).toEqual({ width: 2, calibratedOn: 0 });
    expect(calibrate(scores(19), 0.975)).toEqual({ width: 0.19, calibratedOn: 19 });
  });

  it.each([9, 19, 40])('contains the next value of %i plans at the level, for errors of any size', (n) => {
    const random = randomFrom(n);
    // Few errors are large, and each world has a size of its own.
    const error = (size: number) => size * Math.log(1 - random()) ** 2;
    let inside = 0;
    const worlds = 4_000;
    for (let world = 0; world < worlds; world += 1) {
      const size = 0.01 + random();
      const earlier = Array.from({ length: n }, () => Math.abs(error(size)));
      if (Math.abs(error(size)) <= calibrate(earlier, 0.95).width) inside += 1;
    }
    const rank = Math.ceil((n + 1) * 0.9 - 1e-9);
    const expected = rank / (n + 1);
    expect(inside / worlds).toBeGreaterThan(expected - 0.015);
    expect(inside / worlds).toBeLessThan(expected + 0.015);
  });
});

it.each([
  [100, 119, 119, false],
  [100, 120, 100, true],
  [100, 100, 80, true],
  [100, 81, 81, false],
  [0, 1, 1, true],
  [null, 1, 1, true],
])('from %p, %p predicted and %p achieved, has moved: %p', (now, predicted, achieved, moved) => {
  expect(hasMoved(now, predicted, achieved)).toBe(moved);
});

describe('the summary of measured predictions', () => {
  const NONE: CalibrationSummary = { n: 0, coveragePercent: null, medianErrorPercent: null, biasPercent: null };
  const one = (planId: string, logError: number, within = true, moved = true) => ({
    planId,
    logError,
    within,
    hasMoved: moved,
  });

  it('counts a plan once, with its largest error, and covers it only if all metrics that moved are inside', () => {
    const found = summarize([
      one('a', 0.1),
      one('a', -0.2, false),
      one('b', Math.log(1.5)),
      one('b', 3, false, false),
      one('c', 0),
    ]);
    expect(found.n).toBe(3);
    expect(found.coveragePercent).toBeCloseTo(200 / 3);
    expect(found.medianErrorPercent).toBeCloseTo(100 * Math.expm1(0.2));
    expect(found.biasPercent).toBeCloseTo(100 * Math.expm1((Math.log(1.5) - 0.2) / 3));
  });

  it('has no number without a plan that moved something', () => {
    expect(summarize([])).toEqual(NONE);
    expect(summarize([one('a', 1, false, false)])).toEqual(NONE);
  });
});
