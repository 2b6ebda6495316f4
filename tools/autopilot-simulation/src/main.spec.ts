import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import { optionsFrom } from './options.js';
import type { Row } from './table.js';

// `npm run autopilot-simulation` runs 200 seeds of each case. These few, which are the same each time, run in separate
// processes, because a simulation takes far longer within Jest.
const MAIN = new URL('../dist/main.js', import.meta.url).pathname;
const SHORT = ['--seeds=1', '--minutes=40', '--window-minutes=10', '--truth-runs=1', '--truth-minutes=5'];
const CELLS = ['single', 'load-dependent', 'nothing-to-gain', 'two-replicas'];
const FEW = ['--seeds=1', '--minutes=60', '--truth-runs=2', '--truth-minutes=10', '--cycle-minutes=5'];

// A machine that runs other tests beside the simulated processes takes several times as long.
jest.setTimeout(240_000);

interface Result {
  status: number;
  rows: Row[];
  problem: string;
}

async function simulate(...options: string[]): Promise<Result> {
  const rowsIn = (output: string): Row[] =>
    output.split('\n').flatMap((line) => (line ? [JSON.parse(line) as Row] : []));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, '--json', ...options]);
    return { status: 0, rows: rowsIn(stdout), problem: '' };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, rows: rowsIn(stdout), problem: stderr };
  }
}

const broken = ({ rows }: Result): string[] =>
  rows.flatMap(({ profile, cell, case: name, findings }) =>
    findings.filter(({ isKept }) => !isKept).map(({ what, value }) => `${profile} ${cell} ${name}: ${what} ${value}`),
  );

describe('a few seeds keep every limit', () => {
  it.each(['queueing', 'prefill', 'token-time'])('with the profile %s', async (profile) => {
    const result = await simulate(...FEW, `--profiles=${profile}`, `--cells=${CELLS.join(',')}`);
    expect(broken(result)).toEqual([]);
    expect(result.status).toBe(0);
    expect(new Set(result.rows.map(({ cell }) => cell))).toEqual(
      new Set(['intrinsic', 'nothing to gain', 'load-dependent', 'predicted against achieved', 'two replicas']),
    );
    // Otherwise the limits would be kept because nothing was concluded.
    expect(result.rows.find(({ cell }) => cell === 'intrinsic')?.causes).toEqual({ intrinsic: 1 });
    for (const { causes } of result.rows.filter(({ cell }) => cell === 'load-dependent'))
      expect(causes).toEqual({ load_dependent: 1 });
  });
});

it('the tenth plan of a tenant ends within its interval', async () => {
  const result = await simulate(...SHORT, '--profiles=prefill', '--cells=learning');
  expect(broken(result)).toEqual([]);
  const [{ findings, causes }] = result.rows as [Row];
  expect(findings[0]).toMatchObject({ what: 'within the interval', value: 1, of: 1 });
  expect(causes).toEqual({ as_predicted: 1 });
});

it('a plan that makes a service worse is taken back and not repeated', async () => {
  const result = await simulate(...FEW, '--profiles=prefill', '--cells=worse');
  expect(broken(result)).toEqual([]);
  const [{ findings, causes }] = result.rows as [Row];
  expect(findings[0]).toMatchObject({ what: 'revert plans within a window', value: 1, of: 1 });
  expect(causes).toEqual({ barred: 1 });
});

it('several profiles run at the same time, and print their rows in order', async () => {
  const shortest = ['--seeds=1', '--minutes=35', '--truth-runs=1', '--truth-minutes=5'];
  const both = ['--profiles=prefill,queueing', '--cells=nothing-to-gain'];
  const result = await simulate(...shortest, ...both);
  expect(result.rows.map(({ profile }) => profile)).toEqual(['prefill', 'queueing']);
  const refused = await simulate(...both, '--max-num-batched-tokens=4');
  expect(refused).toMatchObject({ status: 2, rows: [] });
  expect(refused.problem).toContain('queueing: max-num-batched-tokens');
});

it('the exit status is 1 if a limit is not kept', async () => {
  const few = ['--profiles=prefill', '--cells=load-dependent', '--window-minutes=10'];
  const result = await simulate(...FEW, ...few, '--min-samples=1000000');
  expect(result.status).toBe(1);
  expect(broken(result)).toContainEqual(expect.stringContaining('right number, and it meets the SLO 0'));
});

it.each([
  ['--sedes=1', 'unknown option --sedes'],
  ['--seeds=none', '--seeds=none: give a whole number of 1 to 1000000'],
  ['--step-ms=0', '--step-ms=0: give a number of 0.1 to 10000'],
  ['--profiles=fast', '--profiles=fast: give one of queueing, prefill'],
  ['--seeds', 'unknown argument --seeds: use --name=value'],
])('%s is refused: %s', (option, problem) => {
  const known = { profiles: ['queueing', 'prefill'], cells: ['single'] };
  expect(() => optionsFrom([option], known)).toThrow(problem);
  expect(optionsFrom([], known)).toMatchObject({
    engine: {},
    stat: 'p95',
    profiles: known.profiles,
    cells: ['single'],
  });
});

it('an unknown option ends the process with status 2', async () => {
  const result = await simulate('--sedes=1');
  expect(result).toMatchObject({ status: 2, rows: [] });
  expect(result.problem).toContain('unknown option --sedes');
});

it('constants that no engine can have are refused with the reason', async () => {
  const result = await simulate('--profiles=queueing', '--max-num-batched-tokens=4');
  expect(result).toMatchObject({ status: 2, rows: [] });
  expect(result.problem).toContain('queueing: max-num-batched-tokens must be at least max-num-seqs (8), not 4');
});

it('constants with which load makes no request slower are refused with the reason', async () => {
  const flat = ['--profiles=token-time', '--kv-token-us=0', '--token-us=0', '--utilisation=0.85'];
  const result = await simulate(...FEW, '--cells=load-dependent', ...flat);
  expect(result).toMatchObject({ status: 2, rows: [] });
  expect(result.problem).toContain('token-time: at no rate');
});
