import {
  dotted,
  placed,
  propertiesOf,
  sampleOf,
  textOf,
  typeOf,
  type Json,
  type Property,
  type Resolve,
  type Schema,
} from './schema.js';

/** A body that differs from a valid one in one property. */
export interface Variation {
  /** The change, for people. */
  what: string;
  /** The property as an error names it. */
  field: string;
  body: Json;
  /** Codes of an issue with this field that must come, or must not. */
  codes: string[];
}

export interface Limits {
  allowed: Variation[];
  refused: Variation[];
}

const OF_EACH_TYPE: Record<string, unknown> = {
  string: 'text',
  number: 7.5,
  boolean: true,
  object: { some: 'object' },
  array: ['item'],
};

/** Returns, for each property, values of every type that it does not have. */
export function wrongTypes(root: Schema, body: Json, resolve: Resolve): Variation[] {
  return propertiesOf(root, resolve).flatMap((property) => {
    const type = typeOf(property.schema);
    if (type === undefined) return [];
    const values = Object.entries(OF_EACH_TYPE)
      .filter(([name]) => name !== type)
      .map(([, value]) => value);
    if (type === 'number') values.push('7');
    if (!property.isNullable) values.push(null);
    return values.map((value) => vary(property, value, root, body, resolve, ['type'], JSON.stringify(value)));
  });
}

/** Returns, for each property that the document allows to be null, the body in which it is. */
export function nulls(root: Schema, body: Json, resolve: Resolve): Variation[] {
  return propertiesOf(root, resolve)
    .filter(({ isNullable }) => isNullable)
    .map((property) => vary(property, null, root, body, resolve, ['type'], 'null'));
}

/** Returns, for each bound of the schema, the last value within it and the first one beyond it. */
export function limits(root: Schema, body: Json, resolve: Resolve): Limits {
  const allowed: Variation[] = [];
  const refused: Variation[] = [];
  for (const property of propertiesOf(root, resolve)) {
    const add = (to: Variation[], what: string, value: unknown, code: string): void =>
      void to.push(vary(property, value, root, body, resolve, [code], what));
    const { schema } = property;
    if (schema.maxLength !== undefined && !schema.enum) {
      const wide = schema.pattern === undefined && schema.format === undefined ? '𝔞' : undefined;
      add(allowed, `${schema.maxLength} characters`, textOf(schema, schema.maxLength), 'too_long');
      if (wide)
        add(allowed, `${schema.maxLength} characters beyond the BMP`, wide.repeat(schema.maxLength), 'too_long');
      add(refused, `${schema.maxLength + 1} characters`, 'a'.repeat(schema.maxLength + 1), 'too_long');
    }
    if ((schema.minLength ?? 0) > 0 && !schema.enum) add(refused, 'no character', '', 'too_short');
    if (schema.enum) add(refused, 'a value that is not listed', 'none-of-these', 'enum');
    if (schema.minimum !== undefined) {
      add(allowed, `the minimum ${schema.minimum}`, schema.minimum, 'min');
      add(refused, `${schema.minimum} - 1`, schema.minimum - 1, 'min');
    }
    if (schema.exclusiveMinimum !== undefined)
      add(refused, `the excluded ${schema.exclusiveMinimum}`, schema.exclusiveMinimum, 'min');
    if (schema.maximum !== undefined) {
      add(allowed, `the maximum ${schema.maximum}`, schema.maximum, 'max');
      add(refused, `${schema.maximum} + 1`, schema.maximum + 1, 'max');
    }
    if (schema.maxItems !== undefined) {
      add(allowed, `${schema.maxItems} items`, items(schema, schema.maxItems, resolve), 'max_items');
      add(refused, `${schema.maxItems + 1} items`, items(schema, schema.maxItems + 1, resolve), 'max_items');
    }
    if ((schema.minItems ?? 0) > 0)
      add(refused, `${schema.minItems! - 1} items`, items(schema, schema.minItems! - 1, resolve), 'min_items');
    if (schema.maxProperties !== undefined) {
      add(allowed, `${schema.maxProperties} entries`, entries(schema.maxProperties), 'max_entries');
      add(refused, `${schema.maxProperties + 1} entries`, entries(schema.maxProperties + 1), 'max_entries');
    }
  }
  return { allowed, refused };
}

/**
 * Returns a body with an unknown field in every object whose fields the schema lists, and the names of those fields.
 */
export function withUnknownFields(root: Schema, body: Json, resolve: Resolve): { body: Json; fields: string[] } {
  const copy = structuredClone(body);
  const fields: string[] = [];
  const visit = (given: Schema, value: any, path: (string | number)[]): void => {
    const schema = resolve(given);
    if (Array.isArray(value))
      return value.forEach((item, index) => schema.items && visit(schema.items, item, [...path, index]));
    if (typeof value !== 'object' || value === null || !schema.properties) return undefined;
    for (const [name, property] of Object.entries(schema.properties)) visit(property, value[name], [...path, name]);
    value['x_nobody_knows'] = { deep: [1] };
    fields.push(dotted([...path, 'x_nobody_knows']));
    return undefined;
  };
  visit(root, copy, []);
  return { body: copy, fields: fields.sort() };
}

/** Returns the nested objects of a body whose fields the schema lists, as `strategy.steps[0]`. */
export function nestedObjects(root: Schema, resolve: Resolve): string[] {
  const fields = propertiesOf(root, resolve).filter((property) => typeof property.path.at(-1) === 'string');
  const parents = fields.map((property) => dotted(property.path.slice(0, -1)));
  return [...new Set(parents)].filter((parent) => parent !== '');
}

function vary(
  property: Property,
  value: unknown,
  root: Schema,
  body: Json,
  resolve: Resolve,
  codes: string[],
  what: string,
): Variation {
  const field = dotted(property.path);
  return { what: `${field} = ${what}`, field, codes, body: placed(body, root, property.path, value, resolve) };
}

function items(schema: Schema, length: number, resolve: Resolve): unknown[] {
  const item = resolve(schema.items!);
  return Array.from({ length }, (_, index) =>
    schema.uniqueItems && !item.enum ? `a${index}` : sampleOf(item, resolve),
  );
}

function entries(length: number): Json {
  return Object.fromEntries(Array.from({ length }, (_, index) => [`k${index}`, 'v']));
}
