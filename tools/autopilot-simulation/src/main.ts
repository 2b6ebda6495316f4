import { execFile } from 'node:child_process';
import os from 'node:os';
import { LEAST_SCORES } from '@slipway/diagnosis';
import pLimit from 'p-limit';
import * as cells from './cells.js';
import {
  cycleFindings,
  idleFindings,
  intrinsicFindings,
  learningFindings,
  namedFindings,
  predictionFindings,
  sizingFindings,
  tally,
  worseFindings,
  type Finding,
} from './criteria.js';
import { Tenant, worsePlan, type ExecutedPlan, type Size } from './learning.js';
import { optionsFrom, UsageError, type Options } from './options.js';
import { PoolInstance } from './pool.js';
import { PROFILE_NAMES, profilesOf, type Profile } from './profiles.js';
import { rowText, TABLE_HEAD, type Row } from './table.js';

/** A tenant has services of all profiles, so this cell is not one of a profile. */
const LEARNING = 'learning';
const CELLS = ['single', 'load-dependent', 'nothing-to-gain', 'two-replicas', 'worse', LEARNING];
const SIZES: readonly Size[] = [
  [1, 2],
  [2, 3],
  [2, 4],
];
/** Of the seeds, because each of them is simulated three times as long. */
const WORSE_SHARE = 0.1;

/** Instances that are enough, and of which none can go. */
const ENOUGH = 3;
/** One instance that is alone with a request at times, and one that is not. */
const SINGLE: readonly (readonly [string, cells.Quietness])[] = [
  ['quiet at times', { utilisation: 0.2, low: 0.05 }],
  ['always busy', { utilisation: 0.7, low: 1 }],
];

/** @throws UsageError if no engine can have the constants of the profile */
function checkedContext(profile: Profile, options: Options): cells.CellContext {
  try {
    new PoolInstance(profile, 0, 0);
  } catch (error) {
    throw new UsageError(`${profile.name}: ${(error as Error).message}`);
  }
  return cells.contextOf(profile, options);
}

function* learningRows(options: Options): Generator<Row> {
  const { run } = options;
  const contexts = profilesOf(options.profiles, options.engine).map((profile) => checkedContext(profile, options));
  const tenant = new Tenant();
  const plans: ExecutedPlan[] = [];
  // A deployment without a plan is followed by the next one. If that happens to half of them, the count shows it.
  for (let index = 0; plans.length < LEAST_SCORES + run.seeds && index < 2 * (LEAST_SCORES + run.seeds); index += 1) {
    const context = contexts[index % contexts.length] as cells.CellContext;
    const size = SIZES[Math.floor(index / contexts.length) % SIZES.length] as Size;
    const plan = tenant.execute(context, run['first-seed'] + index, size);
    if (plan) plans.push(plan);
  }
  const later = plans.slice(LEAST_SCORES);
  const profile = contexts.map((context) => context.profile.name).join(', ');
  const causes = tally(later.map(({ result }) => result));
  yield { cell: LEARNING, profile, case: 'one tenant', findings: learningFindings(later), causes };
}

const causeOf = ({ cause }: { cause: string }): string => cause;

function* profileRows(options: Options): Generator<Row> {
  const { run } = options;
  const seeds = Array.from({ length: run.seeds }, (_, index) => run['first-seed'] + index);
  for (const profile of profilesOf(options.profiles, options.engine)) {
    const context = checkedContext(profile, options);
    const row = (cell: string, name: string, findings: Finding[], causes: string[] = []): Row => {
      return { cell, profile: profile.name, case: name, findings, causes: tally(causes) };
    };
    const has = (cell: string): boolean => options.cells.includes(cell);
    if (has('single')) {
      const all: cells.IntrinsicOutcome[] = [];
      for (const [name, quietness] of SINGLE) {
        const outcomes = seeds.map((seed) => cells.single(context, seed, quietness));
        const [unreachable, met] = [outcomes.map(({ intrinsic }) => intrinsic), outcomes.map((one) => one.comfortable)];
        all.push(...unreachable);
        yield row('intrinsic', name, intrinsicFindings(unreachable), unreachable.map(causeOf));
        yield row('nothing to gain', `1 needed, ${name}`, idleFindings(met), met.map(causeOf));
      }
      yield row('intrinsic', 'all of them', namedFindings(all));
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
    if (has('worse')) {
      const few = seeds.slice(0, Math.ceil(WORSE_SHARE * seeds.length));
      const outcomes = few.flatMap((seed) => worsePlan(context, seed) ?? []);
      yield row(
        'worse',
        'slower instances',
        worseFindings(outcomes),
        outcomes.map(({ because }) => because),
      );
    }
  }
}

interface Result {
  rows: readonly Row[];
  /** 1 if a limit is not kept, 2 if the arguments cannot be used. */
  status: number;
}

/** Simulates some cells in a process of its own, because the simulation takes a whole core. */
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
  const ofProfiles = options.cells.filter((cell) => cell !== LEARNING);
  const isLearning = ofProfiles.length < options.cells.length;
  if (options.profiles.length === 1 || ofProfiles.length === 0) {
    let isKept = true;
    for (const rows of [ofProfiles.length > 0 ? profileRows(options) : [], isLearning ? learningRows(options) : []])
      for (const row of rows) {
        isKept &&= row.findings.every((finding) => finding.isKept);
        print(row, options);
      }
    return isKept ? 0 : 1;
  }
  const others = args.filter((arg) => arg !== '--json' && !/^--(?:profiles|cells)=/.test(arg));
  const parts = options.profiles.map((profile) => [`--profiles=${profile}`, `--cells=${ofProfiles.join(',')}`]);
  if (isLearning) parts.push([`--profiles=${options.profiles.join(',')}`, `--cells=${LEARNING}`]);
  const limit = pLimit(os.availableParallelism());
  const results = parts.map((part) => limit(() => resultOfProcess([...others, ...part, '--json'])));
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
