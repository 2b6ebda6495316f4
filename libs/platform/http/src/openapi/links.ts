import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf, type Operation } from './operations.js';
import { resolve, schemasOf, type DocumentSchema } from './schemas.js';

interface Response {
  content?: Record<string, { schema?: DocumentSchema }>;
  links?: Record<string, Link>;
}

interface Link {
  operationId: string;
  parameters: Record<string, string>;
}

/** A value in an answer that names a resource, and the path at which this resource is found. */
interface Source {
  path: string;
  placeholder: string;
  /** A JSON pointer. */
  pointer: string;
}

const OPERATIONS = '/api/v1/operations';

/**
 * Publishes which later requests an answer leads to: from a resource that was created or listed to each request about
 * it, and from an operation envelope to each request about the operation. Tools that follow links test sequences of
 * requests instead of single ones. Everything follows from paths and schemas, so that a new operation has its links.
 */
export function publishLinks(document: OpenAPIObject): void {
  const operations = operationsOf(document);
  const schemas = schemasOf(document);
  for (const one of operations) {
    for (const [status, response] of Object.entries(one.operation.responses) as [string, Response][]) {
      if (Number(status) >= 300) continue;
      const answers = answersOf(response, schemas);
      const sources = answers.flatMap((answer) => sourcesIn(answer, one, operations, schemas));
      const links = Object.fromEntries(sources.flatMap((source) => linksFrom(one.path, source, operations)));
      if (Object.keys(links).length > 0) response.links = links;
    }
  }
}

/** Returns the properties of each schema that an answer may have. */
function answersOf({ content }: Response, schemas: Record<string, DocumentSchema>): Record<string, DocumentSchema>[] {
  const schema = content?.['application/json']?.schema;
  const properties = [schema, ...(schema?.anyOf ?? [])].map((one) => propertiesOf(one, schemas));
  return properties.filter((one) => one !== undefined);
}

function sourcesIn(
  answer: Record<string, DocumentSchema>,
  { path, method }: { path: string; method: string },
  operations: readonly { path: string }[],
  schemas: Record<string, DocumentSchema>,
): Source[] {
  const rows = method === 'get' ? propertiesOf(answer['data']?.items, schemas) : undefined;
  const isOperation = propertiesOf(answer['operation'], schemas) !== undefined;
  return [
    ...placeholdersAfter(path, operations).flatMap((placeholder) => [
      ...(method === 'post' ? sourceOf(path, placeholder, answer, '') : []),
      ...(rows ? sourceOf(path, placeholder, rows, '/data/0') : []),
    ]),
    ...(isOperation ? [{ path: OPERATIONS, placeholder: 'id', pointer: '/operation/id' }] : []),
  ];
}

function sourceOf(path: string, placeholder: string, resource: Record<string, DocumentSchema>, at: string): Source[] {
  const field = [placeholder, 'id', 'name'].find((name) => name in resource);
  return field === undefined ? [] : [{ path, placeholder, pointer: `${at}/${field}` }];
}

/** Returns the placeholders for members of a collection. Different paths may name them differently. */
function placeholdersAfter(collection: string, operations: readonly { path: string }[]): string[] {
  const names = operations.flatMap(({ path }) => {
    const rest = path.startsWith(`${collection}/`) ? path.slice(collection.length) : '';
    const [, name] = /^\/\{(\w+)\}(?=\/|$)/.exec(rest) ?? [];
    return name ?? [];
  });
  return [...new Set(names)];
}

/** Returns the links to the requests whose placeholders the answer and the path of its own request fill. */
function linksFrom(
  asked: string,
  { path, placeholder, pointer }: Source,
  operations: readonly { path: string; operation: Operation }[],
): [string, Link][] {
  const known = path === asked ? placeholdersOf(path) : [];
  return operations
    .filter((one) => one.path.startsWith(`${path}/{${placeholder}}`))
    .filter((one) => placeholdersOf(one.path).every((name) => name === placeholder || known.includes(name)))
    .map(({ operation: { operationId } }) => {
      const inherited = known.map((name) => [name, `$request.path.${name}`]);
      const parameters = Object.fromEntries([...inherited, [placeholder, `$response.body#${pointer}`]]);
      return [operationId, { operationId, parameters }];
    });
}

function placeholdersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

function propertiesOf(
  schema: DocumentSchema | undefined,
  schemas: Record<string, DocumentSchema>,
): Record<string, DocumentSchema> | undefined {
  return resolve(schemas, schema)?.properties;
}
