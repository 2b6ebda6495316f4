import { expect, it } from '@jest/globals';
import { compareSides } from './finding.js';
import { quantile, interleave } from './measure.js';

it('interpolates quantiles, and throws for an empty list', () => {
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([10, 20], 0.99)).toBeCloseTo(19.9);
  expect(() => quantile([], 0.5)).toThrow('nothing was measured');
});

const sides = (ours: number[], limit: number[]) => {
  const order: string[] = [];
  const side = (name: string, rates: number[]) => async () => {
    order.push(name);
    return rates.shift() as number;
  };
  return { order, sides: { ours: side('ours', ours), limit: side('limit', limit) } };
};

it('alternates the sides and drops the first slice of each', async () => {
  const { order, sides: both } = sides([1, 40, 60, 50], [1, 100, 1_000, 90]);
  expect(await interleave({ rounds: 3, sliceMs: 1 }, both)).toEqual({ ours: [40, 60, 50], limit: [100, 1_000, 90] });
  expect(order).toEqual(['ours', 'limit', 'ours', 'limit', 'ours', 'limit', 'ours', 'limit']);
});

it('divides medians, and shows the range of the slices and of the ratios of single rounds', async () => {
  const { sides: both } = sides([1, 40, 60, 50], [1, 100, 1_000, 90]);
  expect(await compareSides('some', { rounds: 3, sliceMs: 1 }, both, 'why')).toEqual({
    name: 'some',
    ours: { unit: '/s', median: 50, min: 40, max: 60 },
    limit: { unit: '/s', median: 100, min: 90, max: 1_000 },
    ratio: { unit: '', median: 0.5, min: 0.06, max: 50 / 90 },
    notes: 'why',
  });
});
