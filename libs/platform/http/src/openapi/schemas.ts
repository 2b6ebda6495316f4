import type { OpenAPIObject } from '@nestjs/swagger';
import { operationsOf } from './operations.js';

export interface DocumentSchema {
  $ref?: string;
  description?: string;
  default?: unknown;
  'x-default'?: unknown;
  type?: string | string[];
  required?: string[];
  properties?: Record<string, DocumentSchema>;
  additionalProperties?: unknown;
  items?: DocumentSchema;
  allOf?: DocumentSchema[];
  oneOf?: DocumentSchema[];
  anyOf?: DocumentSchema[];
  enum?: unknown[];
  readOnly?: boolean;
}

/** Publishes that request bodies, including nested objects, accept unknown fields (with a warning). */
export function acceptAdditionalProperties(document: OpenAPIObject): void {
  const schemas = schemasOf(document);
  const bodies: DocumentSchema[] = [];
  for (const { operation } of operationsOf(document)) {
    const body = operation.requestBody;
    if (!body) continue;
    const schema = body.content['application/json']?.schema as DocumentSchema | undefined;
    if (schema) bodies.push(schema);
    const target = resolve(schemas, schema);
    body.required = (target?.required?.length ?? 0) > 0 && body.content['application/octet-stream'] === undefined;
  }
  visitSchemas(document, bodies, (schema) => {
    if (schema.properties) schema.additionalProperties ??= true;
  });
}

/** Answers carry `warnings` of unknown fields and parameters, so their schemas publish it. */
export function publishWarnings(document: OpenAPIObject): void {
  const schemas = schemasOf(document);
  const warnings = { type: 'array', items: { $ref: '#/components/schemas/WarningDto' } } as DocumentSchema;
  for (const { operation } of operationsOf(document)) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) >= 300) continue;
      const content = (response as { content?: Record<string, { schema?: DocumentSchema }> }).content;
      const answer = content?.['application/json']?.schema;
      for (const one of [answer, ...(answer?.anyOf ?? [])]) {
        const schema = one?.$ref ? resolve(schemas, one) : undefined;
        if (schema?.properties) schema.properties['warnings'] ??= warnings;
      }
    }
  }
}

/**
 * Moves the default of each object to `x-default` and its description. Common generators cannot write such a default as
 * code: openapi-python-client skips every operation that uses the schema, and openapi-generator makes Go that does not
 * compile.
 */
export function describeObjectDefaults(document: OpenAPIObject): void {
  visitSchemas(document, Object.values(schemasOf(document)), (schema) => {
    if (typeof schema.default !== 'object' || schema.default === null || Array.isArray(schema.default)) return;
    schema['x-default'] = schema.default;
    schema.description = described(schema);
    delete schema.default;
  });
}

/** Calls `change` once for each schema that the roots contain or refer to. */
function visitSchemas(
  document: OpenAPIObject,
  roots: readonly DocumentSchema[],
  change: (schema: DocumentSchema) => void,
): void {
  const schemas = schemasOf(document);
  const seen = new Set<DocumentSchema>();
  const visit = (schema: DocumentSchema | undefined): void => {
    if (!schema || seen.has(schema)) return;
    seen.add(schema);
    change(schema);
    visit(resolve(schemas, schema));
    const { properties = {}, allOf = [], oneOf = [], anyOf = [], items } = schema;
    [...Object.values(properties), ...allOf, ...oneOf, ...anyOf, items].forEach(visit);
  };
  roots.forEach(visit);
}

function described({ description, default: value }: DocumentSchema): string {
  const text = `Default: \`${JSON.stringify(value)}\``;
  return description ? `${description.replace(/\.$/, '')}. ${text}` : text;
}

export function schemasOf(document: OpenAPIObject): Record<string, DocumentSchema> {
  return (document.components?.schemas ?? {}) as Record<string, DocumentSchema>;
}

/** Returns the name of the schema that a node refers to. */
export function referencedName({ $ref }: DocumentSchema): string | undefined {
  return $ref?.split('/').pop();
}

/** Returns the schema that a node refers to, or the node itself if it is no reference. */
export function resolve(
  schemas: Record<string, DocumentSchema>,
  node: DocumentSchema | undefined,
): DocumentSchema | undefined {
  const name = node && referencedName(node);
  return name === undefined ? node : schemas[name];
}
