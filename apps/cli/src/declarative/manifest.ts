import type { BodyOf } from '@slipway/sdk';
import type { Document, LineCounter } from 'yaml';
import { CliError } from '../exit-codes.js';
import { schemaFaults, type SchemaFault } from '../schema-faults.js';
import schema from './manifest.schema.json' with { type: 'json' };

type Settings = Omit<BodyOf<'createDeployment'>, 'default_strategy' | 'default_analysis'>;

/** The content of a document in a file, as manifest.schema.json describes it. */
export interface Manifest {
  deployment: { name: string } & Partial<Settings>;
  spec?: NonNullable<BodyOf<'createRollout'>['spec']>;
  strategy?: BodyOf<'createDeployment'>['default_strategy'] | null;
  gates?: BodyOf<'createDeployment'>['default_analysis'] | null;
  route?: Omit<BodyOf<'setRoute'>, 'reason'>;
  policy?: BodyOf<'setContinualOptimizationPolicy'>;
}

/** The position of a document in its file, for people. */
export interface LocatedManifest {
  where: string;
  manifest: Manifest;
}

const MOST_DOCUMENTS = 200;
const MOST_ALIASES = 100;
const MOST_TOLD = 20;

export const SCHEMA: object = schema;

interface ReadOptions {
  /** Fields that the schema does not have are reported, and sent to the api, which may be newer than the schema. */
  allowsUnknown?: boolean;
}

interface ReadFiles {
  placed: LocatedManifest[];
  faults: string[];
  unknown: string[];
}

/** Reads every document of these files, and all faults in them: all are checked before the first one is applied. */
export async function manifestsOf(
  files: readonly { file: string; text: string }[],
  { allowsUnknown = false }: ReadOptions = {},
): Promise<ReadFiles> {
  const { parseAllDocuments, LineCounter } = await import('yaml');
  // The api checks formats.
  const faultsIn = await schemaFaults(schema, { validateFormats: false });
  const placed: LocatedManifest[] = [];
  const faults: string[] = [];
  const unknown: string[] = [];
  for (const { file, text } of files) {
    const lines = new LineCounter();
    for (const document of parseAllDocuments(text, { lineCounter: lines }) as Document[]) {
      const [broken] = document.errors;
      if (broken) faults.push(`${file}:${broken.linePos?.[0].line ?? 1}: ${broken.message.split('\n')[0]}`);
      // A `---` at the end of a file begins an empty document.
      const value = broken ? null : valueOf(document, file);
      if (value === null) continue;
      const all = faultsIn(value);
      const isAllowed = ({ keyword }: SchemaFault) => allowsUnknown && keyword === 'additionalProperties';
      const found = all.filter((one) => !isAllowed(one));
      const tell = (one: SchemaFault) => `${whereOf(document, one.path, file, lines)}: ${said(one)}`;
      unknown.push(...all.filter(isAllowed).map(tell));
      if (found.length === 0)
        placed.push({ where: whereOf(document, [], file, lines), manifest: value as unknown as Manifest });
      faults.push(...found.map(tell));
    }
  }
  if (placed.length > MOST_DOCUMENTS)
    throw new CliError(`Too many deployments: at most ${MOST_DOCUMENTS} in one command.`);
  const told = (lines: readonly string[]) => [...new Set(lines)].slice(0, MOST_TOLD);
  return { placed, faults: told([...faults, ...repeated(placed)]), unknown: told(unknown) };
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

function whereOf(document: Document, path: readonly string[], file: string, lines: LineCounter): string {
  const node = (path.length > 0 ? document.getIn(path, true) : document.contents) as { range?: [number] } | undefined;
  if (!node?.range) return path.length > 0 ? whereOf(document, path.slice(0, -1), file, lines) : file;
  return `${file}:${lines.linePos(node.range[0]).line}`;
}

/** Only the schema of the route uses `not`. */
const said = ({ path, keyword, message }: SchemaFault): string =>
  [path.join('.'), keyword === 'not' ? 'sets both revision and targets' : message].filter(Boolean).join(' ');

function repeated(placed: readonly LocatedManifest[]): string[] {
  const first = new Map<string, string>();
  return placed.flatMap(({ where, manifest }) => {
    const { name } = manifest.deployment;
    const before = first.get(name);
    if (before === undefined) first.set(name, where);
    return before === undefined ? [] : [`${where}: ${name} is already defined at ${before}`];
  });
}
