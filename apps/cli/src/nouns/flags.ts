import { Option, type Command } from 'commander';
import { CliError } from '../exit-codes.js';
import { deploymentNameOf } from '../habits.js';
import type { Session } from '../session.js';
import { DEFAULT_ROWS, type Flag, type CommandInput, type Verb } from './verb.js';

type Reader = (text: string, name: string, session: Session) => unknown;

const READERS: Record<NonNullable<Flag['as']>, Reader> = {
  text: (text: string) => text,
  number: numberOf,
  /** A duration, as the seconds that the api expects. */
  seconds: (text: string, name) => durationMs(text, name) / 1_000,
  /** JSON, or the name of a file after an @. */
  json: async (text: string, name, session) =>
    text.startsWith('@') ? (await inputs()).readBody(text.slice(1), session) : jsonOf(text, name),
  analysis: (text: string, name, session) => (text === 'none' ? { mode: 'none' } : READERS.json(text, name, session)),
  file: async (file: string, _name, session) => (await inputs()).readBody(file, session),
  secret: async (file: string, _name, session) => (await (await inputs()).readText(file, session)).trim(),
  list: (text: string) => text.split(',').map((one) => one.trim()),
  pairs: pairsOf,
  weights: (text: string, name) => weightsOf(text, name),
  steps: (text: string, name) => stepsOf(text, name),
  flag: (value) => value,
  /** A flag without a value that means `full`. */
  full: () => 'full',
  since: (text: string, name) => timeOf(text, name, -1),
  until: (text: string, name) => timeOf(text, name, 1),
};

export const ALLOW_UNKNOWN = 'send fields that the api does not know; it ignores them and warns (default: refuse them)';

const inputs = () => import('../input-files.js');

export function addFlags(command: Command, verb: Verb): void {
  for (const flag of flagsOf(verb)) command.addOption(optionOf(flag));
  if (verb.takesBody) command.option('-f, --file <file>', 'JSON or YAML file with the request body; - reads stdin');
  if (verb.takesBody && !('run' in verb)) command.option('--allow-unknown', ALLOW_UNKNOWN);
  if (verb.takesKey)
    command.option(
      '--idempotency-key <key>',
      'key of this request; a request already made with it is not repeated (default: a new key)',
    );
  if (verb.takesIfMatch) command.option('--if-match <etag>', 'fail if the resource has changed since it had this etag');
  if ('run' in verb) return;
  if (verb.rehearse) command.option('--dry-run', 'make all checks and show what would happen, but change nothing');
  if (verb.answersOperation)
    command
      .option('--wait', 'wait until the operation ends; fail if it fails')
      .option(
        '--timeout <time>',
        'how long to wait, such as 90s or 10m; the operation continues after that (default: 1h)',
      );
  if (verb.isList)
    command
      .option('-L, --limit <rows>', `maximum number of rows (default: ${DEFAULT_ROWS})`)
      .option('-w, --watch', 'keep polling, and show each row again when it changes')
      .option('--interval <time>', 'how often --watch polls (default: 2s)');
}

/** The flags of a verb, with those that its list has. */
export const flagsOf = (verb: Verb): readonly Flag[] => [
  ...(verb.flags ?? []),
  ...('isByTime' in verb && verb.isByTime ? BY_TIME : []),
];

export const SINCE: Flag = {
  flags: '--since <time>',
  summary: 'only those of this last time, such as 10m or 2d, or since a time',
  as: 'since',
};

/** The period of a list by time. */
export const PERIOD: readonly Flag[] = [
  { ...SINCE, query: 'since' },
  { flags: '--until <time>', summary: 'only those before a time, or before so long ago', query: 'until', as: 'since' },
];

/** The fields of the query that a list by time has. */
export const BY_TIME_FIELDS = ['since', 'until', 'order'];

const BY_TIME: readonly Flag[] = [
  ...PERIOD,
  {
    flags: '--order <order>',
    summary: 'desc for the newest first, asc for the oldest first (default: desc)',
    query: 'order',
    values: ['desc', 'asc'],
  },
];

function optionOf({ flags, summary, values, isRepeatable, as = 'text' }: Flag): Option {
  const option = new Option(flags, summary);
  // Each use of the flag adds pairs, as each -F of gh and each --set of helm does.
  if (as === 'pairs') option.argParser((text, before: string | undefined) => (before ? `${before},${text}` : text));
  if (isRepeatable) option.argParser((text, before: string[] | undefined) => [...(before ?? []), text]);
  // The members of a list are left to the api, which knows all of them.
  if (values !== undefined && as === 'text') option.choices(values);
  return option;
}

