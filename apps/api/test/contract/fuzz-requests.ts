import fc from 'fast-check';
import type { OutgoingRequest } from './client.js';
import type { ApiDocument, DocumentedOperation } from './document.js';
import type { ContractRequest } from '@slipway/platform-testing/contract';
import { placed, propertiesOf, sampleOf, textOf, typeOf, type Json, type Resolve, type Schema } from './schema.js';

/** A request to send; `isFresh` means: first make the resources that a valid request needs, then send that request. */
export interface FuzzRequest {
  isFresh: boolean;
  sent: OutgoingRequest;
}

/** The material of the generators. The seed decides, so the same seed picks the same elements of the same lists. */
export interface FuzzMaterial {
  /** Valid requests to the operation, most of which have been sent before. */
  templates: ContractRequest[];
  /** Ids, names and digests of existing resources. */
  pool: string[];
  /** Cursors of this list's earlier pages. */
  cursors: string[];
}

const ODD_TEXTS = [
  '',
  ' ',
  '0',
  '-1',
  'null',
  '../..',
  '%2e%2e',
  "'; drop table operations; --",
  '\0',
  '\ud800',
  '𝔞é\u202e',
  'true',
  '1e400',
  '{}',
  'a'.repeat(300),
  '2027-02-30T00:00:00Z',
];
const ODD_NUMBERS = [0, -0, -1, 1, 0.1, 1e-9, 1e21, 2 ** 31, 2 ** 53, -(2 ** 63), Number.MAX_VALUE];

/** Generates requests to one operation: valid ones, ones at and beyond the bounds of its schema, and arbitrary ones. */
export function requestsTo(
  one: DocumentedOperation,
  { resolve }: ApiDocument,
  material: FuzzMaterial,
): fc.Arbitrary<FuzzRequest> {
  const template = fc.constantFrom(...material.templates);
  const fresh = template.map((sent): FuzzRequest => ({ isFresh: true, sent }));
  const varied = fc
    .record({
      base: template,
      params: paramsOf(one, material),
      query: queryOf(one, resolve, material),
      headers: headersOf(one, material.pool),
      content: contentOf(one, resolve, material),
    })
    .map(({ base, params, query, headers, content }): FuzzRequest => ({
      isFresh: false,
      sent: {
        ...base,
        params: { ...base.params, ...params },
        query: { ...base.query, ...query },
        headers: { ...base.headers, ...headers, ...content.headers },
        ...content.body,
      },
    }));
  return fc.oneof({ weight: 1, arbitrary: fresh }, { weight: 15, arbitrary: varied });
}

function paramsOf(
  { placeholders }: DocumentedOperation,
  { templates, pool }: FuzzMaterial,
): fc.Arbitrary<Record<string, string>> {
  const known = (name: string): string[] => templates.map((one) => one.params?.[name] ?? 'x');
  const odd = fc.oneof(fc.constantFrom(...ODD_TEXTS), fc.string({ unit: 'binary', maxLength: 40 })).filter(fitsPath);
  const values = placeholders.map(
    (name) =>
      [
        name,
        fc.oneof(
          { weight: 8, arbitrary: fc.constantFrom(...known(name)) },
          { weight: 1, arbitrary: fc.constantFrom(...pool) },
          { weight: 1, arbitrary: odd },
        ),
      ] as const,
  );
  return fc.record(Object.fromEntries(values));
}

/** A client's URL has no such segments: it resolves dots itself, and an empty segment makes another path. */
function fitsPath(text: string): boolean {
  return !/^(\.|%2e){0,2}$/i.test(text) && !/\p{Cs}/u.test(text);
}

function queryOf(
  { query }: DocumentedOperation,
  resolve: Resolve,
  { pool, cursors }: FuzzMaterial,
): fc.Arbitrary<Record<string, string>> {
  const text = (schema: Schema): fc.Arbitrary<string> =>
    fc.oneof(
      {
        weight: 3,
        arbitrary: valueOf(schema, resolve, pool).map((value) =>
          (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).slice(0, 300),
        ),
      },
      { weight: 1, arbitrary: fc.constantFrom(...ODD_TEXTS) },
    );
  const usual = (name: string, schema: Schema): fc.Arbitrary<string> =>
    name === 'cursor' && cursors.length > 0
      ? fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...cursors) }, text(schema))
      : text(schema);
  const known = fc.record(Object.fromEntries(query.map(({ name, schema }) => [name, usual(name, schema)])), {
    requiredKeys: [],
  }) as fc.Arbitrary<Record<string, string>>;
  return fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 3, arbitrary: known });
}

function headersOf({ isIdempotent }: DocumentedOperation, pool: string[]): fc.Arbitrary<Record<string, string>> {
  const visible = fc.string({ unit: fc.constantFrom(...'ab7"\\ !~é'), maxLength: 130 });
  const etag = fc.oneof(
    fc.constant('*'),
    fc.constantFrom(...pool).map((text) => `"${text.replace(/[^\x21-\x7e]/g, '')}"`),
    visible,
  );
  const headers = {
    'if-match': etag,
    'if-none-match': etag,
    traceparent: visible,
    // Only a few keys, so that requests collide with the keys of others.
    ...(isIdempotent && { 'idempotency-key': fc.oneof(fc.constantFrom('k1', 'k2', 'k3', '"k1"'), visible) }),
  };
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.record(headers, { requiredKeys: [] }) },
  );
}

interface Content {
  body: Pick<OutgoingRequest, 'body' | 'text'> | undefined;
  headers?: Record<string, string>;
}

