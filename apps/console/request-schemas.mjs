// The console's forms need the schema of each request body, from libs/sdk/openapi.json, and its validator. Validators
// are compiled here, because ajv makes functions from strings, which the page's content security policy forbids.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

export const DOCUMENT = path.resolve(import.meta.dirname, '../../libs/sdk/openapi.json');

/**
 * `import { request } from 'request:createWebhook'`: a separate module for each operation, so that a
 * screen loads only the ones that it uses.
 */
const PREFIX = 'request:';

/** @returns the schema of an operation's JSON body, with its references resolved */
export function requestSchema(operationId) {
  const { paths, components } = JSON.parse(readFileSync(DOCUMENT, 'utf8'));
  const operation = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .find((one) => one.operationId === operationId);
  const schema = operation?.requestBody?.content['application/json']?.schema;
  if (!schema) throw new Error(`${DOCUMENT} has no operation ${operationId} with a JSON body`);
  return resolved(schema, components.schemas);
}

/** Keywords next to a reference override those of the reference. A form omits what is empty, so `null` is left out. */
function resolved(node, schemas) {
  if (Array.isArray(node)) return node.map((one) => resolved(one, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, allOf, ...own } = withoutNull(node);
  if ((allOf?.length ?? 0) > 1) throw new Error('forms support one schema in allOf, not several');
  const base = $ref ? schemas[$ref.split('/').at(-1)] : allOf?.[0];
  const beside = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, resolved(value, schemas)]));
  return base ? { ...resolved(base, schemas), ...beside } : beside;
}

function withoutNull({ anyOf, ...schema }) {
  const { type, enum: values } = schema;
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null');
    schema.type = types.length === 1 ? types[0] : types;
  }
  if (Array.isArray(values)) schema.enum = values.filter((one) => one !== null);
  const choice = anyOf?.filter((one) => one.type !== 'null');
  if (choice?.length === 1) return { ...schema, allOf: choice };
  return choice ? { ...schema, anyOf: choice } : schema;
}

/** @returns a module without imports that exports `request: { schema, validate }` */
export async function requestModule(operationId) {
  const schema = requestSchema(operationId);
  // The browser's own field makes date-times; the api checks all other formats.
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    messages: false,
    validateFormats: false,
    code: { source: true },
  });
  const contents = `const module = { exports: {} };
    ${standalone.default(ajv, ajv.compile(schema))}
    export const request = { schema: ${JSON.stringify(schema)}, validate: module.exports };`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: import.meta.dirname },
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
  });
  return outputFiles[0].text;
}

/** The plugin for Vite. */
export const requestSchemas = {
  name: 'request-schemas',
  resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
  load: (id) => (id.startsWith(`\0${PREFIX}`) ? requestModule(id.slice(PREFIX.length + 1)) : null),
};
