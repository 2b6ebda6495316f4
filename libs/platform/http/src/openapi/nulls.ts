import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';
import { referencedName, schemasOf, type DocumentSchema } from './schemas.js';

/**
 * Publishes that `null` is accepted wherever a request may leave a field out, and means the same there. Answers never
 * have these nulls. So a schema that both use gets a second one for requests, and clients need not check answers for
 * values that never come.
 */
export function publishNulls(document: OpenAPIObject): void {
  const schemas = schemasOf(document);
  const bodies = operationsOf(document).flatMap(({ operation }) => operation.requestBody?.content ?? []);
  const inRequests = namesIn(bodies, schemas);
  const inAnswers = namesIn(
    operationsOf(document).map(({ operation }) => operation.responses),
    schemas,
  );
  const changed = changedNames(inRequests, schemas);
  const names = new Map([...changed].map((name) => [name, inAnswers.has(name) ? nameForRequests(name) : name]));
  const renamed: Record<string, DocumentSchema> = {};
  for (const [name, newName] of names) {
    if (newName !== name && schemas[newName]) throw new Error(`A schema has the name ${newName} already`);
    const schema = structuredClone(schemas[name]!);
    acceptNulls(schema);
    rename(schema, names);
    renamed[newName] = schema;
  }
  Object.assign(schemas, renamed);
  rename(bodies, names);
}

/** `AnalysisDto` of answers is `AnalysisInputDto` in requests. */
function nameForRequests(name: string): string {
  return name.replace(/(?:Dto)?$/, 'InputDto');
}

function namesIn(roots: unknown, schemas: Record<string, DocumentSchema>): Set<string> {
  const names = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const name = referencedName(node as DocumentSchema);
    if (name !== undefined && !names.has(name)) {
      names.add(name);
      visit(schemas[name]);
    }
    Object.values(node).forEach(visit);
  };
  visit(roots);
  return names;
}

/** Returns the schemas that accept further nulls, by themselves or in a schema to which they lead. */
function changedNames(inRequests: ReadonlySet<string>, schemas: Record<string, DocumentSchema>): Set<string> {
  const changed = new Set([...inRequests].filter((name) => omissible(schemas[name]!).some(([, one]) => !hasNull(one))));
  for (let size = -1; size !== changed.size;) {
    size = changed.size;
    for (const name of inRequests)
      if ([...directNames(schemas[name]!)].some((inner) => changed.has(inner))) changed.add(name);
  }
  return changed;
}

function directNames(schema: DocumentSchema): Set<string> {
  // Without schemas, no reference is followed.
  return namesIn(schema, {});
}

function omissible({ properties = {}, required = [] }: DocumentSchema): [string, DocumentSchema][] {
  return Object.entries(properties).filter(([name, { readOnly }]) => !required.includes(name) && !readOnly);
}

function hasNull({ type, anyOf = [], oneOf = [] }: DocumentSchema): boolean {
  return [type].flat().includes('null') || [...anyOf, ...oneOf].some(hasNull);
}

function acceptNulls(schema: DocumentSchema): void {
  for (const [name, property] of omissible(schema))
    if (!hasNull(property)) schema.properties![name] = withNull(property);
}

/** In the forms that the generator of the document itself uses. */
function withNull({ $ref, allOf, ...rest }: DocumentSchema): DocumentSchema {
  if ($ref !== undefined) return { ...rest, anyOf: [{ $ref }, { type: 'null' }] };
  if (allOf) return { ...rest, anyOf: [...allOf, { type: 'null' }] };
  if (rest.anyOf ?? rest.oneOf) {
    const { anyOf, oneOf, ...others } = rest;
    return { ...others, anyOf: [...(anyOf ?? [{ oneOf }]), { type: 'null' }] };
  }
  const { enum: listed } = rest;
  return { ...rest, type: [...[rest.type ?? []].flat(), 'null'], ...(listed && { enum: [...listed, null] }) };
}

function rename(node: unknown, names: ReadonlyMap<string, string>): void {
  if (typeof node !== 'object' || node === null) return;
  const name = referencedName(node as DocumentSchema);
  const newName = name === undefined ? undefined : names.get(name);
  if (newName !== undefined) (node as DocumentSchema).$ref = `#/components/schemas/${newName}`;
  for (const inner of Object.values(node)) rename(inner, names);
}
