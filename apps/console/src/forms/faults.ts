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

/** A fault of a field, in words. */
export interface Fault {
  text: string;
  /** The schema's keyword that it violates, such as `required` or `pattern`. */
  keyword: string;
}

/** By the field's path in the api's notation. */
export type Faults = Readonly<Record<string, Fault>>;

/** Returns the schema's faults in a body; the api decides finally. Only the first fault of a field counts. */
export function faultsOf({ schema, validate }: RequestSchema, body: unknown): Faults {
  if (validate(body)) return {};
  const faults: Record<string, Fault> = {};
  for (const error of validate.errors ?? []) {
    const segments = error.instancePath.split('/').slice(1).map(unescaped);
    const isMissing = error.keyword === 'required';
    if (isMissing) segments.push(String(error.params['missingProperty']));
    const path = fieldPath(schema, segments);
    // If a field holds several words, the fault must name the word that it is about.
    const inner = segments.length > path.length && !isMissing ? `${segments.reduce(memberOf, body) as string}: ` : '';
    faults[pathText(path)] ??= {
      text: inner + textOf(error, schemaAt(schema, path) ?? schema),
      keyword: error.keyword,
    };
  }
  return faults;
}

/** Returns the api's refusal, at the fields that it names. */
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

/** The message for a value that cannot be read as its type. */
const TYPES: Partial<Record<ReturnType<typeof kindOf>, string>> = {
  pairs: 'Pairs such as team=search',
  json: 'A JSON object',
  moment: 'A date and time',
};

/** JSON pointers escape names this way. */
const unescaped = (segment: string): string => segment.replaceAll('~1', '/').replaceAll('~0', '~');

const memberOf = (value: unknown, name: string): unknown => (value as Record<string, unknown> | undefined)?.[name];
