import { expect, it } from '@jest/globals';
import { inTurns, quantile } from './measure.js';

it('takes each number once, never more of them at a time than asked', async () => {
  const taken: number[] = [];
  let underWay = 0;
  let most = 0;
  await inTurns(10, 3, async (at) => {
    most = Math.max(most, (underWay += 1));
    taken.push(at);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
  });
  expect([taken, most]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 3]);
});

it('says which value 95 of 100 do not exceed, and nothing of nothing', () => {
  const values = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect([quantile(values, 0.95), quantile(values, 0), quantile([7], 0.95)]).toEqual([95, 1, 7]);
  expect(() => quantile([], 0.5)).toThrow('nothing was measured');
});
