import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { RequestGuard } from '@slipway/platform-http/auth';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { ask, codeIn, consoleAt, signInAt, type BrowserSession } from './console-browser.js';
import { codeOf } from '../harness/refusals.js';

let api: TestApi;

beforeAll(async () => {
  api = await bootApi();
});
afterAll(() => api?.close());

describe('a session by token', () => {
  it('is opened, shown and ended, also at the server', async () => {
    const before = await ask(api.url, 'GET', '/console/session');
    expect(before.body).toEqual({
      signed_in: false,
      methods: ['token'],
      gateway: api.config.gateway.publicUrl,
      identity_provider: 'oidc',
    });
    const answer = await ask(api.url, 'POST', '/console/session', { body: { token: api.token } });
    const [cookie, ...attributes] = answer.headers.get('set-cookie')!.split('; ');
    expect(attributes.sort()).toEqual(['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Lax']);
    const headers = { cookie: cookie! };
    expect((await ask(api.url, 'GET', '/console/session', { headers })).body).toEqual(answer.body);
    expect(JSON.stringify(answer.body)).not.toContain(api.token);
    const out = await ask(api.url, 'DELETE', '/console/session', { headers });
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await ask(api.url, 'GET', '/console/session', { headers })).body).toEqual(before.body);
    expect(codeIn(await ask(api.url, 'GET', '/console/api/v1/whoami', { headers }))).toBe('401 unauthenticated');
  });

  it('is not opened for an invalid token', async () => {
    for (const token of ['x', 'slw_x_y', `${api.token}x`, `slw_nobody_${'x'.repeat(43)}`]) {
      const answer = await ask(api.url, 'POST', '/console/session', { body: { token } });
      expect([codeIn(answer), answer.headers.get('set-cookie')]).toEqual(['401 unauthenticated', null]);
    }
    expect(codeIn(await ask(api.url, 'POST', '/console/session', { body: {} }))).toBe('422 validation_failed');
    expect(codeIn(await ask(api.url, 'POST', '/console/session', { body: { token: 'x'.repeat(20_000) } }))).toBe(
      '413 body_too_large',
    );
  });

  it('acts at the api as its token, and changes nothing without the csrf token', async () => {
    const session = await signInAt(api.url, api.token);
    const console = consoleAt(api.url, session);
    expect((await console.whoAmI()).tenant.name).toBe('default');
    await console.deployments.create({ name: 'by-console' });
    expect((await api.slipway().deployments.get('by-console')).name).toBe('by-console');
    const post = (headers: Record<string, string>) =>
      ask(api.url, 'POST', '/console/api/v1/deployments', {
        headers: { cookie: session.cookie, ...headers },
        body: { name: 'by-other' },
      });
    expect(codeIn(await post({}))).toBe('403 csrf_refused');
    expect(codeIn(await post({ 'x-csrf-token': (await signInAt(api.url, api.token)).csrf }))).toBe('403 csrf_refused');
    expect(codeIn(await post({ 'x-csrf-token': session.csrf, cookie: '' }))).toBe('401 unauthenticated');
    expect(await codeOf(api.slipway().deployments.get('by-other'))).toBe('404 deployment_not_found');
  });

  it('ends with its token, at its next request', async () => {
    const { token, id } = await api.slipway().tokens.create({ name: 'short', scopes: ['viewer'] });
    const session = await signInAt(api.url, token!);
    const console = consoleAt(api.url, session);
    expect((await console.whoAmI()).scopes).toEqual(['viewer']);
    await api.slipway().tokens.revoke(id);
    expect(await codeOf(console.whoAmI())).toBe('401 unauthenticated');
    const shown = await ask(api.url, 'GET', '/console/session', { headers: { cookie: session.cookie } });
    expect([shown.body.signed_in, shown.headers.get('set-cookie')]).toEqual([
      false,
      expect.stringContaining('Max-Age=0'),
    ]);
  });
});

