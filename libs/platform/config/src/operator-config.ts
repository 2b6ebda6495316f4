import { isMap, isSeq, parseDocument, type Document } from 'yaml';
import { parseAllowPattern } from './allow-pattern.js';

/** How one engine of a process target is started. The operator writes it; a client only picks values for `args`. */
export interface EngineConfig {
  /** Program and arguments. Placeholders: see ENGINE_PLACEHOLDERS. */
  command: string[];
  /** What a revision's `runtime.args` may set: name → one argument with `{}` where the value goes. */
  args: Record<string, string>;
  /** Names of environment variables that a revision's `runtime.env` may set. */
  env_allow: string[];
  ready: { path: string; timeout_seconds: number };
}

/** Child processes of the worker's host. */
export interface ProcessTargetConfig {
  name: string;
  kind: 'process';
  max_instances: number;
  engines: Record<string, EngineConfig>;
}

/** OpenAI-compatible servers that already run. `allow`: origins, with `*.` for subdomains and `:*` for any port. */
export interface EndpointTargetConfig {
  name: string;
  kind: 'endpoint';
  allow: string[];
  max_instances?: number;
}

export type TargetConfig = ProcessTargetConfig | EndpointTargetConfig;

/** The operator's file. A secret names where its value is; the value itself never stands here. */
export interface OperatorConfig {
  targets: TargetConfig[];
  secrets: Record<string, { env?: string; file?: string; value?: never }>;
}

/** What `{…}` may stand for in an engine's command. `home` is the absolute SLIPWAY_HOME. */
export const ENGINE_PLACEHOLDERS = [
  'port',
  'home',
  'model.id',
  'model.uri',
  'model.revision',
  'model.format',
  'model.quantization',
] as const;

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const ARG_NAME = /^[a-z][a-z0-9_]{0,62}$/;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

type Path = string;
type Bag = Record<string, unknown>;

/** Collects problems as `<key path> <what is wrong>` and gives back usable values meanwhile, so that one run names them all. */
class Checker {
  readonly problems: string[] = [];

  fail(path: Path, what: string): void {
    this.problems.push(`${path || 'the file'} ${what}`);
  }

  map(path: Path, value: unknown, known?: readonly string[]): Bag {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) {
      this.fail(path, 'must be a mapping');
      return {};
    }
    for (const key of Object.keys(value)) {
      if (known && !known.includes(key))
        this.fail(path ? `${path}.${key}` : key, `is not a known key (known here: ${known.join(', ')})`);
    }
    return value as Bag;
  }

  list(path: Path, value: unknown): unknown[] {
    if (Array.isArray(value)) return value;
    this.fail(path, 'must be a list');
    return [];
  }

  string(path: Path, value: unknown, pattern?: RegExp): string {
    if (typeof value !== 'string' || value === '') {
      this.fail(path, 'must be a non-empty string');
      return '';
    }
    if (pattern && !pattern.test(value)) this.fail(path, `must match ${pattern.source}, not ${JSON.stringify(value)}`);
    return value;
  }

  whole(path: Path, value: unknown, min: number, max: number): number {
    if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
    this.fail(path, `must be a whole number from ${min} to ${max}`);
    return min;
  }
}

/** @throws OperatorConfigError naming every problem by its key path. */
export function parseOperatorConfig(source: string): OperatorConfig {
  const document: Document.Parsed = parseDocument(source, { uniqueKeys: true });
  if (document.errors.length > 0)
    throw new OperatorConfigError(document.errors.map((error) => error.message.split('\n')[0] ?? error.message));
  if (!isMap(document.contents))
    throw new OperatorConfigError([
      `the file must be a mapping${isSeq(document.contents) ? ', not a list' : ''} with \`targets\``,
    ]);
  const check = new Checker();
  const root = check.map('', document.toJS(), ['targets', 'secrets']);
  const config: OperatorConfig = {
    targets: readTargets(check, root['targets']),
    secrets: readSecrets(check, root['secrets']),
  };
  if (check.problems.length > 0) throw new OperatorConfigError(check.problems);
  return config;
}

export class OperatorConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
    this.name = 'OperatorConfigError';
  }
}

function readTargets(check: Checker, value: unknown): TargetConfig[] {
  const seen = new Set<string>();
  return check.list('targets', value).flatMap((entry, index) => {
    const path = `targets[${index}]`;
    const kind = entry !== null && typeof entry === 'object' ? (entry as Bag)['kind'] : undefined;
    if (kind !== undefined && kind !== 'process' && kind !== 'endpoint') {
      check.fail(`${path}.kind`, `must be process or endpoint, not ${JSON.stringify(kind)}`);
      return [];
    }
    const bag = check.map(
      path,
      entry,
      kind === 'endpoint' ? ['name', 'kind', 'allow', 'max_instances'] : ['name', 'kind', 'max_instances', 'engines'],
    );
    if (kind === undefined) check.fail(`${path}.kind`, 'must be process or endpoint');
    const name = check.string(`${path}.name`, bag['name'], NAME);
    if (seen.has(name)) check.fail(`${path}.name`, `repeats ${JSON.stringify(name)}; target names are unique`);
    seen.add(name);
    return [
      kind === 'endpoint' ? readEndpointTarget(check, path, name, bag) : readProcessTarget(check, path, name, bag),
    ];
  });
}

