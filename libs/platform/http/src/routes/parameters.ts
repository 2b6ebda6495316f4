import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { readPage, type CursorPart } from '../answers/page.js';
import { errors } from '../errors/platform.errors.js';
import type { SlipwayRequest } from '../server/slipway-request.js';
import { concretePathOf, fingerprintOf, parseIdempotencyKey, type IdempotencyClaim } from './idempotency-key.js';

function requestOf(context: ExecutionContext): SlipwayRequest {
  return context.switchToHttp().getRequest<SlipwayRequest>();
}

/** The claim made with `Idempotency-Key`, or undefined if the client sent none. Needs `idempotent: true` on the route. */
export const Idempotency = createParamDecorator(
  (_data: unknown, context: ExecutionContext): IdempotencyClaim | undefined => {
    const request = requestOf(context);
    const header = request.headers['idempotency-key'];
    if (header === undefined) return undefined;
    const isStream = typeof (request.body as { pipe?: unknown } | undefined)?.pipe === 'function';
    return {
      method: request.method,
      path: concretePathOf(request.url),
      key: parseIdempotencyKey(header),
      // The fingerprint of a stream is its digest, which only its reader knows.
      fingerprint: isStream ? '' : fingerprintOf(request.query, request.body),
    };
  },
);

/** Whether the client asked for a rehearsal: `?validate_only=true`. Needs `dryRun: true` on the route. */
export const ValidateOnly = createParamDecorator((_data: unknown, context: ExecutionContext): boolean =>
  readValidateOnly(requestOf(context).query),
);

export function readValidateOnly(query: Record<string, unknown>): boolean {
  const given = query['validate_only'];
  if (given === undefined || given === 'false') return false;
  if (given === 'true') return true;
  const message = 'validate_only must be true or false';
  throw errors.invalid_parameter({ message, details: [{ field: 'validate_only', code: 'type', message }] });
}

/**
 * `limit` and `cursor` of a list. The arguments are the types of the sort keys, which the cursor holds:
 * `@Page('timestamp', 'string')` fits `pageOf(rows, limit, (row) => [row.created_at, row.id])`.
 */
export const Page = (...parts: CursorPart[]): ParameterDecorator =>
  PageParameter(parts.length === 0 ? ['string'] : parts);

const PageParameter = createParamDecorator((parts: CursorPart[], context: ExecutionContext) =>
  readPage(requestOf(context).query, parts),
);

/** The `If-Match` header as it came; check it with `assertIfMatch`. Needs `ifMatch: true` on the route. */
export const IfMatch = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string | undefined => requestOf(context).headers['if-match'],
);

/** The `If-None-Match` header; answer `reply(304, undefined)` if `isUnchanged` says so. */
export const IfNoneMatch = createParamDecorator(
  (_data: unknown, context: ExecutionContext): string | undefined => requestOf(context).headers['if-none-match'],
);

/** Who is calling. Only on routes with a scope. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const principal = requestOf(context).slipway.principal;
  if (!principal) throw errors.unauthenticated();
  return principal;
});
