import { expect, it } from '@jest/globals';
import { compare, quantile } from './measure.js';

it('interpolates quantiles and refuses to make one of nothing', () => {
  expect(quantile([3, 1, 2], 0.5)).toBe(2);
  expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
  expect(quantile([10, 20], 0.99)).toBeCloseTo(19.9);
  expect(() => quantile([], 0.5)).toThrow('nothing was measured');
});

it('takes turns, drops the first slice of each side and divides medians', async () => {
  const order: string[] = [];
  const side = (name: string, rates: number[]) => async () => {
    order.push(name);
    return rates.shift() as number;
  };
  const result = await compare(
    { rounds: 3, sliceMs: 1 },
    side('ours', [1, 40, 60, 50]),
    side('limit', [1, 100, 1_000, 90]),
  );
  expect(result).toEqual({ ours: 50, limit: 100, ratio: 0.5 });
  expect(order).toEqual(['ours', 'limit', 'ours', 'limit', 'ours', 'limit', 'ours', 'limit']);
});
