// Generates the client's code from the committed document: its types, by openapi-typescript, the table with the address
// of each operation, and what command lines say about its fields. `npm run openapi` runs it after the document. Plain JavaScript: it must run even if its
// output does not compile. With --check it writes nothing, names the files that would change, and exits with 1.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import { separateAnswers } from './answer-schemas.mjs';

const HEAD = '// Made by `npm run openapi` from libs/sdk/openapi.json; changes here are overwritten.\n\n';
const document = JSON.parse(readFileSync(new URL('openapi.json', import.meta.url), 'utf8'));
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
);

const made = {
  'src/generated/api.ts':
    HEAD + astToString(await openapiTS(documentForTypes(), { defaultNonNullable: false, transform })),
  'src/generated/endpoints.ts': HEAD + endpoints(),
  'src/generated/inputs.ts': HEAD + inputs(),
};
const stale = Object.entries(made).filter(([file, text]) => textOf(file) !== text);
if (process.argv.includes('--check')) {
  for (const [file] of stale)
    console.error(`libs/sdk/${file} does not match libs/sdk/openapi.json. Run npm run openapi`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else for (const [file, text] of stale) writeFileSync(new URL(file, import.meta.url), text);

function textOf(file) {
  try {
    return readFileSync(new URL(file, import.meta.url), 'utf8');
  } catch {
    return undefined;
  }
}

/** Returns the document without the parts that types do not express, and with answers open to unlisted values. */
function documentForTypes() {
  const { paths, components, openapi, info } = structuredClone(document);
  for (const { responses } of Object.values(paths).flatMap(Object.values))
    // All failures have one envelope, which `ErrorBodyDto` describes.
    for (const status of Object.keys(responses)) if (!/^[23]/.test(status)) delete responses[status];
  separateAnswers({ paths, components });
  const open = new Set();
  const visit = (node) => {
    if (typeof node !== 'object' || node === null || open.has(node)) return;
    open.add(node);
    if (node.$ref) visit(components.schemas[node.$ref.split('/').pop()]);
    if (Array.isArray(node.enum)) openEnum(node);
    Object.values(node).forEach(visit);
  };
  for (const { responses } of Object.values(paths).flatMap(Object.values)) visit(responses);
  visit(components.schemas.ErrorEnvelopeDto);
  // The api accepts unknown fields with a warning; the compiler must report them earlier.
  for (const schema of Object.values(components.schemas)) if (schema.properties) delete schema.additionalProperties;
  return { openapi, info, paths, components };
}

/**
 * A later api may answer more values, and a switch over them must expect an unknown one. If `additionalProperties` is
 * next to its list, openapi-typescript does not treat a string as a plain enum, and passes it to `transform`.
 */
function openEnum(node) {
  const { type, enum: values, description: _, ...others } = node;
  if (type === 'string') node.additionalProperties = true;
  else if (Array.isArray(type) && type.includes('string')) {
    const listed = values.filter((value) => value !== null);
    for (const key of Object.keys({ type, enum: values, ...others })) delete node[key];
    node.anyOf = [{ type: 'string', enum: listed, additionalProperties: true }, { type: 'null' }];
  }
}

/** Any string, but with the known values listed: `'running' | (string & {})`. */
function transform({ type, enum: values, additionalProperties }) {
  if (type !== 'string' || !values || !additionalProperties) return undefined;
  const { factory, SyntaxKind } = ts;
  const known = values.map((value) => factory.createLiteralTypeNode(factory.createStringLiteral(value)));
  const any = [factory.createKeywordTypeNode(SyntaxKind.StringKeyword), factory.createTypeLiteralNode([])];
  return factory.createUnionTypeNode([...known, factory.createIntersectionTypeNode(any)]);
}

function endpoints() {
  const rows = operations
    .sort((one, other) => (one.operationId < other.operationId ? -1 : 1))
    .map(({ operationId, method, path, parameters = [] }) => {
      const named = (location) => parameters.filter((parameter) => parameter.in === location).map(({ name }) => name);
      const query = named('query');
      const headers = named('header');
      const facts = [
        `method: '${method}'`,
        `path: '${path}'`,
        ...(query.length > 0 ? [`query: [${query.map((name) => `'${name}'`).join(', ')}]`] : []),
        ...(headers.includes('Idempotency-Key') ? ['takesKey: true'] : []),
        ...(headers.includes('If-Match') ? ['takesIfMatch: true'] : []),
      ];
      return `  ${operationId}: { ${facts.join(', ')} },`;
    });
  return `import type { operations } from './api.js';

export interface Endpoint {
  readonly method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: readonly string[];
  /** Whether it accepts an Idempotency-Key. */
  readonly takesKey?: boolean;
  readonly takesIfMatch?: boolean;
}

/** Where each operation of the api is found, and what it takes beside its path and its body. */
export const ENDPOINTS: Readonly<Record<keyof operations, Endpoint>> = {
${rows.join('\n')}
};

/** What a call can be refused with. */
export type ErrorCode =
${union(document['x-errors'])}

/** What an operation can fail with. */
export type FailureCode =
${union(document['x-failures'])}
`;
}

function inputs() {
  const rows = operations
    .sort((one, other) => (one.operationId < other.operationId ? -1 : 1))
    .map(({ operationId, summary, parameters = [], requestBody, responses }) => {
      const query = parameters
        .filter((parameter) => parameter.in === 'query')
        .map(({ name, schema, description }) => [name, fieldOf({ description, ...schema })]);
      const body = fieldsOf(requestBody?.content['application/json']?.schema);
      const answers = Object.entries(responses).filter(([status]) => /^2/.test(status));
      const input = {
        summary,
        ...(query.length > 0 && { query: Object.fromEntries(query) }),
        ...(body.length > 0 && { body: Object.fromEntries(body) }),
        ...(answers.some(([, { content }]) => hasOperation(content?.['application/json']?.schema)) && {
          answersOperation: true,
        }),
      };
      return `  ${operationId}: ${JSON.stringify(input)},`;
    });
  return `import type { operations } from './api.js';

/** A field of a query or of a body. */
export interface InputField {
  /** \`json\` is an object, or a list of something else than texts. */
  readonly type: 'text' | 'number' | 'boolean' | 'list' | 'json';
  /** All values that it takes; of a list, all that its members take. */
  readonly values?: readonly string[];
  /** What it means, in a sentence. */
  readonly about?: string;
}

/** What a caller can give to an operation, in words. */
export interface OperationInput {
  readonly summary: string;
  readonly query?: Readonly<Record<string, InputField>>;
  /** The fields of its JSON body. */
  readonly body?: Readonly<Record<string, InputField>>;
  /** Whether its answer contains an operation that may still run. */
  readonly answersOperation?: boolean;
}

export const INPUTS: Readonly<Record<keyof operations, OperationInput>> = {
${rows.join('\n')}
};
`;
}

/** Returns what a reference stands for, and the schema of a value that may also be null. */
function resolved(schema = {}) {
  const { $ref, allOf = [], anyOf = [], ...own } = schema;
  if ($ref) return { ...resolved(document.components.schemas[$ref.split('/').pop()]), ...own };
  const values = [...allOf, ...anyOf].filter(({ type }) => type !== 'null');
  return values.length === 1 ? { ...resolved(values[0]), ...own } : schema;
}

function fieldsOf(schema) {
  return Object.entries(resolved(schema).properties ?? {}).map(([name, field]) => [name, fieldOf(field)]);
}

function hasOperation(schema) {
  return Object.hasOwn(resolved(schema).properties ?? {}, 'operation');
}

function fieldOf(schema) {
  const types = { string: 'text', integer: 'number', number: 'number', boolean: 'boolean' };
  const { type, enum: own, items, description } = resolved(schema);
  const [only, ...others] = [type].flat().filter((one) => one !== 'null');
  const members = resolved(items);
  const isList = only === 'array' && members.type === 'string';
  const values = (isList ? members.enum : own)?.filter((value) => typeof value === 'string');
  const about = description?.split(/(?<=\.) /)[0];
  return {
    type: isList ? 'list' : (others.length === 0 && types[only]) || 'json',
    ...(values?.length > 0 && { values }),
    ...(about && { about }),
  };
}

function union(codes) {
  return `${Object.keys(codes)
    .sort()
    .map((code) => `  | '${code}'`)
    .join('\n')};`;
}
