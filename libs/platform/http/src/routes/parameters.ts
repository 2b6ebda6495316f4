import { createHash } from 'node:crypto';
import { type ArgumentMetadata, createParamDecorator, type ExecutionContext, type PipeTransform } from '@nestjs/common';
import canonicalizeModule from 'canonicalize';
import type { Preconditions } from '../answers/etag.js';
import type { IdempotencyClaim } from '../context/request-context.js';
import { type CursorPart, readPage } from '../answers/page.js';
import { errors } from '../errors/platform.errors.js';
import {
  fieldsOf,
  type Findings,
  isPlainObject,
  isStorable,
  newFindings,
  readObject,
  reportUnknown,
  unknownIssues,
} from '../fields/read-object.js';
import type { SlipwayRequest } from '../server/slipway-request.js';

// The package is CommonJS with an ESM-shaped type: under nodenext its function may be on `default`.
const canonicalize = canonicalizeModule as unknown as (value: unknown) => string | undefined;

/**
 * Reads the `Idempotency-Key` header: visible ASCII, 1 to 128 characters, bare or as an RFC 8941 string. `abc` and
 * `"abc"` are the same key.
 * @throws idempotency_key_invalid (400)
 */
export function parseIdempotencyKey(header: string | string[]): string {
  if (typeof header !== 'string') throw errors.idempotency_key_invalid();
  const key = header.startsWith('"') ? unquote(header) : header;
  if (key === undefined || !/^[\x21-\x7e]{1,128}$/.test(key)) throw errors.idempotency_key_invalid();
  return key;
}

