import { expect, it } from '@jest/globals';
import { assertOwnHost, assertOwnOrigin } from './same-origin.js';

const LOCAL = { isOn: true };
const PUBLIC = { isOn: true, publicUrl: 'https://slipway.example' };
const refused = (code: string) => expect.objectContaining({ code });

it.each(['localhost', 'localhost:7070', 'LOCALHOST', '127.0.0.1:7070', '10.0.0.7', '[::1]:7070', '[fd00::1]'])(
  'the console answers to %s if no address is configured',
  (host) => expect(() => assertOwnHost(host, LOCAL)).not.toThrow(),
);

it.each([
  undefined,
  '',
  'evil.example',
  'localhost.evil.example',
  'a.localhost',
  '127.0.0.1.evil.example',
  '127.0.0.1@evil.example',
  'evil@127.0.0.1',
  '127.0.0.1/evil',
  '127.0.0.1 evil',
  '127.0.0.1#evil.example',
  '127.0.0.1?evil.example',
  '127.0.0.1\\evil.example',
])('it never answers to %p', (host) => expect(() => assertOwnHost(host, LOCAL)).toThrow(refused('host_refused')));

it('the console answers to the configured address, in any case, and to no other', () => {
  for (const host of ['slipway.example', 'Slipway.Example']) expect(() => assertOwnHost(host, PUBLIC)).not.toThrow();
  for (const host of ['slipway.example:8443', 'localhost', '127.0.0.1', 'a.slipway.example', undefined])
    expect(() => assertOwnHost(host, PUBLIC)).toThrow(refused('host_refused'));
});

it('the console accepts requests of its own pages, and of programs that send no origin', () => {
  for (const headers of [
    {},
    { origin: 'https://slipway.example' },
    { 'sec-fetch-site': 'same-origin' },
    { 'sec-fetch-site': 'none' },
  ])
    expect(() => assertOwnOrigin({ host: 'slipway.example', ...headers }, PUBLIC)).not.toThrow();
  expect(() => assertOwnOrigin({ host: 'localhost:1', origin: 'http://localhost:1' }, LOCAL)).not.toThrow();
});

it('the console refuses requests of any other page', () => {
  for (const headers of [
    { origin: 'http://slipway.example' },
    { origin: 'https://slipway.example:8443' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
  ])
    expect(() => assertOwnOrigin({ host: 'slipway.example', ...headers }, PUBLIC)).toThrow(refused('origin_refused'));
  expect(() => assertOwnOrigin({ host: 'localhost:1', origin: 'http://localhost:2' }, LOCAL)).toThrow(
    refused('origin_refused'),
  );
});

it('the console is not found if it is off', () => {
  expect(() => assertOwnOrigin({ host: 'localhost' }, { isOn: false })).toThrow(refused('not_found'));
});
