import {
  fieldPath,
  isWhole,
  kindOf,
  pathText,
  schemaAt,
  type RequestSchema,
  type Schema,
  type SchemaError,
} from './schema.js';

/** What is wrong with a field, in words. */
export interface Fault {
  text: string;
  /** The word of the schema that it is against, such as `required` or `pattern`. */
  keyword: string;
}

/** By the field's path as the api writes it. */
export type Faults = Readonly<Record<string, Fault>>;

/** What the schema has against a body; the api has the last word. The first fault of a field is the one that counts. */
export function faultsOf({ schema, validate }: RequestSchema, body: unknown): Faults {
  if (validate(body)) return {};
  const faults: Record<string, Fault> = {};
  for (const error of validate.errors ?? []) {
    const segments = error.instancePath.split('/').slice(1).map(unescaped);
    const isMissing = error.keyword === 'required';
    if (isMissing) segments.push(String(error.params['missingProperty']));
    const path = fieldPath(schema, segments);
    // Within what one field asks for, it must say which of its words is meant.
    const inner = segments.length > path.length && !isMissing ? `${segments.reduce(memberOf, body) as string}: ` : '';
    faults[pathText(path)] ??= {
      text: inner + textOf(error, schemaAt(schema, path) ?? schema),
      keyword: error.keyword,
    };
  }
  return faults;
}

/** What the api had against what was sent, at the fields that it names. */
export function refusedFields(
  schema: Schema,
  details: readonly { field: string; message: string }[],
  aliases: Readonly<Record<string, string>> = {},
): Faults {
  const faults: Record<string, Fault> = {};
  for (const { field, message } of details) {
    const [first = '', ...deeper] = field.split(/[.[\]]/).filter((segment) => segment !== '');
    const segments = [aliases[first] ?? first, ...deeper];
    faults[pathText(fieldPath(schema, segments))] ??= { text: message, keyword: 'refused' };
  }
  return faults;
}

function textOf({ keyword, params }: SchemaError, schema: Schema): string {
  const limit = String(params['limit']);
  if (keyword === 'required') return 'This field is required.';
  if (keyword === 'minimum') return `At least ${limit}`;
  if (keyword === 'exclusiveMinimum') return `More than ${limit}`;
  if (keyword === 'maximum') return `At most ${limit}`;
  if (keyword === 'minLength') return `At least ${countText(limit, 'character')}`;
  if (keyword === 'maxLength') return `At most ${countText(limit, 'character')}`;
  if (keyword === 'minItems') return `At least ${countText(limit, 'item')}`;
  if (keyword === 'maxItems' || keyword === 'maxProperties') return `At most ${countText(limit, 'item')}`;
  if (keyword === 'uniqueItems') return 'No duplicates';
  if (keyword === 'enum') return `One of ${(params['allowedValues'] as unknown[]).join(', ')}`;
  if (keyword === 'pattern') return `Must match ${String(params['pattern'])}`;
  return TYPES[kindOf(schema)] ?? (isWhole(schema) ? 'A whole number' : 'A number');
}

const countText = (count: string, noun: string): string => `${count} ${noun}${count === '1' ? '' : 's'}`;

/** What something is when it cannot be read as what it must be. */
const TYPES: Partial<Record<ReturnType<typeof kindOf>, string>> = {
  pairs: 'Pairs such as team=search',
  json: 'A JSON object',
  moment: 'A date and time',
};

/** As JSON pointers write names. */
const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

const memberOf = (value: unknown, name: string): unknown => (value as Record<string, unknown> | undefined)?.[name];
