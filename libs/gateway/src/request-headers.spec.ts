import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from '@jest/globals';
import { supplierHeaders, upstreamHeaders } from './upstream/request-headers.js';

/** The pairs of a flat list, as the wire will carry them. */
function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] as string, flat[2 * n + 1] as string]);
}
const sent = (client: IncomingHttpHeaders, authorization: string | null = null, further: string[] = []) =>
  pairs(upstreamHeaders(client, 'req-1', authorization, further));

const OWN = [
  ['content-type', 'application/json'],
  ['user-agent', 'slipway'],
  ['x-request-id', 'req-1'],
];

it('passes on what every engine needs, and what the operator names, every value of it', () => {
  const client = { accept: 'x/y', traceparent: '00-1', tracestate: 'a=b', 'x-mine': 'kept', 'x-many': ['1', '2'] };
  const needed = [
    ['accept', 'x/y'],
    ['traceparent', '00-1'],
    ['tracestate', 'a=b'],
  ];
  expect(sent(client)).toEqual([...OWN, ...needed]);
  expect(sent(client, null, ['x-many', 'x-none', 'x-mine'])).toEqual([
    ...OWN,
    ...needed,
    ['x-many', '1'],
    ['x-many', '2'],
    ['x-mine', 'kept'],
  ]);
});

it.each([
  ['of one connection', 'connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect'],
  ['made anew', 'host content-length content-type accept-encoding x-request-id user-agent'],
  ['credentials', 'authorization api-key x-api-key cookie proxy-authorization proxy-authenticate'],
  ['where the client is', 'forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip'],
  ['for the gateway itself', 'x-session-id x-slipway-tenant'],
  ['an order to an engine', 'x-conversation-id x-debug openai-organization baggage x-anything'],
])('keeps back what is %s', (_why, names) => {
  for (const name of names.split(' ')) expect([name, sent({ [name]: 'of the client' })]).toEqual([name, OWN]);
});

it('shows upstream the credential of the revision, once', () => {
  const authorizationOf = (headers: readonly string[]) => pairs(headers).filter(([name]) => name === 'authorization');
  const own = [['authorization', 'Bearer sk-1']];
  expect(authorizationOf(upstreamHeaders({ authorization: 'Bearer slw_1' }, 'r', 'Bearer sk-1', []))).toEqual(own);
  expect(authorizationOf(supplierHeaders(false, 'Bearer sk-1'))).toEqual(own);
});

it('tells a supplier what the answer shall be, and nothing else', () => {
  const own = (accept: string) => [
    ['content-type', 'application/json'],
    ['user-agent', 'slipway'],
    ['accept', accept],
  ];
  expect(pairs(supplierHeaders(true, null))).toEqual(own('text/event-stream'));
  expect(pairs(supplierHeaders(false, null))).toEqual(own('application/json'));
});