function readProcessTarget(check: Checker, path: Path, name: string, bag: Bag): ProcessTargetConfig {
  const engines = check.map(`${path}.engines`, bag['engines']);
  if (Object.keys(engines).length === 0) check.fail(`${path}.engines`, 'must name at least one engine');
  return {
    name,
    kind: 'process',
    max_instances:
      bag['max_instances'] === undefined ? 16 : check.whole(`${path}.max_instances`, bag['max_instances'], 1, 10_000),
    engines: Object.fromEntries(
      Object.entries(engines).map(([engine, value]) => [
        engine,
        readEngine(check, `${path}.engines.${engine}`, engine, value),
      ]),
    ),
  };
}

function readEndpointTarget(check: Checker, path: Path, name: string, bag: Bag): EndpointTargetConfig {
  const allow = check.list(`${path}.allow`, bag['allow']).map((entry, index) => {
    const at = `${path}.allow[${index}]`;
    const pattern = check.string(at, entry);
    const parsed = pattern === '' ? { problem: undefined } : parseAllowPattern(pattern);
    if (parsed.problem) check.fail(at, parsed.problem);
    return pattern;
  });
  const target: EndpointTargetConfig = { name, kind: 'endpoint', allow };
  if (bag['max_instances'] !== undefined)
    target.max_instances = check.whole(`${path}.max_instances`, bag['max_instances'], 1, 10_000);
  return target;
}

function readEngine(check: Checker, path: Path, name: string, value: unknown): EngineConfig {
  if (!NAME.test(name)) check.fail(path, `is not a valid engine name (${NAME.source})`);
  const bag = check.map(path, value, ['command', 'args', 'env_allow', 'ready']);
  const command = check
    .list(`${path}.command`, bag['command'])
    .map((part, index) => readCommandPart(check, `${path}.command[${index}]`, part));
  if (command.length === 0) check.fail(`${path}.command`, 'must name a program');
  const args = bag['args'] === undefined ? {} : check.map(`${path}.args`, bag['args']);
  const ready = bag['ready'] === undefined ? {} : check.map(`${path}.ready`, bag['ready'], ['path', 'timeout_seconds']);
  return {
    command,
    args: Object.fromEntries(
      Object.entries(args).map(([arg, template]) => [arg, readArgument(check, `${path}.args.${arg}`, arg, template)]),
    ),
    env_allow:
      bag['env_allow'] === undefined
        ? []
        : check
            .list(`${path}.env_allow`, bag['env_allow'])
            .map((entry, index) => check.string(`${path}.env_allow[${index}]`, entry, ENV_NAME)),
    ready: {
      path:
        ready['path'] === undefined ? '/health' : check.string(`${path}.ready.path`, ready['path'], /^\/[\x21-\x7e]*$/),
      timeout_seconds:
        ready['timeout_seconds'] === undefined
          ? 60
          : check.whole(`${path}.ready.timeout_seconds`, ready['timeout_seconds'], 1, 86_400),
    },
  };
}

function readCommandPart(check: Checker, path: Path, value: unknown): string {
  const part = check.string(path, value);
  for (const [, placeholder] of part.matchAll(/\{([^{}]*)\}/g)) {
    if (!ENGINE_PLACEHOLDERS.some((known) => known === placeholder))
      check.fail(path, `uses {${placeholder}}; known: ${ENGINE_PLACEHOLDERS.map((known) => `{${known}}`).join(' ')}`);
  }
  return part;
}

function readArgument(check: Checker, path: Path, name: string, value: unknown): string {
  if (!ARG_NAME.test(name)) check.fail(path, `is not a valid argument name (${ARG_NAME.source})`);
  const template = check.string(path, value);
  if (template !== '' && template.split('{}').length !== 2)
    check.fail(path, 'must contain {} once, where the value goes');
  return template;
}

function readSecrets(check: Checker, value: unknown): OperatorConfig['secrets'] {
  if (value === undefined || value === null) return {};
  return Object.fromEntries(
    Object.entries(check.map('secrets', value)).map(([name, entry]) => {
      const path = `secrets.${name}`;
      if (!/^[a-z0-9]([-_a-z0-9]{0,61}[a-z0-9])?$/.test(name)) check.fail(path, 'is not a valid secret name');
      const bag = check.map(path, entry, ['env', 'file']);
      if ((bag['env'] === undefined) === (bag['file'] === undefined)) {
        check.fail(path, 'must have exactly one of env and file');
        return [name, {}];
      }
      if (bag['env'] !== undefined) return [name, { env: check.string(`${path}.env`, bag['env'], ENV_NAME) }];
      return [name, { file: check.string(`${path}.file`, bag['file']) }];
    }),
  );
}
