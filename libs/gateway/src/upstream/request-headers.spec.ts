import type { IncomingHttpHeaders } from 'node:http';
import { expect, it } from '@jest/globals';
import { supplierHeaders, upstreamHeaders } from './request-headers.js';

/** The pairs of a flat list, as the wire will carry them. */
function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, n) => [flat[2 * n] as string, flat[2 * n + 1] as string]);
}
const sent = (client: IncomingHttpHeaders, authorization: string | null = null) =>
  pairs(upstreamHeaders(client, 'req-1', authorization));

const OWN = [
  ['content-type', 'application/json'],
  ['x-request-id', 'req-1'],
];

it('passes on what is the client’s, every value of it', () => {
  expect(sent({ accept: 'x/y', 'x-custom': 'kept', 'user-agent': 'me', many: ['1', '2'] as never })).toEqual([
    ...OWN,
    ['accept', 'x/y'],
    ['x-custom', 'kept'],
    ['user-agent', 'me'],
    ['many', '1'],
    ['many', '2'],
  ]);
});

it.each([
  ['of one connection', 'connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect'],
  ['made anew', 'host content-length content-type accept-encoding x-request-id'],
  ['credentials', 'authorization api-key x-api-key cookie proxy-authorization proxy-authenticate'],
  ['where the client is', 'forwarded x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip'],
  ['for the gateway itself', 'x-session-id x-slipway-tenant'],
])('keeps back what is %s', (_why, names) => {
  for (const name of names.split(' ')) expect([name, sent({ [name]: 'of the client' })]).toEqual([name, OWN]);
});

it('keeps back what the client’s connection header names', () => {
  const client = { connection: 'close, X-Hop , x-other', 'x-hop': '1', 'x-other': '2', 'x-end': '3' };
  expect(sent(client)).toEqual([...OWN, ['x-end', '3']]);
  expect(sent({ connection: 'keep-alive', 'x-end': '3' })).toEqual([...OWN, ['x-end', '3']]);
});

it('shows upstream the credential of the revision, once', () => {
  const authorization = ['authorization', 'Bearer sk-1'];
  expect(sent({ authorization: 'Bearer slw_1' }, 'Bearer sk-1')).toEqual([...OWN, authorization]);
  expect(pairs(supplierHeaders(false, 'Bearer sk-1')).filter(([name]) => name === 'authorization')).toEqual([
    authorization,
  ]);
});

it('tells a supplier what the answer shall be, and nothing else', () => {
  const own = (accept: string) => [
    ['content-type', 'application/json'],
    ['accept', accept],
    ['user-agent', 'slipway'],
  ];
  expect(pairs(supplierHeaders(true, null))).toEqual(own('text/event-stream'));
  expect(pairs(supplierHeaders(false, null))).toEqual(own('application/json'));
});
