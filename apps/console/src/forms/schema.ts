/** The parts of a JSON Schema that a form reads; its references were resolved when the console was built. */
export interface Schema {
  type?: string | readonly string[];
  description?: string;
  default?: unknown;
  example?: unknown;
  enum?: readonly unknown[];
  format?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
}

/** An error in the format of ajv. */
export interface SchemaError {
  /** A JSON pointer into the value. */
  instancePath: string;
  keyword: string;
  params: Record<string, unknown>;
}

/** A request: its address, the schema of its body, and a function that validates a value. */
export interface RequestSchema {
  method: string;
  /** With the names of its parameters in braces. */
  path: string;
  schema: Schema;
  validate: { (value: unknown): boolean; errors?: SchemaError[] | null };
}

/**
 * The control for a value: `choices` are some of a list, `words` a list of texts, `pairs` are texts by free names, and
 * `json` is any other content of an object.
 */
export type Kind =
  'text' | 'number' | 'check' | 'choice' | 'choices' | 'moment' | 'words' | 'pairs' | 'json' | 'group' | 'rows';

export function kindOf({ type, items, properties, additionalProperties, enum: values, format }: Schema): Kind {
  const types = typeof type === 'string' ? [type] : (type ?? []);
  const [first] = types.filter((one) => one !== 'null');
  if (first === 'boolean') return 'check';
  if (first === 'integer' || first === 'number') return 'number';
  if (first === 'array') return items?.properties ? 'rows' : items?.enum ? 'choices' : 'words';
  if (first === 'object' && properties) return 'group';
  if (first === 'object') return typeof additionalProperties === 'object' ? 'pairs' : 'json';
  if (values) return 'choice';
  return format === 'date-time' ? 'moment' : 'text';
}

export const isWhole = ({ type }: Schema): boolean => type === 'integer' || (type?.includes('integer') ?? false);

/** The path of a field: names, and positions in lists. */
export type Path = readonly (string | number)[];

/** In the api's notation: `strategy.steps[0].soak_seconds`. */
export const pathText = (path: Path): string =>
  path.map((one, at) => (typeof one === 'number' ? `[${one}]` : at === 0 ? one : `.${one}`)).join('');

/** The same for every row: `strategy.steps[].soak_seconds`. */
export const patternText = (path: Path): string => pathText(path).replaceAll(/\[\d+\]/g, '[]');

/** Returns the field that holds the value at a path: a path may lead further into it, such as to one word of a list. */
export function fieldPath(schema: Schema, path: readonly string[]): Path {
  const found: (string | number)[] = [];
  let at: Schema | undefined = schema;
  for (const segment of path) {
    const kind: Kind | undefined = at && kindOf(at);
    if (kind === 'group') at = at!.properties![segment];
    else if (kind === 'rows') at = at!.items;
    else break;
    found.push(kind === 'rows' ? Number(segment) : segment);
  }
  return found;
}

/** @returns undefined if the schema has no such field */
export function schemaAt(schema: Schema, path: Path): Schema | undefined {
  let at: Schema | undefined = schema;
  for (const segment of path) at = typeof segment === 'number' ? at?.items : at?.properties?.[segment];
  return at;
}

export const isRequired = (schema: Schema, path: Path): boolean =>
  schemaAt(schema, path.slice(0, -1))?.required?.includes(String(path.at(-1))) ?? false;
