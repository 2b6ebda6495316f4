import type { FastifyInstance, FastifyRequest } from 'fastify';
import { runInRequest, type RequestContext } from '../context/request-context.js';
import { errors } from '../errors/platform.errors.js';
import { MERGE_PATCH } from '../fields/merge-patch.js';
import { readValidateOnly } from '../routes/parameters.js';
import { refuseUnstorable } from '../routes/request-reader.js';
import { newRequestId } from './client-error.js';
import { routeOf, type SlipwayRequest } from './slipway-request.js';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The client's own request id if it is one, else a new one. */
export function requestIdOf(request: { headers: Record<string, string | string[] | undefined> }): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newRequestId();
}

/** Opens the request's context before anything else looks at the request. */
export function addContextHooks(instance: FastifyInstance): void {
  instance.decorateRequest('slipway');
  instance.addHook('onRequest', (request, reply, done) => {
    const context: RequestContext = { requestId: request.id, warnings: [], route: routeOf(request) };
    (request as SlipwayRequest).slipway = context;
    // Answers belong to one caller, and some hold a secret that is shown once.
    void reply.headers({
      'x-request-id': request.id,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    const traceparent = request.headers['traceparent'];
    if (typeof traceparent === 'string' && TRACEPARENT.test(traceparent)) {
      context.traceparent = traceparent;
      void reply.header('traceparent', traceparent);
    }
    // Node is told not to enforce this, because its own 400 has no body.
    if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
      done(errors.invalid_parameter({ message: 'The Host header is missing.' }));
      return;
    }
    runInRequest(context, done);
  });
  // The body arrives on the socket's own events, outside of the context opened above.
  instance.addHook('preValidation', (request, _reply, done) => runInRequest((request as SlipwayRequest).slipway, done));
}

/** Checks that need a permitted caller but no handler; added after the guard's hook so that 401 and 403 come first. */
export function addRequestChecks(instance: FastifyInstance): void {
  instance.addHook('onRequest', (request, _reply, done) => {
    try {
      refuseUnfitting(request);
      done();
    } catch (refusal) {
      done(refusal as Error);
    }
  });
}

function refuseUnfitting(request: FastifyRequest): void {
  const route = routeOf(request);
  if (!route) return;
  refuseUnstorable(request.params as Record<string, string>);
  const query = request.query as Record<string, unknown>;
  if (query['validate_only'] !== undefined) {
    if (!route.dryRun && route.method !== 'GET') {
      const message = 'This operation has no validate_only';
      throw errors.invalid_parameter({ message, details: [{ field: 'validate_only', code: 'unsupported', message }] });
    }
    if (route.dryRun) readValidateOnly(query);
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw errors.unsupported_media_type({
      message: 'Encoded request bodies are not supported.',
      remediation: 'Send the body without Content-Encoding.',
    });
  }
  const mediaType = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (mediaType === 'application/octet-stream' && !route.streamBody) throw errors.unsupported_media_type();
  if (mediaType === MERGE_PATCH && route.method !== 'PATCH') throw errors.unsupported_media_type();
}
