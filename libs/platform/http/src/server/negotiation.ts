import { hasOtherContentType, hasUtf8Charset, mediaTypeOf, preferredMediaType } from '@slipway/contracts';
import { errors } from '../errors/platform.errors.js';
import { MERGE_PATCH } from '../fields/merge-patch.js';
import { isOfApi, type RouteSpec } from '../routes/route-spec.js';
import type { SlipwayRequest } from './slipway-request.js';

/* Content negotiation (RFC 9110, 8 and 12): the type of an answer, and the type and coding of a body. */

const JSON_TYPE = 'application/json';
const STREAM_TYPE = 'application/octet-stream';
const EVENTS_TYPE = 'text/event-stream';

const offers = new WeakMap<RouteSpec, readonly string[]>();

/** Returns the media types of a route's successful answers, the default first. */
export function offeredBy(route: RouteSpec): readonly string[] {
  const known = offers.get(route);
  if (known) return known;
  const contents = Object.values(route.ok).filter((type) => type !== null);
  const types = contents.map((type) => (typeof type === 'string' ? type : JSON_TYPE));
  const offered = [...new Set([...types, ...(route.also ?? []), ...(route.eventStream ? [EVENTS_TYPE] : [])])];
  offers.set(route, offered);
  return offered;
}

/**
 * Refuses a request whose client cannot read the answer, before anything happens. Errors are JSON for every client.
 * Paths outside of the API serve probes and browsers, which accept what they get.
 * @throws not_acceptable (406)
 */
export function refuseUnacceptable({ headers }: SlipwayRequest, route: RouteSpec): void {
  if (headers.accept === undefined || !isOfApi(route)) return;
  const offered = offeredBy(route);
  if (offered.length === 0 || preferredMediaType(headers.accept, offered) !== undefined) return;
  const types = offered.join(' or ');
  throw errors.not_acceptable({
    message: `This operation answers with ${types}, which the Accept header of the request excludes.`,
    remediation: `Send Accept: ${offered[0]}, or no Accept header.`,
  });
}

/** Whether the client prefers a stream of events to JSON. */
export function prefersEvents({ headers }: Pick<SlipwayRequest, 'headers'>): boolean {
  return preferredMediaType(headers.accept, [JSON_TYPE, EVENTS_TYPE]) === EVENTS_TYPE;
}

/**
 * Refuses a body in a form that the route does not read, before a byte of it is read. The answer names the forms that it
 * reads. Without a body, `Content-Type` and `Content-Encoding` have no meaning: clients send them out of habit.
 * @throws unsupported_media_type (415)
 */
export function refuseUnreadable({ raw, headers }: SlipwayRequest, route: RouteSpec): void {
  if (route.method === 'GET') return;
  const given = headers['content-type'];
  const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
  if (isEmpty) {
    // An empty file is a body of its own form. In every other form, no body counts as `{}`.
    const isFile = route.streamBody && given !== undefined && mediaTypeOf(given)?.type === STREAM_TYPE;
    if (!isFile) delete headers['content-type'];
    return;
  }
  refuseCoded(headers['content-encoding']);
  const readable = [
    JSON_TYPE,
    ...(route.method === 'PATCH' ? [MERGE_PATCH] : []),
    ...(route.streamBody ? [STREAM_TYPE] : []),
  ];
  const refuse = (message: string): never => {
    throw errors.unsupported_media_type({
      message,
      remediation: `Send Content-Type: ${readable.join(' or ')}.`,
      headers: {
        accept: readable.join(', '),
        ...(route.method === 'PATCH' && { 'accept-patch': readable.join(', ') }),
      },
    });
  };
  if (given === undefined) return refuse('The request has a body but no Content-Type.');
  if (hasOtherContentType(raw.rawHeaders, given)) return refuse('The request has several different Content-Types.');
  const media = mediaTypeOf(given);
  if (!media) return refuse('The Content-Type of the request is malformed.');
  if (!readable.includes(media.type)) return refuse(`This operation does not read ${media.type}.`);
  if (media.type !== STREAM_TYPE && !hasUtf8Charset(media)) return refuse('JSON is UTF-8: no other charset is read.');
  // The parser of the framework need not read the parameters again.
  headers['content-type'] = media.type;
}

function refuseCoded(codings: string | undefined): void {
  if (codings === undefined || codings.split(',').every((one) => /^(?:identity)?$/i.test(one.trim()))) return;
  throw errors.unsupported_media_type({
    message: 'Encoded request bodies are not supported.',
    remediation: 'Send the body without Content-Encoding.',
    headers: { 'accept-encoding': 'identity' },
  });
}
