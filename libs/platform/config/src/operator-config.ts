import { isMap, isSeq, parseDocument, type Document } from 'yaml';
import { ConfigReader } from './config-reader.js';

/** One execution target. What else a kind has is the business of its folder in `libs/targets`. */
export interface TargetConfig {
  name: string;
  kind: string;
  /** Instances it runs at most, over all tenants; undefined = no limit. */
  max_instances?: number;
  /** Origins that the product may call in its name, as `libs/contracts` reads patterns. */
  allow?: string[];
}

/** Reads what one kind of target has beside its name. */
export interface TargetReader {
  readonly kind: string;
  /** Its keys beside `name`, `kind` and `max_instances`. */
  readonly keys: readonly string[];
  /** Where the file names no `max_instances`. */
  readonly maxInstances?: number;
  /** @param path of the entry, for the problems it finds */
  read(reader: ConfigReader, path: string, entry: Record<string, unknown>): object;
}

/** The operator's file. A secret names where its value is; the value itself never stands here. */
export interface OperatorConfig {
  targets: TargetConfig[];
  secrets: Record<string, { env?: string; file?: string; value?: never }>;
}

/** How the operator names targets and engines. */
export const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
export const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/**
 * @param readers of the kinds of targets there are; without them targets are not looked at, for processes that run none
 * @throws OperatorConfigError naming every problem by its key path
 */
export function parseOperatorConfig(source: string, readers?: readonly TargetReader[]): OperatorConfig {
  const document: Document.Parsed = parseDocument(source, { uniqueKeys: true });
  if (document.errors.length > 0)
    throw new OperatorConfigError(document.errors.map((error) => error.message.split('\n')[0] ?? error.message));
  if (!isMap(document.contents))
    throw new OperatorConfigError([
      `the file must be a mapping${isSeq(document.contents) ? ', not a list' : ''} with \`targets\``,
    ]);
  const reader = new ConfigReader();
  const root = reader.map('', document.toJS(), ['targets', 'secrets']);
  const config: OperatorConfig = {
    targets: readers ? readTargets(reader, root['targets'], readers) : [],
    secrets: readSecrets(reader, root['secrets']),
  };
  if (reader.problems.length > 0) throw new OperatorConfigError(reader.problems);
  return config;
}

export class OperatorConfigError extends Error {
  constructor(readonly problems: string[]) {
    super(problems.join('\n'));
    this.name = 'OperatorConfigError';
  }
}

/** Every address that some target of the operator may call. */
export function allowedOrigins({ targets }: Pick<OperatorConfig, 'targets'>): string[] {
  return [...new Set(targets.flatMap(({ allow = [] }) => allow))];
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
    const bag = reader.map(path, entry, ['name', 'kind', 'max_instances', ...of.keys]);
    const name = reader.string(`${path}.name`, bag['name'], NAME);
    if (seen.has(name)) reader.fail(`${path}.name`, `repeats ${JSON.stringify(name)}; target names are unique`);
    seen.add(name);
    const max =
      bag['max_instances'] === undefined
        ? of.maxInstances
        : reader.whole(`${path}.max_instances`, bag['max_instances'], 1, 10_000);
    return [
      { name, kind: of.kind, ...(max === undefined ? {} : { max_instances: max }), ...of.read(reader, path, bag) },
    ];
  });
}

function readSecrets(reader: ConfigReader, value: unknown): OperatorConfig['secrets'] {
  if (value === undefined || value === null) return {};
  return Object.fromEntries(
    Object.entries(reader.map('secrets', value)).map(([name, entry]) => {
      const path = `secrets.${name}`;
      if (!/^[a-z0-9]([-_a-z0-9]{0,61}[a-z0-9])?$/.test(name)) reader.fail(path, 'is not a valid secret name');
      const bag = reader.map(path, entry, ['env', 'file']);
      if ((bag['env'] === undefined) === (bag['file'] === undefined)) {
        reader.fail(path, 'must have exactly one of env and file');
        return [name, {}];
      }
      if (bag['env'] !== undefined) return [name, { env: reader.string(`${path}.env`, bag['env'], ENV_NAME) }];
      return [name, { file: reader.string(`${path}.file`, bag['file']) }];
    }),
  );
}
