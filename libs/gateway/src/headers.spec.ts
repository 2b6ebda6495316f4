import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from '@jest/globals';
import {
  isCoded,
  isEventStream,
  requestedWaitMs,
  returnedHeaders,
  supplierHeaders,
  upstreamHeaders,
} from './headers.js';

/** Returns the pairs of a flat list, as they are sent. */
function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] as string, flat[2 * n + 1] as string]);
}
const sent = (client: IncomingHttpHeaders, authorization: string | null = null, further: string[] = []) =>
  pairs(upstreamHeaders(client, 'req-1', authorization, further, false));

const OWN = [
  ['content-type', 'application/json'],
  ['user-agent', 'slipway'],
  ['accept-encoding', 'identity'],
  ['accept', 'application/json'],
  ['x-request-id', 'req-1'],
];

it('passes on the headers that every engine needs and those that the operator names, with all their values', () => {
  const client = {
    accept: 'text/event-stream',
    traceparent: '00-1',
    tracestate: 'a=b',
    'x-mine': 'kept',
    'x-many': ['1', '2'],
  };
  const needed = [
    ['traceparent', '00-1'],
    ['tracestate', 'a=b'],
  ];
  expect(sent(client)).toEqual([...OWN, ...needed]);
  expect(sent(client, null, ['x-many', 'x-none', 'accept', 'x-mine'])).toEqual([
    ...OWN,
    ...needed,
    ['x-many', '1'],
    ['x-many', '2'],
    ['x-mine', 'kept'],
  ]);
});

it('asks an engine for a stream if the body does, whatever the client accepts', () => {
  const headers = upstreamHeaders({ accept: 'application/json' }, 'req-1', null, [], true);
  expect(pairs(headers).filter(([name]) => name === 'accept')).toEqual([['accept', 'text/event-stream']]);
});

it.each<[Record<string, string | string[]>, number | undefined]>([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': '9'.repeat(99) }, 60_000],
  [{ 'retry-after': ['1', '3'] }, 3_000],
  [{ 'retry-after': 'Sun, 29 Nov 2020 12:00:09 GMT', date: 'Sun, 29 Nov 2020 12:00:00 GMT' }, 9_000],
  [{ 'retry-after': 'Fri, 31 Dec 9999 23:59:59 GMT' }, 60_000],
  [{ 'retry-after': 'Sun, 06 Nov 1994 08:49:37 GMT' }, 0],
  [{ 'retry-after': '7', 'retry-after-ms': '6500.5' }, 6_500.5],
  [{ 'retry-after': '7', 'retry-after-ms': '-1' }, 7_000],
  [{ 'retry-after-ms': '1e3' }, undefined],
  [{ 'retry-after': '-7' }, undefined],
  [{ 'retry-after': '1.5' }, undefined],
  [{ 'retry-after': 'soon' }, undefined],
  [{}, undefined],
])('reads the wait of a supplier from %j, up to a minute', (headers, waitMs) => {
  expect(requestedWaitMs(headers as never)).toBe(waitMs);
});

it.each([
  ['of one connection', 'connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect'],
  ['made anew', 'host content-length content-type accept-encoding x-request-id user-agent'],
  ['credentials', 'authorization api-key x-api-key cookie proxy-authorization proxy-authenticate'],
  ['where the client is', 'forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip'],
  ['for the gateway itself', 'x-session-id x-slipway-tenant'],
  ['an order to an engine', 'x-conversation-id x-debug openai-organization baggage x-anything'],
])('does not pass on a header that is %s', (_why, names) => {
  for (const name of names.split(' ')) expect([name, sent({ [name]: 'of the client' })]).toEqual([name, OWN]);
});

it('sends the credential of the revision upstream, once', () => {
  const authorizationOf = (headers: readonly string[]) => pairs(headers).filter(([name]) => name === 'authorization');
  const own = [['authorization', 'Bearer sk-1']];
  expect(authorizationOf(upstreamHeaders({ authorization: 'Bearer slw_1' }, 'r', 'Bearer sk-1', [], false))).toEqual(
    own,
  );
  expect(authorizationOf(supplierHeaders(false, 'Bearer sk-1'))).toEqual(own);
});

it('sends a supplier the accepted type of the answer and nothing else', () => {
  const own = (accept: string) => [
    ['content-type', 'application/json'],
    ['user-agent', 'slipway'],
    ['accept-encoding', 'identity'],
    ['accept', accept],
  ];
  expect(pairs(supplierHeaders(true, null))).toEqual(own('text/event-stream'));
  expect(pairs(supplierHeaders(false, null))).toEqual(own('application/json'));
});

const returned = (headers: Record<string, string | string[]>) =>
  returnedHeaders(headers as never, { 'x-request-id': 'ours' });

it('hides who the engine is, where it is, and its instructions to browsers', () => {
  const dropped = {
    server: 'llama.cpp',
    'access-control-allow-origin': '*',
    'access-control-allow-credentials': 'true',
    'set-cookie': ['a=b'],
    'strict-transport-security': 'max-age=1',
    'x-powered-by': 'x',
    via: '1.1 x',
    vary: 'accept-encoding',
    'alt-svc': 'h3=":1"',
    location: 'http://10.0.0.7/',
    'content-length': '7',
    'content-encoding': 'identity',
    'x-request-id': 'theirs',
  };
  const kept = { 'content-type': 'application/json', 'openai-processing-ms': '7', 'x-custom': 'kept' };
  expect(returned({ ...dropped, ...kept })).toEqual({ ...kept, 'x-request-id': 'ours' });
});

it.each([
  ['a proxy', 'x-accel-redirect x-accel-buffering x-accel-limit-rate x-sendfile x-lighttpd-send-file x-reproxy-url'],
  ['a cache', 'surrogate-control surrogate-key'],
  ['a browser', 'cross-origin-resource-policy permissions-policy sourcemap speculation-rules clear-site-data'],
  ['a proxy about a login', 'proxy-authenticate proxy-authentication-info proxy-connection'],
  ['a client that trusts our own', 'x-slipway-revision x-slipway-held-ms x-slipway-anything'],
])('returns no instruction to %s', (_whom, names) => {
  for (const name of names.split(' ')) expect([name, returned({ [name]: '/internal' })]).toEqual([name, returned({})]);
});

it.each(['/models/x.gguf', 'file:///models/x', 'model=/srv/models/x/', 'C:\\models\\x.gguf', '~/models/x', '/x.gguf'])(
  'returns no header that contains %s',
  (path) => {
    expect(returned({ 'x-model': path, 'x-models': ['a', path] })).toEqual({ 'x-request-id': 'ours' });
  },
);

it('reads the first value of a repeated header that counts once', () => {
  const twice = { 'content-type': ['text/event-stream', 'application/json'], 'retry-after': ['7', '8'] };
  expect(isEventStream(twice as never)).toBe(true);
  expect(returned(twice)).toEqual({ 'content-type': 'text/event-stream', 'retry-after': '7', 'x-request-id': 'ours' });
  expect(isCoded({ 'content-encoding': ['identity', 'gzip'] } as never)).toBe(true);
  expect([isCoded({}), isCoded({ 'content-encoding': 'identity' }), isCoded({ 'content-encoding': '' })]).toEqual(
    Array(3).fill(false),
  );
});

it('drops a header value that cannot be written', () => {
  expect(returned({ 'x-odd': 'a\u20acb', 'x-nul': 'a\0', 'x-fine': 'é' })).toEqual({
    'x-fine': 'é',
    'x-request-id': 'ours',
  });
});
