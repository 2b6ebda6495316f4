import type { FastifyInstance, FastifyReply } from 'fastify';
import { beginningOf } from '@slipway/contracts';
import type { Warning } from '../context/request-context.js';
import { type FindEarlierAnswer, KEY_IGNORED, KeyedRequest } from '../routes/keyed-request.js';
import { errors } from '../errors/platform.errors.js';
import type { FieldIssue } from '../errors/slipway-error.js';
import { nearest } from '../fields/near-miss.js';
import { MAX_UNKNOWN, reportUnknown, unreadFields } from '../fields/read-object.js';
import { claimOf, readSwitch, refuseUnstorable } from '../routes/parameters.js';
import { queryParametersOf, readsBody } from '../routes/route.decorator.js';
import { isOfApi, takesKey, type RouteSpec } from '../routes/route-spec.js';
import { refuseUnacceptable, refuseUnreadable } from './negotiation.js';
import type { SlipwayRequest } from './slipway-request.js';

/**
 * Checks that need a permitted caller but no handler. They are added after the guard's hook, so that 401 and 403 come
 * first.
 * @param find returns what finds the answers to earlier requests with a key
 */
export function addRequestChecks(instance: FastifyInstance, find: () => FindEarlierAnswer | undefined): void {
  instance.addHook('onRequest', (request, reply, done) => {
    try {
      refuseUnfitting(request as SlipwayRequest, reply);
      done();
    } catch (refusal) {
      done(refusal as Error);
    }
  });
  instance.addHook('preHandler', (request, _reply, done) => {
    try {
      refuseUnread(request as SlipwayRequest);
      readKey(request as SlipwayRequest, find());
      done();
    } catch (refusal) {
      done(refusal as Error);
    }
  });
}

/** The handler of a strict request refuses the fields that it does not know, unless it reads no body at all. */
function refuseUnread({ slipway: { isStrict, route }, body }: SlipwayRequest): void {
  if (isStrict && route && !readsBody(route)) reportUnknown(unreadFields(body));
}

/** The body has arrived, so it can be compared with that of an earlier request. */
function readKey(request: SlipwayRequest, find: FindEarlierAnswer | undefined): void {
  const { slipway, query } = request;
  const claim = slipway.route && takesKey(slipway.route) ? claimOf(request) : undefined;
  if (!claim) return;
  slipway.keyed = new KeyedRequest(claim, query['validate_only'] === 'true' ? undefined : find);
}

/** Warns of a key that a mutation does not obey. Reads may ignore it, because they change nothing. */
function warnOfIgnoredKey({ headers, slipway }: SlipwayRequest, reply: FastifyReply, route: RouteSpec): void {
  if (headers['idempotency-key'] === undefined || route.method === 'GET') return;
  if (takesKey(route) || !isOfApi(route)) return;
  slipway.warnings.push(KEY_IGNORED);
  void reply.header('x-slipway-ignored-headers', KEY_IGNORED.field);
}

function refuseUnfitting(request: SlipwayRequest, reply: FastifyReply): void {
  const { route } = request.slipway;
  if (!route) return;
  refuseUnstorable(request.params);
  readParameters(request, reply, route);
  warnOfIgnoredKey(request, reply, route);
  refuseConditions(request, route);
  refuseUnacceptable(request, route);
  refuseUnreadable(request, route);
}

/**
 * Reads the parameters that every operation knows, and refuses the ones that this operation does not know. A read only
 * warns of them, because it changes nothing.
 */
function readParameters(request: SlipwayRequest, reply: FastifyReply, route: RouteSpec): void {
  const { query, slipway } = request;
  slipway.isStrict = readSwitch(query, 'strict');
  if (query['validate_only'] !== undefined && !route.dryRun && route.method !== 'GET') {
    const message = 'This operation does not support validate_only';
    throw errors.invalid_parameter({ message, details: [{ field: 'validate_only', code: 'unsupported', message }] });
  }
  if (route.dryRun) readSwitch(query, 'validate_only');
  const unknown = unknownParameters(query, route);
  if (unknown.length === 0) return;
  if (route.method !== 'GET' || slipway.isStrict) {
    throw errors.invalid_parameter({ message: unknown[0]!.message.replace(/[^?]$/, '$&.'), details: unknown });
  }
  slipway.warnings.push(
    ...unknown.map(({ field, message }): Warning => ({ code: 'unknown_parameter', field, message })),
  );
  // An answer that is no JSON object has no other place for them.
  void reply.header('x-slipway-unknown-parameters', unknown.map(({ field }) => encodeURIComponent(field)).join(', '));
}

/** Names by which other tools know `validate_only`, and no typing error leads to. */
const REHEARSAL = /^(?:dry|server)[_-]?(?:run|side)$|^preview$|^simulate$/i;
const LONGEST_NAME = 100;

function unknownParameters(query: Record<string, unknown>, route: RouteSpec): FieldIssue[] {
  // Paths outside of the API belong to browsers and to providers of identities, which add parameters of their own.
  if (!isOfApi(route)) return [];
  const known = queryParametersOf(route);
  const unknown = Object.keys(query).filter((name) => name !== 'strict' && !known.has(name));
  return unknown.slice(0, MAX_UNKNOWN).map((name) => {
    const near = route.dryRun && REHEARSAL.test(name) ? 'validate_only' : nearest(name, [...known, 'strict']);
    const field = beginningOf(name, LONGEST_NAME);
    const hint = near === undefined ? '' : `; did you mean \`${near}\`?`;
    return { field, code: 'unknown_parameter', message: `${field} is not a parameter of this operation${hint}` };
  });
}

/**
 * Refuses conditions that the operation would ignore: the client relies on them. Reads may ignore conditions, and
 * `If-Modified-Since` has no meaning for other methods (RFC 9110, 13.1.3).
 */
function refuseConditions({ headers }: SlipwayRequest, { method, conditional }: RouteSpec): void {
  if (method === 'GET') return;
  const ignored = conditional ? ['if-unmodified-since'] : ['if-match', 'if-none-match', 'if-unmodified-since'];
  const given = ignored.find((name) => headers[name as 'if-match'] !== undefined);
  if (given === undefined) return;
  const message = `This operation does not check ${HEADERS[given]}.`;
  throw errors.condition_not_supported({ message });
}

const HEADERS: Record<string, string> = {
  'if-match': 'If-Match',
  'if-none-match': 'If-None-Match',
  'if-unmodified-since': 'If-Unmodified-Since',
};