it('a request changes nothing if its session ends after the first check', async () => {
  const session = await signInAt(api.url, api.token);
  const guard = api.app.get(RequestGuard, { strict: false });
  const check = guard.check.bind(guard);
  const spy = jest.spyOn(guard, 'check').mockImplementation(async (request, reply) => {
    await check(request, reply);
    await ask(api.url, 'DELETE', '/console/session', { headers: { cookie: session.cookie } });
  });
  try {
    const creating = consoleAt(api.url, session).deployments.create({ name: 'too-late' });
    expect(await codeOf(creating)).toBe('401 unauthenticated');
  } finally {
    spy.mockRestore();
  }
  expect(await codeOf(api.slipway().deployments.get('too-late'))).toBe('404 deployment_not_found');
});

describe('streams', () => {
  /** Resolves at the first bytes. The result shows whether the answer has ended. */
  async function stream(target: string, headers: Record<string, string>): Promise<IncomingMessage> {
    const { hostname, port } = new URL(api.url);
    const sent = httpRequest({ hostname, port, path: target, agent: false, headers }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.on('error', () => undefined);
    return answer;
  }
  async function told(answer: IncomingMessage, what: string): Promise<void> {
    const signal = AbortSignal.timeout(10_000);
    let text = '';
    answer.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(what)) answer.emit('told');
    });
    await once(answer, 'told', { signal });
  }
  const ended = (answer: IncomingMessage): Promise<unknown> =>
    answer.closed ? Promise.resolve() : once(answer.resume(), 'close', { signal: AbortSignal.timeout(10_000) });

  it('events arrive as they happen, and end with the session and with its token', async () => {
    await api.slipway().deployments.create({ name: 'watched' });
    const { token, id } = await api.slipway().tokens.create({ name: 'watcher', scopes: ['viewer'] });
    const [one, other] = [await signInAt(api.url, token!), await signInAt(api.url, token!)];
    const headers = { accept: 'text/event-stream' };
    const [first, second] = await Promise.all(
      [one, other].map(({ cookie }) => stream('/console/api/v1/deployments/watched/events', { ...headers, cookie })),
    );
    expect([first!.statusCode, first!.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
    await told(first!, 'deployment.created');
    await ask(api.url, 'DELETE', '/console/session', { headers: { cookie: one.cookie } });
    await ended(first!);
    await told(second!, 'deployment.created');
    expect(second!.closed).toBe(false);
    await api.slipway().tokens.revoke(id);
    await ended(second!);
  });

  it('uploads pass to their handler before other code reads them', async () => {
    const console = consoleAt(api.url, await signInAt(api.url, api.token));
    const sandbox = await console.sandboxes.create({});
    const session = await signInAt(api.url, api.token);
    const bytes = randomBytes(3_000_000);
    const answer = await fetch(`${api.url}/console/api/v1/sandboxes/${sandbox.id}/files?path=a.html`, {
      method: 'PUT',
      headers: { cookie: session.cookie, 'x-csrf-token': session.csrf, 'content-type': 'application/octet-stream' },
      body: bytes,
    });
    expect(await answer.json()).toMatchObject({
      path: 'a.html',
      sha256: createHash('sha256').update(bytes).digest('hex'),
    });
    const back = await fetch(`${api.url}/console/api/v1/sandboxes/${sandbox.id}/files?path=a.html`, {
      headers: { cookie: session.cookie },
    });
    // A tenant's upload must not become a page of the console's origin.
    expect(back.headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
    expect(Buffer.from(await back.arrayBuffer()).equals(bytes)).toBe(true);
  });
});

it('keeps the newest twenty sessions of a token', async () => {
  const { token } = await api.slipway().tokens.create({ name: 'many', scopes: ['viewer'] });
  const sessions: BrowserSession[] = [];
  for (let n = 0; n < 22; n += 1) sessions.push(await signInAt(api.url, token!));
  const statuses = await Promise.all(
    sessions.map(
      async ({ cookie }) => (await ask(api.url, 'GET', '/console/api/v1/whoami', { headers: { cookie } })).status,
    ),
  );
  expect(statuses).toEqual([401, 401, ...Array(20).fill(200)]);
});
