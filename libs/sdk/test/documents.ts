import type { OpenApi, DocumentedOperation, Schema } from '../src/compatibility/document.js';

/** A document with one operation, `createThing`. */
export function documentOf(
  operation: Partial<DocumentedOperation> = {},
  schemas: Record<string, Schema> = {},
): OpenApi {
  const whole = { operationId: 'createThing', responses: {}, 'x-required-scope': 'operator', ...operation };
  return { paths: { '/things': { post: whole } }, components: { schemas } };
}

/** One whose request body is this. */
export function taking(schema: Schema): OpenApi {
  return documentOf({ requestBody: { content: { 'application/json': { schema } } } });
}

/** One that answers this. */
export function answering(schema: Schema, schemas: Record<string, Schema> = {}): OpenApi {
  return documentOf({ responses: { 200: { content: { 'application/json': { schema } } } } }, schemas);
}

export function objectOf(properties: Record<string, Schema>, ...required: string[]): Schema {
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}
