import type { FastifyReply, FastifyRequest } from 'fastify';
import { toSlipwayError } from '../errors/failure.js';
import type { SlipwayError } from '../errors/slipway-error.js';
import { WatchedBody } from './watched-body.js';

/** The body of every non-success answer. */
export interface ErrorEnvelope {
  error: {
    code: string;
    message: string;
    category: string;
    remediation?: string;
    request_id: string;
    retryable: boolean;
    [extra: string]: unknown;
  };
}

export function envelopeOf(error: SlipwayError, requestId: string): ErrorEnvelope {
  return {
    error: {
      ...error.extra,
      code: error.code,
      message: error.message,
      category: error.category,
      ...(error.remediation !== undefined && { remediation: error.remediation }),
      request_id: requestId,
      retryable: error.retryable,
      ...(error.details !== undefined && { details: error.details }),
    },
  };
}

export function errorHeaders(error: SlipwayError): Record<string, string> {
  const headers: Record<string, string> = {
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...error.headers,
  };
  // The official OpenAI clients retry every 409 and 5xx unless this header forbids it.
  if (!error.retryable) headers['x-should-retry'] = 'false';
  if (error.status === 401) headers['www-authenticate'] ??= challengeOf(error);
  if (error.status === 429 || error.status === 503) headers['retry-after'] ??= '1';
  return headers;
}

/** RFC 6750: a request without credentials gets the bare challenge, a refused token also gets the reason. */
function challengeOf(error: SlipwayError): string {
  return error.code === 'token_expired'
    ? 'Bearer realm="slipway", error="invalid_token", error_description="The token has expired"'
    : 'Bearer realm="slipway"';
}

/** Answers anything thrown with the envelope. */
export function sendErrorEnvelope(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
  const error = toSlipwayError(thrown, request.id, request.routeOptions?.bodyLimit);
  if (reply.sent || reply.raw.headersSent) {
    // Part of the answer has been sent, so the only honest signal is a broken connection.
    reply.raw.destroy();
    return;
  }
  discardRest(request, reply);
  for (const name of ['etag', 'location', 'content-length', 'content-encoding', 'content-disposition'])
    reply.removeHeader(name);
  void reply
    .code(error.status)
    .headers({ 'x-request-id': request.id, ...errorHeaders(error) })
    .type('application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(envelopeOf(error, request.id));
}

/** Time until the connection of a refused client is cut if the client still sends. */
const LINGER_MS = 10_000;

/**
 * Lets a client that still sends read its refusal: an immediate close would reset the connection and lose the answer.
 * Everything it sends in the meantime is discarded.
 */
function discardRest({ raw, body }: FastifyRequest, reply: FastifyReply): void {
  if (raw.complete) return;
  reply.raw.once('finish', () => {
    if (body instanceof WatchedBody) body.release();
    raw.resume();
    const limit = setTimeout(() => raw.destroy(), LINGER_MS).unref();
    raw.once('close', () => clearTimeout(limit));
    raw.once('end', () => clearTimeout(limit));
  });
}
