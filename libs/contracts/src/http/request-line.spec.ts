import { expect, it } from '@jest/globals';
import { lineOfUnknownMethod } from './request-line.js';

const lineOf = (text: string, code = 'HPE_INVALID_METHOD') =>
  lineOfUnknownMethod({ code, rawPacket: Buffer.from(text, 'latin1') });

it.each([
  ['REFRESH /a?b=c HTTP/1.1\r\nHost: x\r\n\r\n', { method: 'REFRESH', target: '/a?b=c' }],
  ['get / HTTP/1.1\r\n\r\n', { method: 'get', target: '/' }],
  ['M-SEARCH! /a HTTP/1.0\n\n', { method: 'M-SEARCH!', target: '/a' }],
])('reads the line of %j', (text, line) => {
  expect(lineOf(text)).toEqual(line);
});

it.each([
  'nonsense\r\n\r\n',
  'GET /first HTTP/1.1\r\nHost: x\r\n\r\nget /second HTTP/1.1\r\n\r\n',
  'get /\r\n\r\n',
  'get http://x/ HTTP/1.1\r\n\r\n',
  'get /a b HTTP/1.1\r\n\r\n',
  'get /a HTTP/2.0\r\n\r\n',
  ' get /a HTTP/1.1\r\n\r\n',
  'g(t /a HTTP/1.1\r\n\r\n',
  `get /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`,
  '\x16\x03\x01\x02\x00',
  '',
])('finds no line in %j', (text) => {
  expect(lineOf(text)).toBeUndefined();
});

it('reads no other refusals', () => {
  expect(lineOf('get / HTTP/1.1\r\n\r\n', 'HPE_INVALID_URL')).toBeUndefined();
  expect(lineOfUnknownMethod({ code: 'HPE_INVALID_METHOD' })).toBeUndefined();
});
