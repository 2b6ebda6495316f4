import { kindOf, type RequestSchema, type Schema } from '../forms/schema.js';
import { isObject } from '../ui/text/json-shape.js';
import { pairsText } from '../ui/text/listed-text.js';
import { shellLine, type ActionCommands } from '../ui/text/shell-line.js';

/** How the command line says what an action does. */
export interface CliWords {
  /** The noun and the verb, such as `tokens rotate`. */
  words: string;
  /** Fields of the body that are arguments of the command, in order. */
  args?: readonly string[];
  /** The flag of a field that is not named like it, or the words that a value makes. */
  flags?: Readonly<Record<string, string | ((value: never) => string[])>>;
  /** The last flag, such as `--yes` for a command that asks before it runs. */
  end?: string;
}

interface ActionRequest {
  request: RequestSchema;
  /** The values of the parameters in its path, in order. The command has them as its first arguments. */
  ids: readonly string[];
  body: object;
  etag?: string;
}

/**
 * Returns an action as curl and as a line for the shell, derived from its request. A copied text may be pasted
 * anywhere, so it never contains a secret of the body.
 */
export function commandsOf({ request, ids, body, etag }: ActionRequest, cli: CliWords): ActionCommands {
  const left = [...ids];
  const shown = withoutSecrets(request.schema, body) as Record<string, unknown>;
  return {
    curl: {
      method: request.method,
      path: request.path.replace(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? '')),
      body: Object.keys(shown).length > 0 ? shown : undefined,
      ...(etag !== undefined && { headers: { 'if-match': etag } }),
    },
    cli: lineOf(request.schema, cli, ids, shown, etag),
  };
}

function lineOf(
  schema: Schema,
  { words, args = [], flags = {}, end }: CliWords,
  ids: readonly string[],
  body: Record<string, unknown>,
  etag: string | undefined,
): string {
  const command = ['slipway', ...words.split(' '), ...ids, ...args.map((name) => String(body[name] ?? ''))];
  const last = [...(etag === undefined ? [] : ['--if-match', etag]), ...(end ? [end] : [])];
  // No flag can hold null, which removes a field.
  if (hasNull(body)) return `${shellLine(...command, '--file', '-', ...last)} <<< ${shellLine(JSON.stringify(body))}`;
  const given = Object.entries(body).flatMap(([name, value]): string[] => {
    if (value === undefined || args.includes(name)) return [];
    const flag = flags[name] ?? `--${name.replaceAll('_', '-')}`;
    if (typeof flag === 'function') return flag(value as never);
    const inner = schema.properties?.[name] ?? {};
    return isSecret(inner) ? [`${flag}-file`, '-'] : [flag, flagText(inner, value)];
  });
  return shellLine(...command, ...given, ...last);
}

function flagText(schema: Schema, value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(',');
  return kindOf(schema) === 'pairs' ? pairsText(value) : JSON.stringify(value);
}

const isSecret = ({ format }: Schema): boolean => format === 'password';

function withoutSecrets(schema: Schema, value: unknown, name = ''): unknown {
  if (isSecret(schema)) return name.toUpperCase();
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([inner, one]) => [inner, withoutSecrets(schema.properties?.[inner] ?? {}, one, inner)]),
  );
}

const hasNull = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.values(value).some(hasNull));
