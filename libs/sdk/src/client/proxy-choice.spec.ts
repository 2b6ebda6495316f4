import { expect, it } from '@jest/globals';
import { proxyFor, type ProxyEnvironment } from './proxy-choice.js';

const chosen = (url: string, env: ProxyEnvironment): string | undefined => proxyFor(new URL(url), env)?.url.href;
const HTTP = 'http://slipway.test/api';
const HTTPS = 'https://slipway.test/api';

it.each<[string, ProxyEnvironment, http: string | undefined, https: string | undefined]>([
  ['no variable', {}, undefined, undefined],
  ['a proxy for each scheme', { http_proxy: 'http://a:1', https_proxy: 'http://b:2' }, 'http://a:1/', 'http://b:2/'],
  ['upper case', { HTTP_PROXY: 'http://a:1', HTTPS_PROXY: 'http://b:2' }, 'http://a:1/', 'http://b:2/'],
  ['lower case before upper case', { https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:2' }, undefined, 'http://a:1/'],
  ['an empty variable as none', { https_proxy: '', HTTPS_PROXY: 'http://b:2' }, undefined, 'http://b:2/'],
  ['one for the rest', { all_proxy: 'http://a:1', https_proxy: 'http://b:2' }, 'http://a:1/', 'http://b:2/'],
  ['one for the rest in upper case', { ALL_PROXY: 'http://a:1' }, 'http://a:1/', 'http://a:1/'],
  ['a proxy without a scheme', { https_proxy: 'proxy.test:3128' }, undefined, 'http://proxy.test:3128/'],
  ['a proxy without a port', { https_proxy: 'proxy.test' }, undefined, 'http://proxy.test:1080/'],
  ['an https proxy without a port', { https_proxy: 'https://proxy.test' }, undefined, 'https://proxy.test/'],
  ['the usual port of http', { https_proxy: 'http://proxy.test:80' }, undefined, 'http://proxy.test/'],
  ['no HTTP_PROXY of a client of CGI', { HTTP_PROXY: 'http://a:1', REQUEST_METHOD: 'GET' }, undefined, undefined],
])('knows %s', (_what, env, http, https) => {
  expect([chosen(HTTP, env), chosen(HTTPS, env)]).toEqual([http, https]);
});

it.each([
  ['*', 'https://slipway.test', true],
  ['slipway.test', 'https://slipway.test', true],
  ['SLIPWAY.test', 'https://slipway.TEST', true],
  ['test', 'https://slipway.test', true],
  ['.test', 'https://slipway.test', true],
  ['.slipway.test', 'https://slipway.test', true],
  ['*.test', 'https://slipway.test', true],
  ['slipway.test.', 'https://slipway.test', true],
  ['other.test, slipway.test', 'https://slipway.test', true],
  ['other.test slipway.test', 'https://slipway.test', true],
  ['way.test', 'https://slipway.test', false],
  ['a.slipway.test', 'https://slipway.test', false],
  ['slipway.test:443', 'https://slipway.test', true],
  ['slipway.test:8443', 'https://slipway.test', false],
  ['10.1.2.3', 'https://10.1.2.3', true],
  ['1.2.3', 'https://10.1.2.3', false],
  ['10.0.0.0/8', 'https://10.1.2.3', true],
  ['11.0.0.0/8', 'https://10.1.2.3', false],
  ['10.0.0.0/99', 'https://10.1.2.3', false],
  ['::1', 'https://[::1]:7070', true],
  ['[::1]', 'https://[::1]:7070', true],
  ['0:0::1', 'https://[::1]', true],
  ['fd00::/8', 'https://[fd00::7]', true],
  ['fd00::/8', 'https://[fe80::7]', false],
  ['', 'https://slipway.test', false],
  ['.', 'https://slipway.test', false],
])('with NO_PROXY=%s calls %s directly: %s', (list, url, isDirect) => {
  for (const name of ['no_proxy', 'NO_PROXY'])
    expect(chosen(url, { https_proxy: 'http://a:1', [name]: list }) === undefined).toBe(isDirect);
});

it.each([
  ['socks5://proxy.test:1080', 'a proxy of the kind socks5'],
  ['http://', 'not a valid URL of a proxy'],
])('refuses %s, and names the variable', (value, said) => {
  const secret = value.replace('://', '://user:secret@');
  expect(() => chosen(HTTPS, { HTTPS_PROXY: value })).toThrow(said);
  expect(() => chosen(HTTPS, { HTTPS_PROXY: secret })).toThrow(/^HTTPS_PROXY (?!.*secret)/);
});
