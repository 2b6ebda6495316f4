/* The options of the command line, each with its limits. */

/** Arguments that cannot be used. */
export class UsageError extends Error {}

export interface NumberOption {
  /** Absent: each profile has its own. */
  preset?: number;
  min: number;
  max: number;
  isWhole?: boolean;
}

const count = (preset: number | undefined, min: number, max: number): NumberOption => ({
  ...(preset !== undefined && { preset }),
  min,
  max,
  isWhole: true,
});
const amount = (preset: number | undefined, min: number, max: number): NumberOption => ({
  ...(preset !== undefined && { preset }),
  min,
  max,
});

/** Options of the engine and its requests. Each overrides the constants of all profiles. */
export const ENGINE_OPTIONS = {
  'max-num-seqs': count(undefined, 1, 4_096),
  'max-num-batched-tokens': count(undefined, 1, 1_000_000),
  'step-ms': amount(undefined, 0.1, 10_000),
  'token-us': amount(undefined, 0, 1_000_000),
  'kv-token-us': amount(undefined, 0, 10_000),
  'kv-tokens': count(undefined, 100, 100_000_000),
  'input-tokens': amount(undefined, 1, 1_000_000),
  'output-tokens': amount(undefined, 2, 100_000),
  'input-sigma': amount(undefined, 0, 3),
  'output-sigma': amount(undefined, 0, 3),
} as const satisfies Record<string, NumberOption>;

export const RUN_OPTIONS = {
  seeds: count(200, 1, 1_000_000),
  'first-seed': count(1, 0, 1_000_000_000),
  minutes: count(90, 10, 10_080),
  'window-minutes': count(30, 5, 10_080),
  windows: count(10, 1, 1_000),
  'cycle-minutes': count(15, 5, 10_080),
  'patience-s': amount(60, 1, 86_400),
  'truth-minutes': count(60, 5, 10_080),
  'truth-runs': count(4, 1, 1_000),
  low: amount(0.05, 0, 1),
  utilisation: amount(0.6, 0.05, 0.9),
  felt: amount(2, 1, 100),
  margin: amount(1.3, 1.01, 100),
  'intrinsic-share': amount(0.8, 0.01, 0.99),
  'goal-share': amount(0.72, 0.01, 0.99),
  'min-samples': count(50, 1, 1_000_000),
  confidence: amount(0.95, 0.5, 0.9999),
  'spare-replicas': count(0, 0, 100),
} as const satisfies Record<string, NumberOption>;

export type EngineOption = keyof typeof ENGINE_OPTIONS;
export type RunOption = keyof typeof RUN_OPTIONS;

export interface Options {
  run: Record<RunOption, number>;
  engine: Partial<Record<EngineOption, number>>;
  /** Statistic of every SLO. */
  stat: string;
  /** Whether the number of slots of the engine is declared to the diagnosis. */
  declaresSlots: boolean;
  profiles: string[];
  cells: string[];
  isJson: boolean;
}

const STATS = ['p50', 'p90', 'p95', 'p99', 'avg'];

/**
 * Reads `--name=value` arguments.
 * @param known names of the profiles and of the kinds of cells
 * @throws UsageError that names the argument, if it is unknown or out of its limits
 */
export function optionsFrom(
  args: readonly string[],
  known: { profiles: readonly string[]; cells: readonly string[] },
): Options {
  const given = new Map<string, string>();
  for (const arg of args) {
    if (arg === '--json') {
      given.set('json', '');
      continue;
    }
    const [, name, value] = /^--([a-z-]+)=(.+)$/.exec(arg) ?? [];
    if (name === undefined || value === undefined) throw new UsageError(`unknown argument ${arg}: use --name=value`);
    if (given.has(name)) throw new UsageError(`--${name} is given twice`);
    given.set(name, value);
  }
  const take = (name: string): string | undefined => {
    const value = given.get(name);
    given.delete(name);
    return value;
  };
  const numbers = (table: Record<string, NumberOption>): Record<string, number> =>
    Object.fromEntries(
      Object.entries(table).flatMap(([name, option]): [string, number][] => {
        const text = take(name);
        const value = text === undefined ? option.preset : numberOf(name, text, option);
        return value === undefined ? [] : [[name, value]];
      }),
    );
  const options: Options = {
    run: numbers(RUN_OPTIONS) as Options['run'],
    engine: numbers(ENGINE_OPTIONS),
    stat: oneOf('stat', take('stat') ?? 'p95', STATS),
    declaresSlots: oneOf('declare-slots', take('declare-slots') ?? 'yes', ['yes', 'no']) === 'yes',
    profiles: listOf('profiles', take('profiles'), known.profiles),
    cells: listOf('cells', take('cells'), known.cells),
    isJson: take('json') !== undefined,
  };
  const [rest] = given.keys();
  if (rest !== undefined) throw new UsageError(`unknown option --${rest}: ${namesOf().join(', ')}`);
  return options;
}

function namesOf(): string[] {
  const names = [...Object.keys(RUN_OPTIONS), ...Object.keys(ENGINE_OPTIONS)];
  return [...names, 'stat', 'declare-slots', 'profiles', 'cells'].map((name) => `--${name}=`).concat('--json');
}

function numberOf(name: string, text: string, { min, max, isWhole }: NumberOption): number {
  const value = Number(text);
  if (!(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
    throw new UsageError(`--${name}=${text}: give ${isWhole ? 'a whole number' : 'a number'} of ${min} to ${max}`);
  return value;
}

function oneOf(name: string, value: string, allowed: readonly string[]): string {
  if (!allowed.includes(value)) throw new UsageError(`--${name}=${value}: give one of ${allowed.join(', ')}`);
  return value;
}

function listOf(name: string, text: string | undefined, allowed: readonly string[]): string[] {
  return text === undefined ? [...allowed] : text.split(',').map((one) => oneOf(name, one, allowed));
}
