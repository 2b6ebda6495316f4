import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { ask, codeIn, signInAt } from './console-browser.js';

let api: TestApi;

beforeAll(async () => {
  api = await bootApi();
});
afterAll(() => api?.close());

describe('requests that do not come from the console’s page', () => {
  it.each([
    ['a foreign name that points here', { host: 'evil.example:7070' }, '403 host_refused'],
    ['a name that only begins with ours', { host: 'localhost.evil.example' }, '403 host_refused'],
    ['an address with a user in front', { host: '127.0.0.1@evil.example' }, '403 host_refused'],
    ['a page of another origin', { origin: 'https://evil.example' }, '403 origin_refused'],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }, '403 origin_refused'],
    ['a page without an origin', { origin: 'null' }, '403 origin_refused'],
    ['another site', { 'sec-fetch-site': 'cross-site' }, '403 origin_refused'],
    ['another port, by the browser', { 'sec-fetch-site': 'same-site' }, '403 origin_refused'],
  ])('%s gets nothing', async (_who, headers, code) => {
    const session = await signInAt(api.url, api.token);
    const all = { cookie: session.cookie, 'x-csrf-token': session.csrf, ...headers };
    const body = { name: 'by-evil' };
    expect(codeIn(await ask(api.url, 'GET', '/console/session', { headers: all }))).toBe(code);
    expect(codeIn(await ask(api.url, 'POST', '/console/session', { headers: all, body: { token: api.token } }))).toBe(
      code,
    );
    expect(codeIn(await ask(api.url, 'DELETE', '/console/session', { headers: all }))).toBe(code);
    expect(codeIn(await ask(api.url, 'GET', '/console/api/v1/whoami', { headers: all }))).toBe(code);
    expect(codeIn(await ask(api.url, 'POST', '/console/api/v1/deployments', { headers: all, body }))).toBe(code);
    expect(codeIn(await ask(api.url, 'GET', '/console/gateway/v1/models', { headers: all }))).toBe(code);
  });

  it.each(['localhost:7070', '127.0.0.1', '[::1]:7070', '10.1.2.3:80'])(
    '%s is a name of this machine',
    async (host) => {
      expect((await ask(api.url, 'GET', '/console/session', { headers: { host } })).status).toBe(200);
    },
  );

  it('a client gets no further with a bearer or cookies of its own, or with other spellings of a path', async () => {
    const headers = { authorization: `Bearer ${api.token}` };
    expect(codeIn(await ask(api.url, 'GET', '/console/api/v1/whoami', { headers }))).toBe('401 unauthenticated');
    const { cookie } = await signInAt(api.url, api.token);
    // Through another path, the cookie is ignored.
    expect(codeIn(await ask(api.url, 'GET', '/api/v1/whoami', { headers: { cookie } }))).toBe('401 unauthenticated');
    const wrong = cookie.replace(/=.*/, `=${'A'.repeat(43)}`);
    for (const one of [wrong, wrong.replace(/=.*/, '='), `${wrong}${'A'.repeat(4_000)}`, 'slipway_console_session'])
      expect(codeIn(await ask(api.url, 'GET', '/console/api/v1/whoami', { headers: { cookie: one } }))).toBe(
        '401 unauthenticated',
      );
    for (const target of [
      '/console/api/v1/../../console/session',
      '/console/api/v1/%2e%2e/%2e%2e/healthz',
      '/console/api/v1//whoami',
      '/console/api/../api/v1/whoami',
      '/console/%61pi/v1/whoami',
      '/console//api/v1/whoami',
      '/console/api/v2/whoami',
      '/CONSOLE/api/v1/whoami',
    ])
      expect([target, codeIn(await ask(api.url, 'GET', target, { headers: { cookie } }))]).toEqual([
        target,
        '404 not_found',
      ]);
  });

  it('a client must wait after 120 unknown cookies, and stops no person who has a session or signs in', async () => {
    const own = await bootApi();
    try {
      const first = await signInAt(own.url, own.token);
      const known = ({ cookie }: { cookie: string }) =>
        ask(own.url, 'GET', '/console/api/v1/whoami', { headers: { cookie } });
      expect((await known(first)).status).toBe(200);
      const cookieOf = () => `slipway_console_session=${randomBytes(32).toString('base64url')}`;
      const guess = () => ask(own.url, 'GET', '/console/api/v1/whoami', { headers: { cookie: cookieOf() } });
      const codes = (await Promise.all(Array.from({ length: 200 }, guess))).map(codeIn);
      expect(new Set(codes)).toEqual(new Set(['401 unauthenticated', '429 rate_limited']));
      expect((await known(first)).status).toBe(200);
      // Even a browser that still has the cookie of an ended session.
      const body = { token: own.token };
      const again = await ask(own.url, 'POST', '/console/session', { headers: { cookie: cookieOf() }, body });
      expect(again.status).toBe(200);
    } finally {
      await own.close();
    }
  });

  it('a client must wait after twenty failed sign-ins, and stops no person with a valid token', async () => {
    const own = await bootApi();
    try {
      const signIn = (token: string) => ask(own.url, 'POST', '/console/session', { body: { token } });
      const guess = () => signIn(`slw_x_${randomBytes(24).toString('hex')}`);
      for (let n = 0; n < 20; n += 1) expect(codeIn(await guess())).toBe('401 unauthenticated');
      const refused = await guess();
      expect([codeIn(refused), Number(refused.headers.get('retry-after'))]).toEqual(['429 rate_limited', 3]);
      const guesses = Promise.all(Array.from({ length: 100 }, guess));
      expect((await signIn(own.token)).status).toBe(200);
      await guesses;
      expect((await signIn(own.token)).status).toBe(200);
    } finally {
      await own.close();
    }
  });
});
