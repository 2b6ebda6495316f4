import { describe, expect, it } from '@jest/globals';
import { movedMembers, peakRate } from './workload.js';

const minutes = (counts: readonly number[]) =>
  counts.map((count, index) => ({ at: new Date(index * 60_000), seconds: 60, count }));

describe('the peak', () => {
  it('is the rate that is exceeded in one hundredth of the time', () => {
    // A hundred minutes at 10/s, and one in which ten times as much came.
    expect(peakRate(minutes([...Array.from({ length: 100 }, () => 600), 6_000]))).toBe(10);
    expect(peakRate(minutes([...Array.from({ length: 97 }, () => 600), 6_000, 6_000, 6_000]))).toBe(100);
  });

  it('comes from 300 arrivals at least, so that chance makes no peak', () => {
    const calm = Array.from({ length: 200 }, (_, index) => (index % 2 === 0 ? 10 : 50));
    expect(peakRate(minutes(calm))).toBe(0.5);
  });

  it('is the mean of too few arrivals, and null without any', () => {
    expect(peakRate(minutes([30, 90]))).toBe(1);
    expect(peakRate(minutes([0, 0]))).toBeNull();
    expect(peakRate([])).toBeNull();
  });
});

it('reports members that are more than a quarter off, and none that is not declared or not seen', () => {
  const observed = { requestRate: 10, concurrency: null, inputTokensP95: 1_000, outputTokensP95: 200 };
  expect(movedMembers({ requestRate: 12, concurrency: 5, inputTokensP95: 1_300 }, observed)).toEqual([
    'inputTokensP95',
  ]);
  expect(movedMembers({ requestRate: 7 }, observed)).toEqual(['requestRate']);
});
