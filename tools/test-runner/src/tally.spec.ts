import { describe, expect, it } from '@jest/globals';
import { sumUp, verdict, withSecondTries } from './tally.js';

const line = (passed: number, failed: number, ...skipped: string[]): string =>
  JSON.stringify({ passed, failed, skipped: skipped.map((name) => ({ file: '/x.spec.ts', name })) });

it('sums the counts of all projects', () => {
  expect(verdict(sumUp(`${line(3, 0)}\n${line(4, 0)}\n`), false)).toEqual({ line: '7 passed, 0 failed', exitCode: 0 });
  expect(verdict(sumUp(`${line(3, 1, 'redis')}\n${line(4, 2)}\n`), true)).toEqual({
    line: '7 passed, 3 failed, 1 skipped',
    exitCode: 1,
  });
});

it('repeats at the end what failed, by name', () => {
  const failures = [{ file: '/x.spec.ts', name: 'adds', message: 'expected 2' }];
  const lines = `${line(1, 0)}\n${JSON.stringify({ passed: 0, failed: 1, failures, skipped: [] })}\n`;
  expect(sumUp(lines).failures).toEqual(failures);
});

it('never calls a run good that died before it could count', () => {
  expect(verdict(sumUp(line(3, 0)), true)).toEqual({ line: '3 passed, 1 failed', exitCode: 1 });
  expect(verdict(sumUp(''), false).exitCode).toBe(1);
});

describe('a second try, alone', () => {
  const failed = (...files: string[]) => {
    const failures = files.map((file, index) => ({ file, name: `test ${index}`, message: 'too slow' }));
    return sumUp(`${line(3, 0)}\n${JSON.stringify({ passed: 1, failed: files.length, failures, skipped: [] })}\n`);
  };

  it('tells a test that fails beside others from one that is broken', async () => {
    const tried: string[] = [];
    const passesAlone = async (file: string) => {
      tried.push(file);
      return file === '/a.spec.ts';
    };
    const tally = await withSecondTries(failed('/a.spec.ts', '/a.spec.ts', '/b.spec.ts'), passesAlone);
    expect(tried).toEqual(['/a.spec.ts', '/b.spec.ts']);
    expect([tally.flaky.map(({ name }) => name), tally.failures.map(({ name }) => name)]).toEqual([
      ['test 0', 'test 1'],
      ['test 2'],
    ]);
    expect(verdict(tally, true)).toEqual({ line: '6 passed, 1 failed', exitCode: 1 });
  });

  it('makes a run good in which all that failed passes', async () => {
    expect(verdict(await withSecondTries(failed('/a.spec.ts'), async () => true), true)).toEqual({
      line: '5 passed, 0 failed',
      exitCode: 0,
    });
  });

  it('is not given to a run that is broken', async () => {
    const tally = await withSecondTries(failed('/a', '/b', '/c', '/d', '/e', '/f'), async () => true);
    expect(verdict(tally, true)).toEqual({ line: '4 passed, 6 failed', exitCode: 1 });
  });
});
