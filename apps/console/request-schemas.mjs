// What the console's forms know of the requests that they send: from libs/sdk/openapi.json the schema of each body, and a validator of it.
// Validators are compiled here, because ajv makes functions of texts, which the page's content security policy forbids in a browser.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

export const DOCUMENT = path.resolve(import.meta.dirname, '../../libs/sdk/openapi.json');

/** `import { request } from 'request:createWebhook'`: a module of its own for each operation, so that a screen loads no other's. */
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

/** What stands beside a reference goes before what the reference says. */
function resolved(node, schemas) {
  if (Array.isArray(node)) return node.map((one) => resolved(one, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, allOf, ...own } = node;
  if ((allOf?.length ?? 0) > 1) throw new Error('forms support one schema in allOf, not several');
  const base = $ref ? schemas[$ref.split('/').at(-1)] : allOf?.[0];
  const beside = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, resolved(value, schemas)]));
  return base ? { ...resolved(base, schemas), ...beside } : beside;
}

/** @returns a module that exports `request: { schema, validate }` and needs no other */
export async function requestModule(operationId) {
  const schema = requestSchema(operationId);
  // Moments are made by the browser's own field; what else a format asks, the api judges.
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
