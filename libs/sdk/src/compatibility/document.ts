/** `added` requires nothing of a client, `changed` is worth knowing, `broken` can stop a working client. */
export type ChangeKind = 'added' | 'changed' | 'broken';

export interface DocumentChange {
  kind: ChangeKind;
  /** The operation's id, or `document` for changes of all of them. */
  operation: string;
  what: string;
}

/** The parts of an OpenAPI 3.1 document that a comparison reads. */
export interface OpenApi {
  paths: Record<string, Record<string, DocumentedOperation>>;
  servers?: unknown;
  components?: { schemas?: Record<string, Schema>; securitySchemes?: unknown };
}

export interface DocumentedOperation {
  operationId: string;
  parameters?: DocumentedParameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, DocumentedResponse>;
  [other: string]: unknown;
}

export interface DocumentedParameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: Schema;
}

export interface DocumentedResponse {
  content?: Content;
  'x-error-codes'?: string[];
}

export type Content = Record<string, { schema?: Schema }>;
export type Schema = Record<string, unknown>;
/** By name. */
export type ComponentSchemas = Record<string, Schema>;

/**
 * Returns the document as it is committed: keys sorted, so that a module that moves makes no difference. Lists keep
 * their order.
 */
export function textOf(document: unknown): string {
  return `${JSON.stringify(sorted(document), null, 2)}\n`;
}

/** Returns whether two values are equal, whatever the order of their keys. */
export function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
