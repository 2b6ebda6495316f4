import type { Command } from 'commander';
import { CliError } from '../exit-codes.js';
import type { Session } from '../session.js';
import { ROWS, type Flag, type Given, type Verb } from './verb.js';

const READERS = {
  text: (text: string) => text,
  number: (text: string, name: string) => numberOf(text, name),
  /** JSON, or the name of a file behind an @. */
  json: (text: string, name: string) => jsonOf(text, name),
  list: (text: string) => text.split(',').map((one) => one.trim()),
  pairs: (text: string, name: string) => pairsOf(text, name),
  flag: (value: unknown) => value,
} satisfies Record<NonNullable<Flag['as']>, unknown>;

export function addFlags(command: Command, verb: Verb): void {
  for (const { flags, summary } of verb.flags ?? []) command.option(flags, summary);
  if (verb.takesBody) command.option('-f, --file <file>', 'the body of the request, JSON or YAML; - is stdin');
  if (verb.takesKey) command.option('--idempotency-key <key>', 'adopts the request that was made with this key');
  if (verb.takesIfMatch) command.option('--if-match <etag>', 'only where nobody has changed it since');
  if ('run' in verb) return;
  if (verb.rehearse) command.option('--dry-run', 'make every check, change nothing, show what would happen');
  if (verb.answersOperation)
    command
      .option('--wait', 'wait for the end of the operation, and fail where it fails')
      .option('--timeout <time>', 'how long to wait: 90s, 10m, 1h. The work goes on (default: 1h)');
  if (verb.isList)
    command
      .option('--limit <rows>', `at most so many rows (default: ${ROWS})`)
      .option('--watch', 'go on, and show each row again that changes');
}

export async function givenOf(command: Command, verb: Verb, session: Session): Promise<Given> {
  const flags = command.opts<Record<string, any>>();
  const { readBody } = await import('../input-files.js');
  const body = verb.takesBody && flags['file'] ? await readBody(flags['file'] as string, session) : undefined;
  const options: Record<string, any> = { signal: session.signal };
  let fields: any = body;
  for (const flag of verb.flags ?? []) {
    const name = nameOf(flag.flags);
    const text = flags[name];
    if (text === undefined) continue;
    const read = READERS[flag.as ?? 'text'] as (text: unknown, name: string) => unknown;
    const value = read(text, flag.flags);
    flags[name] = value;
    if (flag.query) options[flag.query] = value;
    if (flag.body) fields = withField(fields ?? {}, flag.body.split('.'), value);
  }
  if (verb.takesIfMatch && flags['ifMatch']) options['ifMatch'] = flags['ifMatch'];
  return { args: command.processedArgs.filter((arg) => arg !== undefined).map(String), body: fields, options, flags };
}

/** As commander names what a flag was given: `--reason <text>` is `reason`, `--base-url` is `baseUrl`. */
function nameOf(flags: string): string {
  const long = /--(?:no-)?([\w-]+)/.exec(flags)![1]!;
  return long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function withField(body: any, [key, ...deeper]: string[], value: unknown): any {
  if (body === null || typeof body !== 'object' || Array.isArray(body))
    throw new CliError('The body of --file must be an object where flags add to it.');
  return { ...body, [key!]: deeper.length === 0 ? value : withField(body[key!] ?? {}, deeper, value) };
}

function numberOf(text: string, name: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new CliError(`${name}: ${text} is no number.`);
  return value;
}

function jsonOf(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`${name}: this is no JSON: ${text}`);
  }
}

function pairsOf(text: string, name: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new CliError(`${name}: write key=value, with commas between them.`);
      return [pair.slice(0, at).trim(), pair.slice(at + 1)];
    }),
  );
}

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const MOST_MS = 7 * 24 * 3_600_000;

/** `90s`, `10m`, `1h`; a number alone is seconds. */
export function durationMs(text: string, name: string): number {
  const [, amount, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim()) ?? [];
  const ms = Number(amount) * UNITS[unit]!;
  if (amount === undefined || ms > MOST_MS) throw new CliError(`${name}: write a time such as 90s, 10m or 1h.`);
  return ms;
}
