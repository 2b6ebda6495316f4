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

let read;
/** @returns the document; it is large, and is read once for all modules of a build */
const openApi = () => (read ??= JSON.parse(readFileSync(DOCUMENT, 'utf8')));

/** @returns the operations that change something: the id, the method, the path and the declaration of each */
export function changingOperations() {
  return Object.entries(openApi().paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ['post', 'put', 'patch', 'delete'].includes(method))
      .map(([method, declared]) => ({ id: declared.operationId, method: method.toUpperCase(), path, declared })),
  );
}

/**
 * @returns the method and the path of an operation, and the schema of its JSON body with its references resolved; it
 * has no properties if the operation takes no body
 */
export function requestOf(operationId) {
  const found = changingOperations().find(({ id }) => id === operationId);
  if (!found) throw new Error(`${DOCUMENT} has no operation ${operationId} that changes something`);
  const { requestBody } = found.declared;
  const schema = requestBody?.content['application/json']?.schema ?? { type: 'object', properties: {} };
  return { method: found.method, path: found.path, schema: resolved(schema, openApi().components.schemas) };
}

/** @returns the schema of an operation's JSON body */
export const requestSchema = (operationId) => requestOf(operationId).schema;

/** Keywords next to a reference override those of the reference. */
function resolved(node, schemas) {
  if (Array.isArray(node)) return node.map((one) => resolved(one, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, allOf, anyOf, ...own } = node;
  if ((allOf?.length ?? 0) > 1) throw new Error('forms support one schema in allOf, not several');
  const base = $ref ? schemas[$ref.split('/').at(-1)] : (allOf?.[0] ?? (anyOf && nullable(anyOf, schemas)));
  const beside = Object.fromEntries(Object.entries(own).map(([name, value]) => [name, resolved(value, schemas)]));
  return base ? { ...resolved(base, schemas), ...beside } : beside;
}

/** @returns a choice; if it is between one schema and null, that schema, which then accepts null too */
function nullable(choice, schemas) {
  const [base, ...others] = choice.filter(({ type }) => type !== 'null').map((one) => resolved(one, schemas));
  if (others.length > 0 || !base) return { anyOf: choice.map((one) => resolved(one, schemas)) };
  return {
    ...base,
    ...(base.type && { type: [...new Set([base.type, 'null'].flat())] }),
    ...(base.enum && { enum: [...new Set([...base.enum, null])] }),
  };
}

/** @returns a module without imports that exports `request: { method, path, schema, validate }` */
export async function requestModule(operationId) {
  const { schema, ...address } = requestOf(operationId);
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
    export const request = { ...${JSON.stringify(address)}, schema: ${JSON.stringify(schema)}, validate: module.exports };`;
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
