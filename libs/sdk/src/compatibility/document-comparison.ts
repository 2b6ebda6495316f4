import {
  type DocumentChange,
  type ChangeKind,
  isSame,
  type Content,
  type OpenApi,
  type DocumentedOperation,
  type DocumentedParameter,
  type DocumentedResponse,
} from './document.js';
import { SchemaComparison, type Direction } from './schema-comparison.js';
import { withoutTexts } from './variants.js';

/** Each scope includes those before it. */
const SCOPES = ['viewer', 'operator', 'admin'];
/** Keys that have a comparison of their own, or no meaning for a program. */
const COMPARED = new Set(['operationId', 'parameters', 'requestBody', 'responses', 'x-required-scope', 'tags']);

/**
 * Returns the changes that a client of the first document has to know. Texts and examples are not compared. `oasdiff`
 * knows more kinds of change, but not Slipway's scopes and error codes, and is a binary that a machine with only Node
 * lacks.
 */
export function compareDocuments(before: OpenApi, after: OpenApi): DocumentChange[] {
  const changes: DocumentChange[] = [];
  const old = documentedOperationsOf(before);
  const now = documentedOperationsOf(after);
  for (const [route, operation] of old) {
    const id = operation.operationId;
    const next = now.get(route);
    if (next === undefined) changes.push({ kind: 'broken', operation: id, what: `${route} was removed` });
    else changes.push(...new OperationComparison(before, after, id).compare(operation, next));
  }
  for (const [route, { operationId }] of now) {
    if (!old.has(route)) changes.push({ kind: 'added', operation: operationId, what: route });
  }
  const ofAll = ({ servers, components }: OpenApi): unknown => ({ servers, security: components?.securitySchemes });
  if (!isSame(ofAll(before), ofAll(after)))
    changes.push({ kind: 'broken', operation: 'document', what: 'has different servers or security schemes' });
  return changes;
}

function documentedOperationsOf({ paths }: OpenApi): Map<string, DocumentedOperation> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    ),
  );
}

class OperationComparison {
  private readonly changes: DocumentChange[] = [];
  private readonly inRequests: SchemaComparison;
  private readonly inResponses: SchemaComparison;

  constructor(
    before: OpenApi,
    after: OpenApi,
    private readonly operation: string,
  ) {
    const components = { before: before.components?.schemas ?? {}, after: after.components?.schemas ?? {} };
    const schemas = (direction: Direction): SchemaComparison =>
      new SchemaComparison(components, direction, (kind, what) => this.say(kind, what));
    this.inRequests = schemas('request');
    this.inResponses = schemas('response');
  }

  compare(before: DocumentedOperation, after: DocumentedOperation): DocumentChange[] {
    if (before.operationId !== after.operationId) this.say('broken', `was renamed to ${after.operationId}`);
    this.compareScope(before['x-required-scope'], after['x-required-scope']);
    this.compareParameters(before.parameters ?? [], after.parameters ?? []);
    this.compareBody(before.requestBody, after.requestBody);
    this.compareErrors(before.responses, after.responses);
    this.compareResponses(before.responses, after.responses);
    for (const keyword of new Set([...Object.keys(withoutTexts(before)), ...Object.keys(withoutTexts(after))])) {
      if (COMPARED.has(keyword) || isSame(before[keyword], after[keyword])) continue;
      this.say(keyword === 'security' ? 'broken' : 'changed', `has a different ${keyword}`);
    }
    return this.changes;
  }

  private compareScope(before: unknown, after: unknown): void {
    if (before === after) return;
    const [old, now] = [SCOPES.indexOf(String(before)), SCOPES.indexOf(String(after))];
    const isLess = now >= 0 && now < old;
    this.say(isLess ? 'changed' : 'broken', `requires the scope ${String(after)} instead of ${String(before)}`);
  }

  private compareParameters(before: readonly DocumentedParameter[], after: readonly DocumentedParameter[]): void {
    const byName = (list: readonly DocumentedParameter[]): Map<string, DocumentedParameter> =>
      new Map(
        list.map((one) => [`${one.in} parameter ${one.in === 'header' ? one.name.toLowerCase() : one.name}`, one]),
      );
    const [old, now] = [byName(before), byName(after)];
    for (const [where, parameter] of old) {
      const next = now.get(where);
      if (next === undefined) {
        this.say('broken', `${where} was removed`);
        continue;
      }
      if (next.required && !parameter.required) this.say('broken', `${where} is required`);
      if (parameter.required && !next.required) this.say('changed', `${where} is no longer required`);
      this.inRequests.compare(parameter.schema ?? {}, next.schema ?? {}, where);
    }
    for (const [where, { required }] of now) {
      if (!old.has(where)) this.say(required ? 'broken' : 'added', `${where} is new${required ? ' and required' : ''}`);
    }
  }

  private compareBody(before: DocumentedOperation['requestBody'], after: DocumentedOperation['requestBody']): void {
    if (!before?.required && after?.required) this.say('broken', 'request body is required');
    if (before?.required && !after?.required) this.say('changed', 'request body is no longer required');
    this.compareContent(before?.content ?? {}, after?.content ?? {}, 'request body', this.inRequests);
  }

  private compareResponses(
    before: Record<string, DocumentedResponse>,
    after: Record<string, DocumentedResponse>,
  ): void {
    for (const [status, response] of Object.entries(before)) {
      const next = after[status];
      const where = `response ${status}`;
      if (next !== undefined) {
        this.compareContent(response.content ?? {}, next.content ?? {}, where, this.inResponses);
      } else if (response['x-error-codes'] === undefined) {
        this.say('broken', `${where} was removed`);
      }
    }
    for (const status of Object.keys(after)) {
      if (!(status in before)) this.say('changed', `response ${status} is new`);
    }
  }

  /** Clients distinguish errors by their codes, so a code that is removed, or has another status, is a break. */
  private compareErrors(before: Record<string, DocumentedResponse>, after: Record<string, DocumentedResponse>): void {
    const statuses = (responses: Record<string, DocumentedResponse>): Map<string, string> =>
      new Map(
        Object.entries(responses).flatMap(([status, response]) =>
          (response['x-error-codes'] ?? []).map((code) => [code, status] as const),
        ),
      );
    const [old, now] = [statuses(before), statuses(after)];
    for (const [code, status] of old) {
      const next = now.get(code);
      if (next === undefined) this.say('broken', `error ${code} (${status}) was removed`);
      else if (next !== status) this.say('broken', `error ${code} has the status ${next} instead of ${status}`);
    }
    for (const [code, status] of now) {
      if (!old.has(code)) this.say('changed', `error ${code} (${status}) is new`);
    }
  }

  private compareContent(before: Content, after: Content, where: string, schemas: SchemaComparison): void {
    for (const [media, { schema }] of Object.entries(before)) {
      const next = after[media];
      if (next === undefined) this.say('broken', `${where} is no longer ${media}`);
      else schemas.compare(schema ?? {}, next.schema ?? {}, where);
    }
    for (const media of Object.keys(after)) {
      if (!(media in before)) this.say('added', `${where} may be ${media}`);
    }
  }

  private say(kind: ChangeKind, what: string): void {
    const { operation } = this;
    if (!this.changes.some((one) => one.kind === kind && one.what === what))
      this.changes.push({ kind, operation, what });
  }
}
