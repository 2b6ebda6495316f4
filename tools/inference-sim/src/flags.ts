import { DEFAULT_ITERATION, iterationProblem, iterationSettings, type IterationOptions } from './iteration-settings.js';

/** All options of a simulator. Times are in milliseconds, counted from the start of the process or of the request. */
export interface SimulatorOptions extends IterationOptions {
  /** 0 uses any free port. */
  port: number;
  host: string;
  /**
   * The only model that is served. Its name is part of every answer's text, so that a test can distinguish two
   * revisions.
   */
  model: string;
  /** Time from the arrival of a request to its first token. */
  ttftMs: number;
  /** Time between two tokens of an answer. */
  itlMs: number;
  /** Additional time of an answer for each other request in flight when it arrives, as a share of its time alone. */
  slowdown: number;
  /** Share of inference requests that are answered 500, from 0 to 1. */
  errorRate: number;
  /** /health and /v1 answer 503 until this time. */
  startupMs: number;
  /** /health and /v1 always answer 503. */
  neverReady: boolean;
  /** The process exits with 1 as soon as this many inference requests have been answered. */
  crashAfter?: number;
  /** The process exits with 1 this long after it began to listen. */
  crashAfterMs?: number;
  /** Length of an answer, in tokens, unless the request sets a lower limit. */
  tokens: number;
  /**
   * Makes the choice of failing requests repeatable: the same seed fails the same positions in the order of arrival.
   * Iterations of an engine that computes in batches have the same jitter, too.
   */
  seed?: number;
  /** A file that gets one JSON line per start. */
  startLog?: string;
  /** If set, /v1 requires it as a bearer token. */
  apiKey?: string;
  maxBodyBytes: number;
}

export const DEFAULT_OPTIONS: SimulatorOptions = {
  port: 8000,
  host: '127.0.0.1',
  model: 'sim',
  ttftMs: 0,
  itlMs: 0,
  slowdown: 0,
  errorRate: 0,
  startupMs: 0,
  neverReady: false,
  tokens: 16,
  maxBodyBytes: 16 * 1024 * 1024,
};

type FlagKind = 'text' | 'switch' | { min: number; max: number; whole: boolean };

interface Flag {
  option: keyof SimulatorOptions;
  kind: FlagKind;
  placeholder: string;
  description: string;
}

const MILLISECONDS: FlagKind = { min: 0, max: 2 ** 31 - 1, whole: false };
const TOKEN_MICROSECONDS: FlagKind = { min: 0, max: 1_000_000, whole: false };
const count = (min: number, max: number): FlagKind => ({ min, max, whole: true });

/** The flags, in the order in which the usage shows them. */
export const FLAGS: Readonly<Record<string, Flag>> = {
  port: {
    option: 'port',
    kind: count(0, 65_535),
    placeholder: 'N',
    description: 'port to listen on; 0 takes any free one',
  },
  host: { option: 'host', kind: 'text', placeholder: 'ADDRESS', description: 'address to listen on' },
  model: {
    option: 'model',
    kind: 'text',
    placeholder: 'ID',
    description: 'id of the only model; every response contains it',
  },
  'ttft-ms': { option: 'ttftMs', kind: MILLISECONDS, placeholder: 'MS', description: 'time to the first token' },
  'itl-ms': { option: 'itlMs', kind: MILLISECONDS, placeholder: 'MS', description: 'time between two tokens' },
  slowdown: {
    option: 'slowdown',
    kind: { min: 0, max: 1000, whole: false },
    placeholder: 'SHARE',
    description: 'extra time of a response for each other request in flight, as a share of its own time',
  },
  'max-num-seqs': {
    option: 'maxNumSeqs',
    kind: count(1, 65_536),
    placeholder: 'N',
    description: `most requests in a batch; others wait in order (${DEFAULT_ITERATION.maxNumSeqs})`,
  },
  'max-num-batched-tokens': {
    option: 'maxNumBatchedTokens',
    kind: count(1, 2 ** 31 - 1),
    placeholder: 'N',
    description: `most tokens of an iteration, at least --max-num-seqs (${DEFAULT_ITERATION.maxNumBatchedTokens})`,
  },
  'step-ms': {
    option: 'stepMs',
    kind: { min: 0, max: 60_000, whole: false },
    placeholder: 'MS',
    description: 'fixed time of an iteration (0)',
  },
  'token-us': {
    option: 'tokenUs',
    kind: TOKEN_MICROSECONDS,
    placeholder: 'US',
    description: 'time per token that an iteration computes, in microseconds (0)',
  },
  'kv-token-us': {
    option: 'kvTokenUs',
    kind: TOKEN_MICROSECONDS,
    placeholder: 'US',
    description: 'time per token of context in an iteration, in microseconds (0)',
  },
  'kv-tokens': {
    option: 'kvTokens',
    kind: count(1, 2 ** 31 - 1),
    placeholder: 'N',
    description: 'tokens that the KV cache holds (no limit)',
  },
  'error-rate': {
    option: 'errorRate',
    kind: { min: 0, max: 1, whole: false },
    placeholder: 'SHARE',
    description: 'share of inference requests that fail with 500, 0..1',
  },
  'startup-ms': {
    option: 'startupMs',
    kind: MILLISECONDS,
    placeholder: 'MS',
    description: '/health and /v1 return 503 for this time',
  },
  'never-ready': {
    option: 'neverReady',
    kind: 'switch',
    placeholder: '',
    description: '/health and /v1 always return 503',
  },
  'crash-after': {
    option: 'crashAfter',
    kind: count(1, 2 ** 31 - 1),
    placeholder: 'N',
    description: 'exit with 1 after N inference responses',
  },
  'crash-after-ms': {
    option: 'crashAfterMs',
    kind: MILLISECONDS,
    placeholder: 'MS',
    description: 'exit with 1 after this time',
  },
  tokens: {
    option: 'tokens',
    kind: count(1, 1_000_000),
    placeholder: 'N',
    description: 'tokens in a response, unless max_tokens is less',
  },
  seed: {
    option: 'seed',
    kind: count(0, 2 ** 32 - 1),
    placeholder: 'N',
    description: 'with the same seed, the same requests fail and iterations have the same jitter in each run',
  },
  'start-log': {
    option: 'startLog',
    kind: 'text',
    placeholder: 'FILE',
    description: 'append one JSON line to this file at each start',
  },
  'api-key': { option: 'apiKey', kind: 'text', placeholder: 'KEY', description: 'bearer token that /v1 requires' },
  'max-body-bytes': {
    option: 'maxBodyBytes',
    kind: count(1, 2 ** 31 - 1),
    placeholder: 'N',
    description: 'larger request bodies are rejected with 413',
  },
};

