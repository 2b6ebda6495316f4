import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { retryAfterMs } from '@slipway/contracts';
import { isHostPath } from './answers/host-paths.js';

/** A sender may repeat any header, and its value is then a list. */
type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

/** The longest wait of a supplier that is obeyed. */
const LONGEST_SUPPLIER_WAIT_MS = 60_000;
const MILLISECONDS = /^\d{1,15}(?:\.\d{1,9})?$/;

/** Returns the wait that a supplier requests, within the bound; undefined if it requests none. */
export function requestedWaitMs(headers: IncomingHttpHeaders): number | undefined {
  const { 'retry-after': standard, date, 'retry-after-ms': exact } = headers as HeaderValues;
  const [first] = exact === undefined ? [] : [exact].flat();
  // Suppliers add the second form, which is no standard, to say the same more exactly. This clock counts only for a date
  // from a supplier that sends no `Date`, and a wrong one only within the bound.
  const waitMs =
    // eslint-disable-next-line slipway/one-clock -- see above
    first !== undefined && MILLISECONDS.test(first) ? Number(first) : retryAfterMs(standard, date, Date.now());
  return waitMs === undefined ? undefined : Math.min(waitMs, LONGEST_SUPPLIER_WAIT_MS);
}

/** Returns the first value of a header that counts once, or undefined if it is absent. */
export function headerText(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = (headers as HeaderValues)[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Headers of an engine that must not reach clients of a gateway. */
const NOT_RETURNED = new Set([
  // Headers of one connection (RFC 9110, 7.6.1).
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // The length is computed again if the answer was changed, and a coded answer is decoded.
  'content-length',
  'content-encoding',
  // The gateway decides what its answers depend on.
  'vary',
  // Reveals the server's software or location.
  'server',
  'via',
  'x-powered-by',
  'location',
  'content-location',
  'alt-svc',
  'link',
  'refresh',
  // Instructions to browsers about this origin: only the gateway decides on state, transport, scripts and who may read.
  'set-cookie',
  'set-cookie2',
  'www-authenticate',
  'strict-transport-security',
  'public-key-pins',
  'content-security-policy',
  'content-security-policy-report-only',
  'permissions-policy',
  'feature-policy',
  'document-policy',
  'referrer-policy',
  'x-frame-options',
  'origin-agent-cluster',
  'origin-trial',
  'speculation-rules',
  'accept-ch',
  'critical-ch',
  'expect-ct',
  'set-login',
  'sourcemap',
  'x-sourcemap',
  'clear-site-data',
  'service-worker-allowed',
  'report-to',
  'reporting-endpoints',
  'nel',
  // Instructions to a proxy in front of the gateway: it would send one of its own files or internal pages instead.
  'x-sendfile',
  'x-litespeed-location',
  'x-reproxy-url',
  // The gateway's own headers.
  'x-request-id',
  'x-context-passport',
  'x-affinity',
]);
/**
 * The same for all headers with one of these beginnings. nginx obeys `x-accel-redirect`, `x-accel-limit-rate` and more,
 * and reads their values from any answer.
 */
const NOT_RETURNED_BEGINNING =
  /^(?:access-control-|cross-origin-|attribution-reporting-|proxy-|x-accel-|x-lighttpd-|surrogate-|x-slipway-)/;
/** Characters that Node accepts in a header: any other would make the answer fail. */
const WRITABLE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns the headers of an engine's answer that reach the client. Those in `own` take precedence. */
export function returnedHeaders(headers: IncomingHttpHeaders, own: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = {};
  for (const name in headers) {
    if (NOT_RETURNED.has(name) || NOT_RETURNED_BEGINNING.test(name)) continue;
    const value = name === 'content-type' || name === 'retry-after' ? headerText(headers, name) : headers[name];
    if (value === undefined) continue;
    if (typeof value === 'string' ? isReturnable(value) : value.every(isReturnable)) head[name] = value;
  }
  return Object.assign(head, own);
}

function isReturnable(value: string): boolean {
  return WRITABLE.test(value) && !isHostPath(value);
}

export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headerText(headers, 'content-type')?.toLowerCase().startsWith('text/event-stream') ?? false;
}

/** A proxy that buffers or stores a stream holds its events back. nginx reads the first of these, and others the second. */
export const STREAM_HEADERS: OutgoingHttpHeaders = { 'x-accel-buffering': 'no', 'cache-control': 'no-cache' };

/** Whether the body has a content encoding, so that its bytes are not the text itself. */
export function isCoded(headers: IncomingHttpHeaders): boolean {
  const { 'content-encoding': coding } = headers as HeaderValues;
  if (coding === undefined) return false;
  return [coding].flat().some((one) => one !== '' && one.toLowerCase() !== 'identity');
}

/**
 * The client's headers that an engine gets, in addition to those that the operator names. Engines obey headers that no
 * client of a gateway should set: `X-Conversation-Id` keeps llama-server generating after a disconnect, and others have
 * debugging switches. Every release may add one.
 */
const PASSED_ON = ['traceparent', 'tracestate'];

/**
 * @param further names that the operator adds, in lower case
 * @param isStream decides what the engine is asked for. `Accept` of a client does not: engines stream as the body says
 */
export function upstreamHeaders(
  client: IncomingHttpHeaders,
  requestId: string,
  authorization: string | null,
  further: readonly string[],
  isStream: boolean,
): string[] {
  const headers = [...supplierHeaders(isStream, authorization), 'x-request-id', requestId];
  for (const name of PASSED_ON) pass(name, client, headers);
  for (const name of further) if (name !== 'accept') pass(name, client, headers);
  return headers;
}

/** A supplier learns nothing about the client: no address, no client library, no trace and no id of ours. */
export function supplierHeaders(isStream: boolean, authorization: string | null): string[] {
  // The gateway meters and changes answers, which costs more if they are coded.
  const headers = ['content-type', 'application/json', 'user-agent', 'slipway', 'accept-encoding', 'identity'];
  headers.push('accept', isStream ? 'text/event-stream' : 'application/json');
  if (authorization) headers.push('authorization', authorization);
  return headers;
}

function pass(name: string, client: IncomingHttpHeaders, headers: string[]): void {
  const value = client[name];
  if (value === undefined) return;
  if (typeof value === 'string') headers.push(name, value);
  else for (const one of value) headers.push(name, one);
}
