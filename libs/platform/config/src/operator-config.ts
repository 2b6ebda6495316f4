import type { AllowEntry } from '@slipway/contracts';
import { addedTo } from './added-settings.js';
import { ConfigReader } from './config-reader.js';
import { readOutbound, type Outbound } from './outbound.js';
import { readAccelerators, type Accelerators } from './prices.js';
import { readQuotas, type QuotaSettings } from './quotas.js';
import { readRetention, type Retention } from './retention.js';
import { MAX_INSTANCES, readShares, SHARE_KEYS, type SharedTarget } from './target-shares.js';
import { readAs } from './schema-reader.js';
import { keysOf, SECRET, SECRET_REFERENCE, TENANTS, type MappingSchema } from './setting-schemas.js';
import { isOwnVariable } from './variables/variables.js';
import { isMap, isSeq, parseDocument, type YAMLError, type YAMLWarning } from 'yaml';

/** One execution target. The other keys of a kind are read by its folder in `libs/targets`. */
export interface TargetConfig extends SharedTarget {
  name: string;
  kind: string;
  /**
   * The most starts at a time on one accelerator; a start ends when the instance is ready or has failed. Undefined = 1.
   */
  start_parallelism_per_device?: number;
  /** Patterns for the addresses of its servers, as `libs/contracts` reads patterns. */
  allow?: AllowEntry[];
}

/** Reads the keys of one kind of target. */
export interface TargetReader {
  readonly kind: string;
  /** Its keys in addition to `TARGET_KEYS`, in the schema for editors. */
  readonly schema: Pick<MappingSchema, 'properties' | 'required'>;
  /** The default if the file has no `max_instances`. */
  readonly maxInstances?: number;
  /** Loads the code of a kind that is loaded only if a file names it. Before that, only `kind` may be read. */
  load?(): Promise<void>;
  /** @param path of the entry, for the problems of the entry */
  read(reader: ConfigReader, path: string, entry: Record<string, unknown>): object;
}

/** Names a secret of a cluster, which Slipway passes on without reading it. */
export interface SecretReference {
  /** The name of the Secret, in the namespace of its user. */
  name: string;
  key: string;
}

/**
 * Says where the value of a secret is; never contains the value. Exactly one of `env`, `file` and `kubernetes` is set.
 */
export interface SecretConfig {
  env?: string;
  file?: string;
  kubernetes?: SecretReference;
  value?: never;
  /** Names of the tenants that may use it; undefined = only the operator tenant. */
  tenants?: string[];
  /**
   * Patterns for the origins to which it may be sent; undefined = only the operator tenant sends it, to any origin that
   * its target allows.
   */
  origins?: string[];
}

/** The operator's file. */
export interface OperatorConfig {
  targets: TargetConfig[];
  secrets: Record<string, SecretConfig>;
  /** Origins that the product may call in addition to targets. */
  outbound?: Outbound;
  /** Read this through `quotasOf`, which knows the defaults. */
  quotas?: QuotaSettings;
  /** Read this through `retentionOf`, which knows the defaults. */
  retention?: Partial<Retention>;
  /** Read prices through `priceOf`. */
  accelerators?: Accelerators;
  /** Targets whose unreachable units the operator gives up: Slipway no longer waits for their end. */
  abandoned_targets?: string[];
}

/** The names that the operator may give to targets and engines. */
export const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
export const SECRET_NAME = /^[a-z0-9]([-_a-z0-9]{0,61}[a-z0-9])?$/;
/** The keys that every target has. */
export const TARGET_KEYS = {
  properties: {
    name: {
      type: 'string',
      pattern: NAME.source,
      description: 'Name of the target; revisions refer to it in runtime.target',
    },
    kind: { type: 'string' },
    max_instances: {
      type: 'integer',
      minimum: 1,
      maximum: MAX_INSTANCES,
      description: 'Maximum number of instances, across all tenants',
    },
    tenants: { ...TENANTS, description: 'Tenants that may use the target. Default: all tenants' },
    ...SHARE_KEYS,
  },
};
export const ABANDONED_TARGETS = {
  type: 'array',
  maxItems: 100,
  items: { type: 'string', pattern: NAME.source },
  description:
    'Targets whose units Slipway gives up if it can no longer reach them. Their instances count as stopped, even if a unit still runs',
};
/** `defaults` is removed before. It is in the list so that a misspelling of it gets a suggestion. */
const SETTINGS = [
  'targets',
  'secrets',
  'outbound',
  'quotas',
  'retention',
  'accelerators',
  'abandoned_targets',
  'defaults',
];
export const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * The settings to which a file is added, in the format of the file, and whether they apply if the file has no
 * `defaults`.
 */
