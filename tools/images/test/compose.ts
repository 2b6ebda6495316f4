import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Service {
  build?: { target: string };
  command?: string[];
  environment: Record<string, string>;
  volumes: string[];
  replicas: number;
}

type Variables = Record<string, string | undefined>;

interface WrittenService {
  build?: { target: string };
  command?: string[];
  environment?: Record<string, string | null>;
  volumes?: string[];
  deploy?: { replicas?: number };
}

/** The services of a Compose file, with the variables of an `.env` file inserted as Compose does. */
export function servicesOf(file: string, variables: Variables): Record<string, Service> {
  const { services } = parse(readFileSync(file, 'utf8'), { merge: true }) as {
    services: Record<string, WrittenService>;
  };
  return Object.fromEntries(Object.entries(services).map(([name, service]) => [name, inserted(service, variables)]));
}

function inserted(
  { build, command, environment = {}, volumes = [], deploy }: WrittenService,
  variables: Variables,
): Service {
  // A variable without a value is passed on if it is set.
  const given = Object.entries(environment).map(([name, value]) => [
    name,
    value === null ? variables[name] : insert(value, variables),
  ]);
  return {
    ...(build && { build }),
    ...(command && { command: command.map((word) => insert(word, variables)) }),
    environment: Object.fromEntries(given.filter(([, value]) => value !== undefined)) as Record<string, string>,
    volumes: volumes.map((volume) => insert(volume, variables)),
    replicas: deploy?.replicas ?? 1,
  };
}

/** Replaces `${NAME}`, `${NAME:-default}` and `${NAME:?message}`, which may be nested, and `$$`. */
export function insert(text: string, variables: Variables): string {
  let result = '';
  for (let at = 0; at < text.length; at += 1) {
    if (text.startsWith('$$', at)) {
      result += '$';
      at += 1;
    } else if (text.startsWith('${', at)) {
      const end = closingBrace(text, at + 2);
      result += valueOf(text.slice(at + 2, end), variables);
      at = end;
    } else result += text[at];
  }
  return result;
}

function closingBrace(text: string, from: number): number {
  for (let at = from, depth = 1; at < text.length; at += 1) {
    if (text.startsWith('${', at)) depth += 1;
    else if (text[at] === '}' && --depth === 0) return at;
  }
  throw new Error(`a brace is not closed: ${text}`);
}

function valueOf(expression: string, variables: Variables): string {
  const [, name, operator, rest = ''] = /^(\w+)(?:(:[-?])([^]*))?$/.exec(expression) ?? [];
  if (name === undefined) throw new Error(`unknown expression: ${expression}`);
  const value = variables[name];
  if (value) return value;
  if (operator === ':?') throw new Error(`${name}: ${rest}`);
  return operator === ':-' ? insert(rest, variables) : '';
}