export async function givenOf(command: Command, verb: Verb, session: Session): Promise<CommandInput> {
  const flags = command.opts<Record<string, unknown>>();
  const body =
    verb.takesBody && flags['file'] ? await READERS.file(flags['file'] as string, '--file', session) : undefined;
  const options: CommandInput['options'] = { signal: session.signal };
  let fields = body;
  for (const flag of flagsOf(verb)) {
    const name = nameOf(flag.flags);
    const text = flags[name];
    if (text === undefined) continue;
    const typed = flag.source === 'deployment' ? deploymentNameOf(text as string) : (text as string);
    const value = await READERS[flag.as ?? 'text'](typed, flag.flags, session);
    flags[name] = value;
    if (flag.query) options[flag.query] = value;
    if (flag.body) fields = withField(fields ?? {}, flag.body.split('.'), value);
  }
  if (verb.takesIfMatch && flags['ifMatch']) options['ifMatch'] = flags['ifMatch'];
  const args = command.processedArgs.flatMap((arg, index) =>
    (arg === undefined ? [] : [arg].flat()).map((one) => namedBy(command, index, String(one))),
  );
  return { args, body: fields, options, flags };
}

/** A chat also takes the slug of a product, which has a slash. */
function namedBy(command: Command, index: number, given: string): string {
  const kind = command.registeredArguments[index]?.name() ?? '';
  return ['deployment', 'operation'].includes(kind) && command.name() !== 'chat' ? deploymentNameOf(given) : given;
}

/** Returns the name that commander gives to a flag: `--reason <text>` is `reason`, `--base-url` is `baseUrl`. */
function nameOf(flags: string): string {
  const long = /--(?:no-)?([\w-]+)/.exec(flags)![1]!;
  return long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function withField(body: unknown, [key, ...deeper]: string[], value: unknown): object {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new CliError('The body in --file must be an object if other flags add fields to it.');
  return {
    ...body,
    [key!]: deeper.length === 0 ? value : withField((body as Record<string, unknown>)[key!] ?? {}, deeper, value),
  };
}

export function numberOf(text: string, name: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new CliError(`${name}: ${text} is not a number.`);
  return value;
}

function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${name}: invalid JSON: ${text}`);
  }
}

function pairsOf(text: string, name: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new CliError(`${name}: use key=value pairs separated by commas.`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1)];
    }),
  );
}

/** `chat-00001=90,chat-00002=10` */
function weightsOf(text: string, name: string): { revision: string; weight: number }[] {
  return Object.entries(pairsOf(text, name)).map(([revision, weight]) => ({
    revision,
    weight: numberOf(weight, name),
  }));
}

/** `10:60,100:60`: the share of the traffic in percent, and the duration in seconds. */
function stepsOf(text: string, name: string): { traffic_percent: number; soak_seconds?: number }[] {
  return text.split(',').map((step) => {
    const [share, soak] = step.split(':');
    return {
      traffic_percent: numberOf(share!, name),
      ...(soak !== undefined && { soak_seconds: numberOf(soak, name) }),
    };
  });
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
const MOST_MS = 7 * 24 * 3_600_000;

/** `90s`, `10m`, `1h30m`, `2d`; a number alone is in seconds. */
export function durationMs(text: string, name: string): number {
  const ms = spanMs(text);
  if (ms === undefined || ms > MOST_MS)
    throw new CliError(`${name}: use a duration such as 90s, 10m or 1h30m, at most 168h.`);
  return ms;
}

function spanMs(text: string): number | undefined {
  const given = text.trim();
  if (/^\d+(?:\.\d+)?$/.test(given)) return Number(given) * 1_000;
  let [sum, length] = [0, 0];
  for (const [part, amount, unit] of given.matchAll(/(\d{1,15}(?:\.\d{1,15})?)(ms|[smhdw])/g)) {
    sum += Number(amount) * UNITS[unit!]!;
    length += part.length;
  }
  // A text with anything else is no duration.
  return length > 0 && length === given.length ? sum : undefined;
}

/** `10m` before or after now, as a time; a time stays as it is. */
function timeOf(text: string, name: string, direction: 1 | -1): string {
  const given = text.trim();
  if (/^\d{4}-\d\d-\d\d/.test(given) && !Number.isNaN(Date.parse(given))) return given;
  const time = new Date(Date.now() + direction * (spanMs(given) ?? NaN));
  if (Number.isNaN(time.getTime()))
    throw new CliError(`${name}: use a duration such as 10m, 1h30m or 2d, or a time such as 2026-01-01T12:00:00Z.`);
  return time.toISOString();
}