export interface BuiltIn {
  settings: Record<string, unknown>;
  areOn: boolean;
}

/**
 * @param readers of the available kinds of targets; without them targets are ignored, for processes that run none
 * @throws OperatorConfigError that names every problem by its key path
 */
export function parseOperatorConfig(
  source: string,
  readers?: readonly TargetReader[],
  builtIn: BuiltIn = { settings: {}, areOn: false },
): OperatorConfig {
  const written = readMapping(source);
  if ('problems' in written) throw new OperatorConfigError(written.problems);
  const { defaults = builtIn.areOn, ...file } = written.mapping;
  const reader = new ConfigReader();
  if (typeof defaults !== 'boolean') reader.fail('defaults', 'must be true or false');
  const config = readOperatorConfig(reader, defaults === true ? addedTo(builtIn.settings, file) : file, readers);
  if (reader.problems.length > 0) throw new OperatorConfigError(reader.problems);
  return config;
}

function readOperatorConfig(
  reader: ConfigReader,
  settings: Record<string, unknown>,
  readers: readonly TargetReader[] | undefined,
): OperatorConfig {
  const root = reader.map('', settings, SETTINGS);
  const outbound = readOutbound(reader, root['outbound']);
  const quotas = readQuotas(reader, root['quotas']);
  const retention = readRetention(reader, root['retention']);
  const accelerators = readAccelerators(reader, root['accelerators']);
  const abandoned =
    root['abandoned_targets'] === undefined
      ? undefined
      : (readAs(reader, 'abandoned_targets', root['abandoned_targets'], ABANDONED_TARGETS) as string[]);
  const targets = readers ? readTargets(reader, root['targets'] ?? [], readers) : [];
  const secrets = readSecrets(reader, root['secrets']);
  for (const { path, name, mayBeReference } of reader.secretsNamed) {
    const secret = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
    if (!secret) reader.fail(path, `refers to a secret that the file does not define: ${JSON.stringify(name)}`);
    else if (secret.kubernetes && !mayBeReference)
      reader.fail(
        path,
        `refers to a secret that only a cluster can read: ${JSON.stringify(name)}; define it with env or file`,
      );
  }
  return {
    targets,
    secrets,
    ...(outbound === undefined ? {} : { outbound }),
    ...(quotas === undefined ? {} : { quotas }),
    ...(retention === undefined ? {} : { retention }),
    ...(accelerators === undefined ? {} : { accelerators }),
    ...(abandoned === undefined ? {} : { abandoned_targets: abandoned }),
  };
}

export class OperatorConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
    this.name = 'OperatorConfigError';
  }
}

function readTargets(reader: ConfigReader, value: unknown, readers: readonly TargetReader[]): TargetConfig[] {
  const kinds = readers.map(({ kind }) => kind).join(' or ');
  const seen = new Set<string>();
  return reader.list('targets', value).flatMap((entry, index) => {
    const path = `targets[${index}]`;
    const { kind } = Object(entry) as { kind?: unknown };
    const of = readers.find((one) => one.kind === kind);
    if (!of) {
      reader.fail(`${path}.kind`, `must be ${kinds}${kind === undefined ? '' : `, not ${JSON.stringify(kind)}`}`);
      return [];
    }
    const bag = reader.map(path, entry, [...keysOf(TARGET_KEYS), ...keysOf(of.schema)]);
    const name = reader.string(`${path}.name`, bag['name'], NAME);
    if (seen.has(name)) reader.fail(`${path}.name`, `repeats ${JSON.stringify(name)}; target names must be unique`);
    seen.add(name);
    const max =
      bag['max_instances'] === undefined
        ? of.maxInstances
        : reader.whole(`${path}.max_instances`, bag['max_instances'], 1, MAX_INSTANCES);
    const tenants = bag['tenants'] === undefined ? {} : { tenants: reader.names(`${path}.tenants`, bag['tenants']) };
    const limit = max === undefined ? {} : { max_instances: max };
    const shares = readShares(reader, path, bag);
    return [{ name, kind: of.kind, ...limit, ...tenants, ...shares, ...of.read(reader, path, bag) }];
  });
}

