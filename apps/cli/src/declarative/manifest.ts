import type { BodyOf } from '@slipway/sdk';
import type { ErrorObject } from 'ajv';
import type { Document, LineCounter } from 'yaml';
import { CliError } from '../exit-codes.js';
import schema from './manifest.schema.json' with { type: 'json' };

type Settings = Omit<BodyOf<'createDeployment'>, 'default_strategy' | 'default_analysis'>;

/** What a document of a file says, by manifest.schema.json. */
export interface Manifest {
  deployment: { name: string } & Partial<Settings>;
  spec?: NonNullable<BodyOf<'createRollout'>['spec']>;
  strategy?: BodyOf<'createDeployment'>['default_strategy'] | null;
  gates?: BodyOf<'createDeployment'>['default_analysis'] | null;
  route?: Omit<BodyOf<'setRoute'>, 'reason'>;
  policy?: BodyOf<'setContinualOptimizationPolicy'>;
}

/** Where a document stands, for people. */
export interface Placed {
  where: string;
  manifest: Manifest;
}

const MOST_DOCUMENTS = 200;
const MOST_ALIASES = 100;
const MOST_TOLD = 20;

export const SCHEMA: object = schema;

/** Every document of these files, and what is wrong with them: all are judged before the first is applied. */
export async function manifestsOf(
  files: readonly { file: string; text: string }[],
): Promise<{ placed: Placed[]; faults: string[] }> {
  const [{ parseAllDocuments, LineCounter }, { Ajv }] = await Promise.all([import('yaml'), import('ajv')]);
  // Formats are for the api to judge.
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true, strict: false, validateFormats: false }).compile(
    schema,
  );
  const placed: Placed[] = [];
  const faults: string[] = [];
  for (const { file, text } of files) {
    const lines = new LineCounter();
    for (const document of parseAllDocuments(text, { lineCounter: lines }) as Document[]) {
      const [broken] = document.errors;
      if (broken) faults.push(`${file}:${broken.linePos?.[0].line ?? 1}: ${broken.message.split('\n')[0]}`);
      // `---` at the end of a file begins a document with nothing in it.
      const value = broken ? null : valueOf(document, file);
      if (value === null) continue;
      if (validate(value))
        placed.push({ where: whereOf(document, [], file, lines), manifest: value as unknown as Manifest });
      else faults.push(...faultsOf(validate.errors ?? [], document, file, lines));
    }
  }
  if (placed.length > MOST_DOCUMENTS) throw new CliError(`More than ${MOST_DOCUMENTS} deployments at once.`);
  return { placed, faults: [...new Set([...faults, ...repeated(placed)])].slice(0, MOST_TOLD) };
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

function faultsOf(errors: readonly ErrorObject[], document: Document, file: string, lines: LineCounter): string[] {
  // Of a choice with null every branch complains; the one that names a field says it.
  const telling = errors.filter(({ keyword }) => keyword !== 'anyOf' && keyword !== 'if');
  const some = telling.filter(({ keyword, params }) => keyword !== 'type' || params['type'] !== 'null');
  return (some.length > 0 ? some : errors).map(({ instancePath, message, params, keyword }) => {
    const path = instancePath.split('/').slice(1).map(unescaped);
    const extra = keyword === 'additionalProperties' ? `: ${String(params['additionalProperty'])}` : '';
    const allowed = keyword === 'enum' ? `: ${(params['allowedValues'] as unknown[]).join(', ')}` : '';
    const said = keyword === 'not' ? 'names both revision and targets' : `${message}${extra}${allowed}`;
    return `${whereOf(document, path, file, lines)}: ${[path.join('.'), said].filter(Boolean).join(' ')}`;
  });
}

const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function repeated(placed: readonly Placed[]): string[] {
  const first = new Map<string, string>();
  return placed.flatMap(({ where, manifest }) => {
    const { name } = manifest.deployment;
    const before = first.get(name);
    if (before === undefined) first.set(name, where);
    return before === undefined ? [] : [`${where}: ${name} stands at ${before} already`];
  });
}
