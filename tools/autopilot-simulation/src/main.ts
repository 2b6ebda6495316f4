import { execFile } from 'node:child_process';
import os from 'node:os';
import pLimit from 'p-limit';
import * as cells from './cells.js';
import {
  cycleFindings,
  idleFindings,
  intrinsicFindings,
  predictionFindings,
  sizingFindings,
  tally,
  type Finding,
} from './criteria.js';
import { optionsFrom, UsageError, type Options } from './options.js';
import { PoolInstance } from './pool.js';
import { PROFILE_NAMES, profilesOf, type Profile } from './profiles.js';
import { rowText, TABLE_HEAD, type Row } from './table.js';

const CELLS = ['single', 'load-dependent', 'nothing-to-gain', 'two-replicas'];
/** Instances now, and those that are needed. */
const SIZES = [
  [1, 2],
  [2, 3],
  [2, 4],
] as const;

/** Instances that are enough, and of which none can go. */
const ENOUGH = 3;
/** One instance that is alone with a request at times, and one that is not. */
const SINGLE: readonly (readonly [string, cells.Quietness])[] = [
  ['quiet at times', { utilisation: 0.2, low: 0.05 }],
  ['always busy', { utilisation: 0.7, low: 1 }],
];

/** @throws UsageError if no engine can have these constants */
function checkEngine(profile: Profile): void {
  try {
    new PoolInstance(profile, 0, 0);
  } catch (error) {
    throw new UsageError(`${profile.name}: ${(error as Error).message}`);
  }
}

const causeOf = ({ cause }: { cause: string }): string => cause;

function* rowsOf(options: Options): Generator<Row> {
  const { run } = options;
  const seeds = Array.from({ length: run.seeds }, (_, index) => run['first-seed'] + index);
  for (const profile of profilesOf(options.profiles, options.engine)) {
    checkEngine(profile);
    const context = cells.contextOf(profile, options);
    const row = (cell: string, name: string, findings: Finding[], causes: string[] = []): Row => {
      return { cell, profile: profile.name, case: name, findings, causes: tally(causes) };
    };
    const has = (cell: string): boolean => options.cells.includes(cell);
    if (has('single'))
      for (const [name, quietness] of SINGLE) {
        const outcomes = seeds.map((seed) => cells.single(context, seed, quietness));
        const [unreachable, met] = [outcomes.map(({ intrinsic }) => intrinsic), outcomes.map((one) => one.comfortable)];
        yield row('intrinsic', name, intrinsicFindings(unreachable), unreachable.map(causeOf));
        yield row('nothing to gain', `1 needed, ${name}`, idleFindings(met), met.map(causeOf));
      }
    if (has('load-dependent')) {
      const all: cells.SizingOutcome[] = [];
      for (const [from, to] of SIZES) {
        const outcomes = seeds.map((seed) => cells.sizing(context, seed, from, to));
        all.push(...outcomes);
        yield row('load-dependent', `${from} to ${to}`, sizingFindings(outcomes), outcomes.map(causeOf));
      }
      yield row('predicted against achieved', 'all of them', predictionFindings(all));
    }
    if (has('nothing-to-gain')) {
      const outcomes = seeds.map((seed) => cells.nothingToGain(context, seed, ENOUGH));
      yield row('nothing to gain', `${ENOUGH} needed`, idleFindings(outcomes), outcomes.map(causeOf));
    }
    if (has('two-replicas')) {
      const outcomes = seeds.map((seed) => cells.twoReplicas(context, seed));
      yield row('two replicas', `${run.windows} windows`, cycleFindings(outcomes));
    }
  }
}

interface Result {
  rows: readonly Row[];
  /** 1 if a limit is not kept, 2 if the arguments cannot be used. */
  status: number;
}

/** Simulates one profile in a process of its own, because the simulation takes a whole core. */
function resultOfProcess(args: readonly string[]): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stdio = { maxBuffer: 2 ** 28 };
    const child = execFile(process.execPath, [process.argv[1]!, ...args], stdio, (error, stdout) => {
      const status = error ? error.code : 0;
      if (typeof status !== 'number') return reject(error!);
      const lines = stdout.split('\n').filter((line) => line !== '');
      resolve({ rows: lines.map((line) => JSON.parse(line) as Row), status });
    });
    child.stderr?.pipe(process.stderr);
  });
}

function print(row: Row, { isJson }: Options): void {
  process.stdout.write(isJson ? `${JSON.stringify(row)}\n` : rowText(row));
}

/** Returns the exit status. */
async function simulate(options: Options, args: readonly string[]): Promise<number> {
  if (!options.isJson) process.stdout.write(TABLE_HEAD);
  if (options.profiles.length === 1) {
    let isKept = true;
    for (const row of rowsOf(options)) {
      isKept &&= row.findings.every((finding) => finding.isKept);
      print(row, options);
    }
    return isKept ? 0 : 1;
  }
  const others = args.filter((arg) => arg !== '--json' && !arg.startsWith('--profiles='));
  const limit = pLimit(os.availableParallelism());
  const results = options.profiles.map((profile) =>
    limit(() => resultOfProcess([...others, `--profiles=${profile}`, '--json'])),
  );
  let highest = 0;
  for (const result of results) {
    const { rows, status } = await result;
    for (const row of rows) print(row, options);
    highest = Math.max(highest, status);
  }
  return highest;
}

async function main(args: readonly string[]): Promise<number> {
  try {
    return await simulate(optionsFrom(args, { profiles: PROFILE_NAMES, cells: CELLS }), args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`autopilot-simulation: ${error.message}\n`);
    return 2;
  }
}

process.exitCode = await main(process.argv.slice(2));
