import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { Engine, ENGINES } from './engine.js';

// `npm run gate-simulation` runs 1,000 seeds of each case. These few, which are the same each time, verify what
// tools/decisions/0004 says. They run in a separate process, because a soak takes ten times as long within Jest.
const MAIN = new URL('../dist/main.js', import.meta.url).pathname;

interface Row {
  engine: string;
  utilisation: number;
  candidate: string;
  verdicts: Record<string, number>;
  medianPercent: number | null;
}

async function simulate(...options: string[]): Promise<Row[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--json', ...options]);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

it('promotes a canary of 5 % that is identical and none that is 30 % slower, at any load of the engine of the baseline', async () => {
  const rows = await simulate(
    ...['--seeds=3', '--samples=800', '--errors=0'],
    ...['--engines=serial,shared', '--utilisations=0.3,0.85', '--candidates=identical,30 % slower'],
  );
  expect(rows).toHaveLength(8);
  for (const { verdicts, medianPercent, candidate, ...cell } of rows) {
    const truth = candidate === 'identical' ? { pass: 3, percent: 0 } : { pass: 0, percent: 30 };
    expect({ ...cell, candidate, ...verdicts }).toMatchObject({ pass: truth.pass, not_comparable: 0 });
    // Differs only by chance: counting requests that arrive during the soak would make it 13 more, and other loads 6 to
    // 8 less.
    expect(Math.abs((medianPercent as number) - truth.percent)).toBeLessThan(5);
  }
});

it('reports that it cannot compare if the baseline is never as idle as the candidate, for any candidate', async () => {
  const rows = await simulate('--seeds=1', '--samples=400', '--engines=batched', '--utilisations=0.85');
  expect(rows.map(({ verdicts }) => verdicts['not_comparable'])).toEqual([1, 1, 1]);
});

it('needs no equal load if each side has half of the traffic', async () => {
  const [identical, slower] = await simulate(
    ...['--seeds=5', '--share=0.5', '--errors=0'],
    ...['--engines=batched', '--utilisations=0.3', '--candidates=identical,30 % slower'],
  );
  expect(identical?.verdicts).toMatchObject({ pass: 5 });
  // Queues of one side alone may leave too few loads in common, and never a pass.
  expect(slower?.verdicts).toMatchObject({ pass: 0 });
  expect(slower?.verdicts['not_comparable']).toBeLessThan(3);
});

it('an engine takes the expected time for the requests in flight', () => {
  const timesOf = (kind: keyof typeof ENGINES): number[] => {
    const engine = new Engine<number>(ENGINES[kind]);
    engine.arrive(0, 1, 2, 10);
    engine.arrive(5, 2, 2, 10);
    const ends: number[] = [];
    for (let one = engine.next(100); one; one = engine.next(100)) if (one.what === 'end') ends.push(one.at);
    return ends;
  };
  expect(timesOf('serial')).toEqual([10, 20]);
  expect(timesOf('shared')).toEqual([15, 20]);
  expect(timesOf('batched')).toEqual([11.25, 16.25]);
});
