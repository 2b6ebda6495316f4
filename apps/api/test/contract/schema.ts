/** The part of JSON Schema 2020-12 that the document uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  maxProperties?: number;
}

export type Path = (string | number)[];
export type Resolve = (schema: Schema) => Schema;
export type Json = Record<string, unknown>;

/** One property of a request body, at any depth; the first item represents all items of an array. */
export interface Property {
  path: Path;
  /** Without `$ref`, and without the alternative `null`. */
  schema: Schema;
  isRequired: boolean;
  isNullable: boolean;
}

/** Formats a path as errors and warnings do: `targets[0].weight`. */
export function dotted(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}

/** Follows references, and removes the wrappers that `nullable` and a description next to a reference create. */
export function resolver(schemas: Record<string, Schema>): Resolve {
  return function resolve(schema: Schema): Schema {
    if (schema.$ref) return resolve(schemas[schema.$ref.split('/').pop()!]!);
    if (schema.allOf?.length === 1) return resolve(schema.allOf[0]!);
    const alternatives = schema.anyOf?.filter((one) => one.type !== 'null');
    if (alternatives?.length === 1) return resolve(alternatives[0]!);
    return schema;
  };
}

export function typeOf(schema: Schema): string | undefined {
  return Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
}

function isNullable(schema: Schema): boolean {
  return (
    (Array.isArray(schema.type) && schema.type.includes('null')) ||
    Boolean(schema.anyOf?.some((one) => one.type === 'null'))
  );
}

/** Returns every property below an object's schema, depth first. */
export function propertiesOf(given: Schema, resolve: Resolve, path: Path = []): Property[] {
  const object = resolve(given);
  return Object.entries(object.properties ?? {}).flatMap(([name, property]) => {
    const at = [...path, name];
    const schema = resolve(property);
    const one = {
      path: at,
      schema,
      isRequired: Boolean(object.required?.includes(name)),
      isNullable: isNullable(property),
    };
    if (schema.items && typeOf(schema) === 'array') {
      const item = resolve(schema.items);
      const below = item.properties
        ? propertiesOf(item, resolve, [...at, 0])
        : [{ path: [...at, 0], schema: item, isRequired: true, isNullable: false }];
      return [one, ...below];
    }
    return [one, ...(schema.properties ? propertiesOf(schema, resolve, at) : [])];
  });
}

/**
 * Returns a copy of a body with one value replaced. Missing objects and arrays on the path get their required fields.
 */
export function placed(body: Json, root: Schema, path: Path, value: unknown, resolve: Resolve): Json {
  const copy = structuredClone(body);
  let at: any = copy;
  let schema = resolve(root);
  path.forEach((part, index) => {
    const isLast = index === path.length - 1;
    schema = resolve(typeof part === 'number' ? schema.items! : schema.properties![part]!);
    if (isLast) at[part] = value;
    else at = at[part] = fitting(at[part], schema, resolve);
  });
  return copy;
}

function fitting(given: unknown, schema: Schema, resolve: Resolve): unknown {
  const isArray = typeOf(schema) === 'array';
  if (isArray) return Array.isArray(given) && given.length > 0 ? given : [sampleOf(schema.items!, resolve)];
  return typeof given === 'object' && given !== null ? given : sampleOf(schema, resolve);
}

/** Returns the minimal value that fits a schema. */
export function sampleOf(given: Schema, resolve: Resolve): unknown {
  const schema = resolve(given);
  if (schema.enum) return schema.enum[0];
  switch (typeOf(schema)) {
    case 'string':
      return textOf(schema, Math.max(schema.minLength ?? 1, 1));
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items!, resolve));
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties![name]!, resolve)]),
      );
    default:
      return 'any';
  }
}

/** Returns a text of exactly this length that fits pattern and format, if one of the usual shapes does. */
export function textOf(schema: Schema, length: number): string {
  if (schema.format === 'date-time') return '2027-01-01T00:00:00Z';
  if (schema.format === 'uri') return `https://models.example.com/${'a'.repeat(Math.max(0, length - 27))}`;
  const shapes = ['a', '/', 'A', '0'].map((first) =>
    first.padEnd(length, first === '/' ? 'a' : first).slice(0, Math.max(length, 0)),
  );
  const fixed = ['USD', '0644', 'a'.repeat(64), 'a', '/a'];
  const pattern = schema.pattern === undefined ? undefined : new RegExp(schema.pattern, 'u');
  return [...shapes, ...fixed].find((shape) => pattern === undefined || pattern.test(shape)) ?? 'a'.repeat(length);
}
