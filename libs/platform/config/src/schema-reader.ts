import type { ConfigReader } from './config-reader.js';
import { keysOf, type MappingSchema, type Schema } from './setting-schemas.js';

/** The parts of a schema that the reader uses. All other parts are for editors, or for the caller of the reader. */
interface ReadableSchema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: { pattern: string };
  maxProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  minimum?: number;
  maximum?: number;
  anyOf?: Schema[];
}

/**
 * Reads a value by its schema, so that a key is defined once for editors and for the reader. Reports problems by key
 * path and returns the usable part of the value. Does not fill in defaults.
 */
export function readAs(reader: ConfigReader, path: string, value: unknown, schema: Schema): unknown {
  const readable: ReadableSchema = schema;
  if (readable.enum) return readEnum(reader, path, value, readable.enum);
  if (readable.anyOf) return readAny(reader, path, value, readable.anyOf);
  switch (readable.type) {
    case 'object':
      return readObject(reader, path, value, readable);
    case 'array':
      return readArray(reader, path, value, readable);
    case 'string':
      return readText(reader, path, value, readable);
    case 'integer':
    case 'number':
      return readNumber(reader, path, value, readable);
    default: {
      const types = [readable.type ?? []].flat();
      if (!types.includes(typeof value)) reader.fail(path, `must be ${types.map(named).join(' or ')}`);
      return value;
    }
  }
}

function readObject(reader: ConfigReader, path: string, value: unknown, schema: ReadableSchema): unknown {
  const { properties, required = [], additionalProperties: others, propertyNames } = schema;
  const bag = reader.map(path, value, properties && keysOf(schema as MappingSchema));
  if (Object.keys(bag).length > (schema.maxProperties ?? Infinity))
    reader.fail(path, `must not have more than ${schema.maxProperties} entries`);
  for (const key of required)
    if (bag[key] === undefined && Object(value) === value) reader.fail(`${path}.${key}`, 'is required');
  const entries = Object.entries(bag).flatMap(([key, one]): [string, unknown][] => {
    const of = properties ? ownOf(properties, key) : typeof others === 'object' ? others : undefined;
    if (of === undefined || one === undefined) return [];
    const names = propertyNames && new RegExp(propertyNames.pattern);
    if (names && !names.test(key)) reader.fail(`${path}.${key}`, `is not a valid name (${names.source})`);
    return [[key, readAs(reader, `${path}.${key}`, one, of)]];
  });
  // Without assignments, because a key of the file may be called `__proto__`.
  return Object.fromEntries(entries);
}

function ownOf<T>(bag: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(bag, key) ? bag[key] : undefined;
}

function readArray(
  reader: ConfigReader,
  path: string,
  value: unknown,
  { items, minItems, maxItems }: ReadableSchema,
): unknown {
  const list = reader.list(path, value);
  if (Array.isArray(value) && list.length < (minItems ?? 0)) reader.fail(path, 'must not be empty');
  if (list.length > (maxItems ?? Infinity)) reader.fail(path, `must not have more than ${maxItems} entries`);
  return items ? list.map((one, index) => readAs(reader, `${path}[${index}]`, one, items)) : list;
}

function readText(reader: ConfigReader, path: string, value: unknown, { pattern, minLength }: ReadableSchema): unknown {
  if (value === '' && pattern === undefined && minLength === undefined) return value;
  const isScalar = typeof value === 'number' || typeof value === 'boolean';
  if (isScalar) reader.fail(path, `must be text: put it in quotes, as in "${value}"`);
  else reader.string(path, value, pattern === undefined ? undefined : new RegExp(pattern));
  return value;
}

function readNumber(reader: ConfigReader, path: string, value: unknown, schema: ReadableSchema): unknown {
  const { type, minimum: min = -Infinity, maximum: max = Infinity } = schema;
  const isOne = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (isOne && (value as number) >= min && (value as number) <= max) return value;
  const range = [min > -Infinity ? ` from ${min}` : '', max < Infinity ? ` to ${max}` : ''].join('');
  reader.fail(path, `must be a ${type === 'integer' ? 'whole ' : ''}number${range}`);
  return min > -Infinity ? min : 0;
}

function readEnum(reader: ConfigReader, path: string, value: unknown, known: unknown[]): unknown {
  if (known.includes(value)) return value;
  reader.fail(path, `must be ${known.join(' or ')}, not ${JSON.stringify(value)}`);
  return known[0];
}

/** Uses the first schema that has the type of the value. */
function readAny(reader: ConfigReader, path: string, value: unknown, schemas: Schema[]): unknown {
  const of = schemas.find(({ type, enum: known }) =>
    Array.isArray(known) ? known.includes(value) : [type].flat().includes(typeOf(value)),
  );
  if (of) return readAs(reader, path, value, of);
  reader.fail(
    path,
    `must be ${schemas.map((one) => named(one['type'] ?? (one['enum'] as unknown[]).join(' or '))).join(' or ')}`,
  );
  return undefined;
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

const NAMED: Record<string, string> = {
  object: 'a mapping',
  array: 'a list',
  string: 'text',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
};

function named(type: unknown): string {
  return NAMED[String(type)] ?? String(type);
}