function readSecrets(reader: ConfigReader, value: unknown): OperatorConfig['secrets'] {
  if (value === undefined || value === null) return {};
  return Object.fromEntries(
    Object.entries(reader.map('secrets', value)).map(([name, entry]) => {
      const path = `secrets.${name}`;
      if (!SECRET_NAME.test(name)) reader.fail(path, 'is not a valid secret name');
      const bag = reader.map(path, entry, keysOf(SECRET));
      const { env, file, kubernetes } = bag;
      if ([env, file, kubernetes].filter((source) => source !== undefined).length !== 1) {
        reader.fail(path, 'must have exactly one of env, file and kubernetes');
        return [name, {}];
      }
      if (kubernetes !== undefined && bag['origins'] !== undefined)
        reader.fail(
          `${path}.origins`,
          'is not allowed for a kubernetes secret: Slipway never reads its value, so it cannot send it',
        );
      return [name, { ...readSource(reader, path, bag), ...readUse(reader, path, bag) }];
    }),
  );
}

function readSource(reader: ConfigReader, path: string, bag: Record<string, unknown>): SecretConfig {
  const { env, file, kubernetes } = bag;
  if (env !== undefined) {
    const name = reader.string(`${path}.env`, env, ENV_NAME);
    // A secret is sent to engines and servers. Slipway's own keys and logins must never be.
    if (isOwnVariable(name)) reader.fail(`${path}.env`, `must not be ${name}, which Slipway uses itself`);
    return { env: name };
  }
  if (file !== undefined) return { file: reader.string(`${path}.file`, file) };
  return { kubernetes: readAs(reader, `${path}.kubernetes`, kubernetes, SECRET_REFERENCE) as SecretReference };
}

function readUse(reader: ConfigReader, path: string, bag: Record<string, unknown>): Partial<SecretConfig> {
  const { tenants, origins } = bag;
  return {
    ...(tenants === undefined ? {} : { tenants: reader.names(`${path}.tenants`, tenants) }),
    ...(origins === undefined
      ? {}
      : {
          origins: reader
            .list(`${path}.origins`, origins)
            .map((one, index) => reader.origin(`${path}.origins[${index}]`, one)),
        }),
  };
}

/** Returns the content of the file as a mapping, or one line for each YAML mistake. */
function readMapping(source: string): { mapping: Record<string, unknown> } | { problems: string[] } {
  const document = parseDocument(source, { uniqueKeys: true });
  // A warning is about a tag that YAML does not define, such as !env: its value would be the text after it.
  const mistakes = [...document.errors, ...document.warnings];
  if (mistakes.length > 0) return { problems: mistakes.map((mistake) => told(mistake, source)) };
  if (!isMap(document.contents))
    return {
      problems: [
        `the file must be a mapping with keys such as \`targets\`${isSeq(document.contents) ? ', not a list' : ''}`,
      ],
    };
  try {
    return { mapping: document.toJS() as Record<string, unknown> };
  } catch (error) {
    // Aliases of aliases could fill the memory.
    return { problems: [`the file cannot be read: ${error instanceof Error ? error.message : String(error)}`] };
  }
}

function told({ code, message, linePos }: YAMLError | YAMLWarning, source: string): string {
  const [at] = linePos ?? [];
  if (!at) return message.split('\n')[0] ?? message;
  const line = source.split(/\r?\n/)[at.line - 1] ?? '';
  switch (code) {
    case 'TAB_AS_INDENT':
      return `line ${at.line} begins with a tab: indent with spaces`;
    case 'DUPLICATE_KEY':
      return `line ${at.line} repeats the key ${JSON.stringify(keyAt(line, at.col))}: keep one of them`;
    default:
      return `line ${at.line}, column ${at.col}: ${(message.split('\n')[0] ?? message).replace(/ at line \d+, column \d+:?$/, '')}`;
  }
}

function keyAt(line: string, column: number): string {
  return /^[^:,{}[\]]*/.exec(line.slice(column - 1))?.[0].trim() ?? '';
}
