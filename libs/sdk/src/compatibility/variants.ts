import type { ComponentSchemas, Schema } from './document.js';

/** One type that a value may have. A schema without a choice has one variant, a nullable one has two. */
export interface Variant {
  /** A JSON type, or `any`. */
  type: string;
  /** With references and `allOf` resolved, and without a choice. */
  schema: Schema;
  /** The component that it is, and the keywords next to the reference to it. */
  name?: string;
  beside?: Schema;
}

/** Keywords that only explain. */
const TEXTS = new Set(['description', 'title', 'summary', 'example', 'examples', 'externalDocs', '$comment']);

export function withoutTexts(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !TEXTS.has(key)));
}

/** Returns all variants of a schema. */
export function variantsOf(schema: Schema, components: ComponentSchemas): Variant[] {
  const { whole, reference, beside } = resolve(schema, components);
  const { anyOf, oneOf, ...rest } = whole;
  const choices = [...((anyOf as Schema[]) ?? []), ...((oneOf as Schema[]) ?? [])];
  const variants =
    choices.length > 0
      ? choices.flatMap((choice) => variantsOf(merged([rest, choice]), components))
      : typesOf(rest).map((type) => ({ type, schema: narrowed(rest, type) }));
  if (reference === undefined) return variants;
  return variants.map((variant) => ({ ...variant, name: reference, beside }));
}

/** @returns the whole schema; the component that it refers to, if it is one; and the keywords next to that reference */
function resolve(schema: Schema, components: ComponentSchemas): { whole: Schema; reference?: string; beside: Schema } {
  const { $ref, allOf, ...own } = withoutTexts(schema);
  const parts = [...($ref === undefined ? [] : [{ $ref }]), ...((allOf as Schema[]) ?? [])];
  const names = parts.map((part) => (part['$ref'] as string | undefined)?.split('/').at(-1));
  const resolved = parts.map((part, at) => {
    const name = names[at];
    return resolve(name === undefined ? part : (components[name] ?? {}), components).whole;
  });
  const whole = merged([...resolved, own]);
  return parts.length === 1 && names[0] !== undefined
    ? { whole, reference: names[0], beside: own }
    : { whole, beside: own };
}

/** Returns a schema that requires all of them. */
function merged(parts: readonly Schema[]): Schema {
  const whole: Schema = Object.assign({}, ...parts);
  const lists = parts.flatMap(({ required }) => (required as string[] | undefined) ?? []);
  if (lists.length > 0) whole['required'] = [...new Set(lists)];
  const properties = parts.flatMap((part) => (part['properties'] === undefined ? [] : [part['properties']]));
  if (properties.length > 1) whole['properties'] = Object.assign({}, ...properties);
  return whole;
}

function typesOf(schema: Schema): string[] {
  const { type } = schema;
  if (Array.isArray(type)) return type as string[];
  if (typeof type === 'string') return [type];
  if (schema['properties'] !== undefined) return ['object'];
  return [schema['items'] === undefined ? 'any' : 'array'];
}

/** Returns the keywords that concern one of the types that a schema lists. */
function narrowed({ type: _type, ...rest }: Schema, type: string): Schema {
  if (type === 'null') return {};
  const values = rest['enum'] as unknown[] | undefined;
  return values === undefined || type === 'any' ? rest : { ...rest, enum: values.filter((value) => value !== null) };
}
