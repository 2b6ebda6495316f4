import { expect, it, jest } from '@jest/globals';
import { Bounds, runConcurrently, quantile } from './measure.js';

it('passes each number once, and never more of them at a time than requested', async () => {
  const taken: number[] = [];
  let underWay = 0;
  let most = 0;
  await runConcurrently(10, 3, async (at) => {
    most = Math.max(most, (underWay += 1));
    taken.push(at);
    await new Promise((resolve) => setImmediate(resolve));
    underWay -= 1;
  });
  expect([taken, most]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 3]);
});

it('returns the value that 95 of 100 do not exceed, and throws for an empty list', () => {
  const values = Array.from({ length: 100 }, (_, at) => 100 - at);
  expect([quantile(values, 0.95), quantile(values, 0), quantile([7], 0.95)]).toEqual([95, 1, 7]);
  expect(() => quantile([], 0.5)).toThrow('nothing was measured');
});

it('prints each figure with its limit, and records which ones were exceeded', () => {
  const write = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const bounds = new Bounds();
  bounds.note('units_s', 120, { most: 120 });
  bounds.note('p95_ms', 1_000.06, { most: 1_000 });
  bounds.note('deletions_per_s', 49, { least: 50 });
  const printed = write.mock.calls.map(([line]) => JSON.parse(String(line)) as object);
  write.mockRestore();
  expect(printed).toEqual([
    { figure: 'units_s', measured: 120, most: 120, is_kept: true },
    { figure: 'p95_ms', measured: 1_000.1, most: 1_000, is_kept: false },
    { figure: 'deletions_per_s', measured: 49, least: 50, is_kept: false },
  ]);
  expect(bounds.missed).toEqual(['p95_ms', 'deletions_per_s']);
});
