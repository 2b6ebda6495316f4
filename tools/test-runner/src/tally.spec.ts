import { expect, it } from '@jest/globals';
import { sumUp, summary } from './tally.js';

const line = (passed: number, failed: number, ...skipped: string[]): string =>
  JSON.stringify({ passed, failed, skipped: skipped.map((name) => ({ file: '/x.spec.ts', name })) });

it('sums the counts of all projects', () => {
  expect(summary(sumUp(`${line(3, 0)}\n${line(4, 0)}\n`), false)).toEqual({ line: '7 passed, 0 failed', exitCode: 0 });
  expect(summary(sumUp(`${line(3, 1, 'redis')}\n${line(4, 2)}\n`), true)).toEqual({
    line: '7 passed, 3 failed, 1 skipped',
    exitCode: 1,
  });
});

it('repeats failed tests at the end, by name', () => {
  const failures = [{ file: '/x.spec.ts', name: 'adds', message: 'expected 2' }];
  const lines = `${line(1, 0)}\n${JSON.stringify({ passed: 0, failed: 1, failures, skipped: [] })}\n`;
  expect(sumUp(lines).failures).toEqual(failures);
});

it('reports a failure for a run that ended before it could count', () => {
  expect(summary(sumUp(line(3, 0)), true)).toEqual({ line: '3 passed, 1 failed', exitCode: 1 });
  expect(summary(sumUp(''), false).exitCode).toBe(1);
});