/** Reads a quoted string. A parser for all structured headers would be a dependency for this one kind. */
function unquote(header: string): string | undefined {
  const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(header)?.[1];
  return inner?.replace(/\\(["\\])/g, '$1');
}

/** Parameters that decide how a request is judged, not what it does. */
const JUDGING = new Set(['strict', 'validate_only']);

/** @param digest replaces the body of a streamed upload, whose bytes are not held in memory */
export function fingerprintOf(query: Record<string, unknown>, body: unknown, digest?: string): string {
  const sorted = Object.keys(query)
    .filter((name) => !JUDGING.has(name))
    .sort()
    .map((name) => [name, query[name]]);
  const content = digest ?? canonicalize(body ?? {}) ?? '';
  return createHash('sha256').update(JSON.stringify(sorted)).update('\n').update(content).digest('hex');
}

/** `/a%62c` and `/abc` are one resource, so they are one path. */
export function concretePathOf(url: string): string {
  const path = url.split('?', 1)[0]!;
  return path
    .split('/')
    .map((segment) => encodeURIComponent(decodeURIComponent(segment)))
    .join('/');
}

const UNTYPED = new Set<unknown>([undefined, Object, String, Number, Boolean, Array]);

/** Reads bodies and queries into their DTOs. `@Route` applies it to the parameters of its handler. */
export class RequestReader implements PipeTransform {
  transform(value: unknown, { type, metatype, data }: ArgumentMetadata): unknown {
    if (type === 'body') return this.readBody(value, metatype);
    if (type !== 'query') return value;
    return data === undefined ? this.readQuery(value, metatype) : readQueryValue(value, data);
  }

  private readBody(value: unknown, metatype: Function | undefined): unknown {
    if (isStream(value)) return value;
    const body = value ?? {};
    if (!isPlainObject(body)) throw errors.invalid_parameter({ message: 'The request body must be a JSON object.' });
    if (metatype === undefined || UNTYPED.has(metatype) || fieldsOf(metatype).size === 0) return body;
    const findings = newFindings();
    const dto = readObject(metatype, body, '', findings);
    refuse(findings);
    reportUnknown(findings.unknown);
    return dto;
  }

  private readQuery(value: unknown, metatype: Function | undefined): unknown {
    if (metatype === undefined || UNTYPED.has(metatype)) return value;
    const findings = newFindings();
    const dto = readObject(metatype, (value ?? {}) as object, '', findings, true);
    refuse(findings);
    return dto;
  }
}

function readQueryValue(value: unknown, field: string): unknown {
  if (value === undefined || (typeof value === 'string' && isStorable(value))) return value;
  const message = Array.isArray(value) ? `${field} must be given once` : `${field} must be text without NUL`;
  throw errors.invalid_parameter({ message, details: [{ field, code: 'type', message }] });
}

function isStream(value: unknown): boolean {
  return typeof (value as { pipe?: unknown } | null | undefined)?.pipe === 'function';
}

function refuse(findings: Findings): void {
  const { mistyped, broken } = findings;
  const hints = unknownIssues(findings.unknown);
  if (mistyped.length > 0) throw errors.invalid_parameter({ details: [...mistyped, ...hints] });
  if (broken.length > 0) throw errors.validation_failed({ details: [...broken, ...hints] });
}

/** Path parameters reach SQL unchanged, so values that no text column can hold are refused here. */
export function refuseUnstorable(params: Record<string, string> | undefined): void {
  for (const name in params) if (!isStorable(params[name]!)) throw errors.path_invalid();
}

function requestOf(context: ExecutionContext): SlipwayRequest {
  return context.switchToHttp().getRequest<SlipwayRequest>();
}

/**
 * Returns the claim of a request with an `Idempotency-Key`.
 * @throws idempotency_key_invalid (400)
 */
export function claimOf(request: SlipwayRequest): IdempotencyClaim | undefined {
  const header = request.headers['idempotency-key'];
  if (header === undefined) return undefined;
  return {
    method: request.method,
    path: concretePathOf(request.url),
    key: parseIdempotencyKey(header),
    // The fingerprint of a stream is its digest, which only its reader knows.
    fingerprint: isStream(request.body) ? '' : fingerprintOf(request.query, request.body),
  };
}

/**
 * The claim of `Idempotency-Key`, for handlers that store their answer with it themselves; undefined if the client sent
 * none. All others need no line: their mutation takes the claim. A claim that is taken here needs no look-up of an
 * earlier answer before the handler, which operations would never have.
 */
export const Idempotency = createParamDecorator(
  (_data: unknown, context: ExecutionContext): IdempotencyClaim | undefined => requestOf(context).slipway.keyed?.take(),
);

/** Whether the client requested a rehearsal: `?validate_only=true`. Needs `dryRun: true` on the route. */
export const ValidateOnly = createParamDecorator((_data: unknown, context: ExecutionContext): boolean =>
  readSwitch(requestOf(context).query, 'validate_only'),
);

/** @throws invalid_parameter (400) */
export function readSwitch(query: Record<string, unknown>, field: 'strict' | 'validate_only'): boolean {
  const given = query[field];
  if (given === undefined || given === 'false') return false;
  if (given === 'true') return true;
  const message = `${field} must be true or false`;
  throw errors.invalid_parameter({ message, details: [{ field, code: 'type', message }] });
}

/**
 * `limit` and `cursor` of a list. The arguments are the types of the sort keys in the cursor:
 * `@Page('integer', 'string')` fits `pageOf(rows, (row) => [row.position, row.name])`.
 */
export const Page = (...parts: CursorPart[]): ParameterDecorator =>
  PageParameter(parts.length === 0 ? ['string'] : parts);

const PageParameter = createParamDecorator((parts: CursorPart[], context: ExecutionContext) =>
  readPage(requestOf(context).query, parts),
);

/** The conditions of a write; check them with `assertPreconditions`. Needs `conditional: true` on the route. */
export const Conditions = createParamDecorator((_data: unknown, context: ExecutionContext): Preconditions => {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = requestOf(context).headers;
  return { ...(ifMatch !== undefined && { ifMatch }), ...(ifNoneMatch !== undefined && { ifNoneMatch }) };
});

/** The `If-None-Match` header. If `isUnchanged` returns true for it, answer with `reply(304, undefined)`. */
export const IfNoneMatch = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string | undefined => requestOf(context).headers['if-none-match'],
);

/** The caller. Only for routes with a scope. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const principal = requestOf(context).slipway.principal;
  if (!principal) throw errors.unauthenticated();
  return principal;
});
