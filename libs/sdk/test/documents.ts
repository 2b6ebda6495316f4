import type { OpenApi, DocumentedOperation, Schema } from '../src/compatibility/document.js';

/** Returns a document with one operation, `createThing`. */
export function documentOf(
  operation: Partial<DocumentedOperation> = {},
  schemas: Record<string, Schema> = {},
): OpenApi {
  const whole = { operationId: 'createThing', responses: {}, 'x-required-scope': 'operator', ...operation };
  return { paths: { '/things': { post: whole } }, components: { schemas } };
}

/** Returns a document whose request body has this schema. */
export function taking(schema: Schema): OpenApi {
  return documentOf({ requestBody: { content: { 'application/json': { schema } } } });
}

/** Returns a document whose answer has this schema. */
export function answering(schema: Schema, schemas: Record<string, Schema> = {}): OpenApi {
  return documentOf({ responses: { 200: { content: { 'application/json': { schema } } } } }, schemas);
}

export function objectOf(properties: Record<string, Schema>, ...required: string[]): Schema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}
