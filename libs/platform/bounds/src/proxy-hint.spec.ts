import { beforeEach, expect, it } from '@jest/globals';
import { ProxyHint } from './proxy-hint.js';

let warnings: string[];
let hint: ProxyHint;
beforeEach(() => {
  warnings = [];
  hint = new ProxyHint((text) => warnings.push(text), false);
});

function send(times: number, peer: string | undefined, forwardedFor: string | undefined): void {
  for (let n = 0; n < times; n += 1) hint.note(peer, forwardedFor);
}

it('names the variable and the address once, if one address sends all requests with X-Forwarded-For', () => {
  send(500, '::ffff:172.30.0.5', '203.0.113.9');
  expect(warnings).toEqual([expect.stringContaining('SLIPWAY_TRUSTED_PROXIES=172.30.0.5.')]);
});

it('says nothing before there are enough requests, and counts again after another kind of request', () => {
  send(49, '10.0.0.1', '203.0.113.9');
  send(1, '10.0.0.1', undefined);
  send(49, '10.0.0.1', '203.0.113.9');
  expect(warnings).toEqual([]);
  send(1, '10.0.0.1', '203.0.113.9');
  expect(warnings).toHaveLength(1);
});

it('names all proxies if a few addresses send all requests with X-Forwarded-For', () => {
  for (let n = 0; n < 300; n += 1) hint.note(`::ffff:10.0.0.${3 - (n % 3)}`, '203.0.113.9');
  expect(warnings).toEqual([expect.stringContaining('SLIPWAY_TRUSTED_PROXIES=10.0.0.1,10.0.0.2,10.0.0.3.')]);
});

it('does not name an address that sends the header now and then', () => {
  for (let n = 0; n < 300; n += 1) hint.note(n % 10 === 9 ? '198.51.100.1' : '10.0.0.1', '203.0.113.9');
  expect(warnings).toEqual([expect.stringContaining('SLIPWAY_TRUSTED_PROXIES=10.0.0.1.')]);
});

it('says nothing about many addresses', () => {
  for (let n = 0; n < 900; n += 1) hint.note(`10.0.0.${n % 9}`, '203.0.113.9');
  expect(warnings).toEqual([]);
});

it('says nothing if trusted proxies are set', () => {
  hint = new ProxyHint((text) => warnings.push(text), true);
  send(500, '10.0.0.1', '203.0.113.9');
  expect(warnings).toEqual([]);
});
