import { expect, it } from '@jest/globals';
import { clientAddress, proxyList } from './client-address.js';

const proxies = proxyList('10.0.0.7, 10.1.0.0/16, fd00::/8');

it.each<[string | undefined, string | string[] | undefined, string]>([
  ['192.0.2.1', '198.51.100.1', '192.0.2.1'],
  ['10.0.0.7', '198.51.100.1', '198.51.100.1'],
  ['::ffff:10.0.0.7', '198.51.100.1', '198.51.100.1'],
  ['fd00::1', '203.0.113.9, 198.51.100.1, 10.1.2.3', '198.51.100.1'],
  ['10.0.0.7', ['203.0.113.9', '198.51.100.1'], '198.51.100.1'],
  ['10.0.0.7', '203.0.113.9, unknown', '10.0.0.7'],
  ['10.0.0.7', '', '10.0.0.7'],
  ['10.0.0.7', undefined, '10.0.0.7'],
  [undefined, '203.0.113.9', ''],
])('a connection from %s, forwarded for %j, has the client address %s', (peer, forwardedFor, expected) => {
  expect(clientAddress(peer, forwardedFor, proxies)).toBe(expected);
});

it('ignores X-Forwarded-For if no proxies are configured', () => {
  expect(clientAddress('10.0.0.7', '198.51.100.1', undefined)).toBe('10.0.0.7');
});

it.each(['', 'proxy', '10.0.0.0/33', '10.0.0.0/x', 'fd00::/129', '10.0.0.7,', '10.0.0.7/8/8'])(
  '%j is not a list of proxies',
  (text) => {
    expect(() => proxyList(text)).toThrow('must be addresses or networks');
  },
);