/** An invalid command line; the message names the flag. */
export class FlagError extends Error {}

/**
 * Reads `--flag value` and `--flag=value`, because engine templates use both. A switch may have `true` or `false` as
 * its value, because a template has to set one. If a flag is repeated, the last one wins.
 * @returns `help: true` if the usage was requested; the options are the defaults then
 * @throws FlagError for an unknown flag, or for a missing or invalid value
 */
export function parseFlags(argv: readonly string[]): { options: SimulatorOptions; help: boolean } {
  if (argv.includes('--help') || argv.includes('-h')) return { options: { ...DEFAULT_OPTIONS }, help: true };
  const given: Record<string, unknown> = {};
  for (let index = 0; index < argv.length; index += 1) {
    const [, name = '', joined] = /^--([a-z-]+)(?:=(.*))?$/s.exec(argv[index]!) ?? [];
    const flag = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined;
    if (!flag) throw new FlagError(`unknown argument ${JSON.stringify(argv[index])}`);

    const next = argv[index + 1];
    const takesNext =
      joined === undefined && (flag.kind === 'switch' ? next === 'true' || next === 'false' : next !== undefined);
    if (takesNext) index += 1;
    given[flag.option] = valueOf(name, flag.kind, takesNext ? next : joined);
  }
  const options: SimulatorOptions = { ...DEFAULT_OPTIONS, ...given };
  checkIteration(options);
  return { options, help: false };
}

/** @throws FlagError if flags of batches contradict each other, or flags of the other pace */
function checkIteration(options: SimulatorOptions): void {
  const settings = iterationSettings(options, 0);
  if (!settings) return;
  const problem = iterationProblem(settings);
  if (problem !== undefined) throw new FlagError(`--${problem}`);
  for (const name of ['ttft-ms', 'itl-ms', 'slowdown'])
    if (options[FLAGS[name]!.option] !== 0)
      throw new FlagError(`--${name} has no effect on batches: remove it, or --step-ms and the other flags of batches`);
}

function valueOf(name: string, kind: FlagKind, text: string | undefined): string | number | boolean {
  if (kind === 'switch') {
    if (text === undefined || text === 'true' || text === 'false') return text !== 'false';
    throw new FlagError(`--${name} is a switch: its value must be omitted, true or false, not ${JSON.stringify(text)}`);
  }
  // `--model --port 80` is a forgotten value: no value in an engine template begins with a dash.
  if (text === undefined || text === '' || text.startsWith('--')) throw new FlagError(`--${name} needs a value`);
  if (kind === 'text') return text;
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
  if (value >= kind.min && value <= kind.max && (!kind.whole || Number.isInteger(value))) return value;
  const expected = `a ${kind.whole ? 'whole number' : 'number'} from ${kind.min} to ${kind.max}`;
  throw new FlagError(`--${name} must be ${expected}, not ${JSON.stringify(text)}`);
}

export function usage(): string {
  const lines = Object.entries(FLAGS).map(([name, flag]) => {
    const preset = flag.kind === 'switch' ? undefined : DEFAULT_OPTIONS[flag.option];
    return `  ${`--${name} ${flag.placeholder}`.padEnd(28)}${flag.description}${preset === undefined ? '' : ` (${preset})`}`;
  });
  const title = [
    'usage: node tools/inference-sim/dist/main.js [flags]',
    '',
    'An OpenAI-compatible model server without a model.',
    '',
  ];
  return [...title, ...lines, ''].join('\n');
}