function contentOf(
  one: DocumentedOperation,
  resolve: Resolve,
  { templates, pool }: FuzzMaterial,
): fc.Arbitrary<Content> {
  if (!one.body) return fc.constant({ body: undefined });
  const root = resolve(one.body);
  const body = (arbitrary: fc.Arbitrary<unknown>): fc.Arbitrary<Content> =>
    arbitrary.map((value) => ({ body: { body: value as Json } }));
  const properties = propertiesOf(root, resolve);
  const anything = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom(...ODD_TEXTS, ...ODD_NUMBERS),
    fc.constantFrom(...pool),
  );
  const mutation = (property: (typeof properties)[number]): fc.Arbitrary<unknown> =>
    fc
      .tuple(
        fc.constantFrom(...templates),
        fc.oneof({ weight: 2, arbitrary: valueOf(property.schema, resolve, pool) }, { weight: 1, arbitrary: anything }),
      )
      .map(([base, value]) => placed(base.body ?? {}, root, property.path, value, resolve));
  const text = fc
    .oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.json({ maxDepth: 4 }), fc.uint8Array({ maxLength: 60 }))
    .map((raw): Content => ({ body: { text: raw as string } }));
  const stream = fc
    .uint8Array({ maxLength: 2_000 })
    .map((raw): Content => ({
      body: { text: raw as Uint8Array },
      headers: { 'content-type': 'application/octet-stream' },
    }));
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant<Content>({ body: undefined }) },
    { weight: 5, arbitrary: body(valueOf(root, resolve, pool)) },
    ...(properties.length === 0
      ? []
      : [{ weight: 6, arbitrary: body(fc.constantFrom(...properties).chain(mutation)) }]),
    { weight: 1, arbitrary: body(fc.dictionary(fc.string(), anything)) },
    { weight: 1, arbitrary: text },
    ...(one.takesStream ? [{ weight: 4, arbitrary: stream }] : []),
  );
}

/** Generates values that mostly fit a schema, values at its bounds, and values just beyond. */
export function valueOf(given: Schema, resolve: Resolve, pool: string[]): fc.Arbitrary<unknown> {
  const schema = resolve(given);
  switch (typeOf(schema)) {
    case 'string':
      return stringOf(schema, pool);
    case 'integer':
      return numberOf(schema, fc.integer());
    case 'number':
      return numberOf(schema, fc.double({ noNaN: true, noDefaultInfinity: true }));
    case 'boolean':
      return fc.boolean();
    case 'array':
      return arrayOf(schema, resolve, pool);
    case 'object':
      return objectOf(schema, resolve, pool);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function stringOf(schema: Schema, pool: string[]): fc.Arbitrary<string> {
  const sample = fc.constant(textOf(schema, Math.max(1, schema.minLength ?? 1)));
  if (schema.enum)
    return fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...(schema.enum as string[])) },
      { weight: 1, arbitrary: fc.constant('other') },
    );
  const bounds = [schema.maxLength, (schema.maxLength ?? 0) + 1]
    .filter((length) => length !== undefined)
    .map((length) => textOf(schema, length));
  const usual = [
    { weight: 5, arbitrary: sample },
    { weight: 4, arbitrary: fc.constantFrom(...pool) },
    { weight: 1, arbitrary: fc.constantFrom(...bounds) },
  ];
  return fc.oneof(
    ...usual,
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  );
}

function numberOf(schema: Schema, any: fc.Arbitrary<number>): fc.Arbitrary<number> {
  const low = schema.minimum ?? schema.exclusiveMinimum ?? 0;
  const high = schema.maximum ?? 1_000;
  const within = fc.integer({
    min: Math.ceil(low),
    max: Math.max(Math.ceil(low), Math.min(Math.floor(high), 2 ** 31)),
  });
  return fc.oneof(
    { weight: 6, arbitrary: within },
    { weight: 2, arbitrary: fc.constantFrom(low, high) },
    { weight: 1, arbitrary: fc.constantFrom(low - 1, high + 1, ...ODD_NUMBERS) },
    { weight: 1, arbitrary: any },
  );
}

function arrayOf(schema: Schema, resolve: Resolve, pool: string[]): fc.Arbitrary<unknown[]> {
  const few = fc.array(valueOf(schema.items ?? {}, resolve, pool), {
    minLength: schema.minItems ?? 0,
    maxLength: Math.max(schema.minItems ?? 0, 3),
  });
  const lengths = [0, schema.maxItems ?? 10, (schema.maxItems ?? 10) + 1];
  const many = fc
    .constantFrom(...lengths)
    .map((length) => Array.from({ length }, () => sampleOf(schema.items ?? {}, resolve)));
  return fc.oneof({ weight: 8, arbitrary: few }, { weight: 1, arbitrary: many });
}

function objectOf(schema: Schema, resolve: Resolve, pool: string[]): fc.Arbitrary<Json> {
  const rest = schema.additionalProperties;
  if (!schema.properties) {
    const value = typeof rest === 'object' ? valueOf(rest, resolve, pool) : fc.jsonValue({ maxDepth: 2 });
    return fc.dictionary(
      fc.oneof(
        fc.string({ minLength: 1, maxLength: 10 }),
        fc.constantFrom('model', 'runtime', 'spec', 'ttft_ms', '__proto__', 'constructor'),
      ),
      value,
      { maxKeys: 4 },
    );
  }
  const properties = Object.entries(schema.properties).map(
    ([name, property]) => [name, valueOf(property, resolve, pool)] as const,
  );
  return fc.record(Object.fromEntries(properties), { requiredKeys: schema.required ?? [] }) as fc.Arbitrary<Json>;
}
