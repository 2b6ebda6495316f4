import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { owned } from '@slipway/platform-testing/contract';
import { bootApi, PROVIDER, type TestApi } from '../harness/boot-api.js';
import { HostedProvider, makeKey } from '../harness/hosted-provider.js';
import { until } from '../harness/stack.js';

/** Served by a proxy that has the certificate: browsers see another address than the one where the api listens. */
const PUBLIC = 'https://slipway.example';
/** Less than the minute before expiry in which a bearer is renewed, so that each request renews. */
const SHORT_SECONDS = 50;

const provider = new HostedProvider(
  {},
  { ada: 'org_acme', bob: 'org_acme', eve: 'org_other' },
  { redirectUri: `${PUBLIC}/console/callback`, accessTokenSeconds: SHORT_SECONDS },
);
let api: TestApi;

/** Answers `/v1/models`, and keeps everything else waiting until the test answers it. */
const gateway = createServer((request, response) => {
  if (request.url === '/v1/models') response.setHeader('content-type', 'application/json').end('{"data": []}');
  else waiting.push({ request, response });
});
const waiting: { request: IncomingMessage; response: ServerResponse }[] = [];

beforeAll(async () => {
  await provider.start([await makeKey('first')]);
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  api = await bootApi({
    ...provider.environment,
    SLIPWAY_PUBLIC_URL: PUBLIC,
    SLIPWAY_IDENTITY_CLIENT_ID: 'console',
    SLIPWAY_IDENTITY_CLIENT_SECRET: 'secret-of-console',
    SLIPWAY_CONSOLE_GATEWAY_URL: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
  });
  await put('ada', true);
});
afterAll(async () => {
  await api?.close();
  gateway.closeAllConnections();
  gateway.close();
  await provider.stop();
});

const put = (user: string, access: boolean, token = api.token) =>
  api
    .slipway(token)
    .consoleAccess.set({
      provider: PROVIDER,
      external_organization_id: 'org_acme',
      external_user_id: user,
      access,
      scopes: access ? ['operator'] : [],
    });

interface Visit {
  status: number;
  location: string;
  cookies: Record<string, string>;
  attributes: string[];
  body: any;
}

/** The request as the proxy forwards it. */
async function get(target: string, cookies: Record<string, string> = {}, headers: object = {}): Promise<Visit> {
  const answer = await api.app.inject({
    method: 'GET',
    url: target,
    headers: { host: 'slipway.example', ...headers },
    cookies,
  });
  const set = answer.headers['set-cookie'] ?? [];
  return {
    status: answer.statusCode,
    location: String(answer.headers['location'] ?? ''),
    cookies: Object.fromEntries(answer.cookies.map(({ name, value }) => [name, value])),
    attributes: [set].flat(),
    body: answer.headers['content-type']?.toString().includes('json') ? answer.json() : undefined,
  };
}

/** From the console's button to the callback's answer. */
async function signIn(sub?: string, returnTo = '/deployments/chat?tab=a'): Promise<Visit> {
  const begun = await get(`/console/sign-in?return_to=${encodeURIComponent(returnTo)}`);
  expect(begun.status).toBe(302);
  const back = new URL(await provider.visit(begun.location, sub));
  return get(`${back.pathname}${back.search}`, begun.cookies);
}

const whoAmI = (cookies: Record<string, string>) => get('/console/api/v1/whoami', cookies);
const sealedOf = async (sub: string): Promise<string> => {
  const rows = await owned(
    api,
    'select sealed_credentials from console_sessions where who = $1 order by created_at desc limit 1',
    [`user:${sub}`],
  );
  return rows[0].sealed_credentials;
};
const codeIn = ({ status, body }: Visit): string => `${status} ${body?.error?.code}`;

describe('a person of the hosted provider', () => {
  it('is redirected there with a challenge, and the browser keeps nothing that can be read', async () => {
    const { location, cookies, attributes } = await get('/console/sign-in');
    const query = new URL(location).searchParams;
    expect(location.startsWith(`${provider.issuer}/auth?`)).toBe(true);
    expect(Object.fromEntries(query)).toMatchObject({
      client_id: 'console',
      response_type: 'code',
      redirect_uri: `${PUBLIC}/console/callback`,
      code_challenge_method: 'S256',
    });
    for (const name of ['code_challenge', 'state', 'nonce']) expect(query.get(name)).toMatch(/^[\w-]{43}$/);
    expect(attributes).toEqual([expect.stringMatching(/^__Host-slipway_console_sign_in=/)]);
    for (const attribute of ['HttpOnly', 'Secure', 'SameSite=Lax', 'Path=/', 'Max-Age=600'])
      expect(attributes[0]?.split('; ')).toContain(attribute);
    expect(cookies['__Host-slipway_console_sign_in']).not.toContain(query.get('state') as string);
  });

  it('signs in, returns to the original page, and is itself at the api', async () => {
    const { status, location, cookies, attributes } = await signIn('ada');
    expect([status, location]).toEqual([302, '/deployments/chat?tab=a']);
    expect(attributes.find((one) => one.startsWith('__Host-slipway_console_session='))).toContain('; Secure');
    expect(cookies['__Host-slipway_console_sign_in']).toBe('');
    expect((await whoAmI(cookies)).body).toMatchObject({
      actor: { type: 'user', id: 'ada' },
      tenant: { name: 'default' },
    });
    const shown = (await get('/console/session', cookies)).body;
    expect(shown).toMatchObject({ signed_in: true, method: 'hosted', methods: ['token', 'hosted'] });
  });

  it('stays signed in while its bearer is renewed, once for concurrent requests', async () => {
    const { cookies } = await signIn('ada');
    const before = await sealedOf('ada');
    // The provider revokes everything if a refresh token is used twice.
    const answers = await Promise.all(Array.from({ length: 5 }, () => whoAmI(cookies)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await sealedOf('ada')).not.toBe(before);
    expect((await whoAmI(cookies)).status).toBe(200);
  });

  it('is signed out at its next request once its access is revoked', async () => {
    await put('bob', true);
    const { cookies } = await signIn('bob');
    expect((await whoAmI(cookies)).status).toBe(200);
    await put('bob', false);
    expect(codeIn(await whoAmI(cookies))).toBe('403 console_access_revoked');
    expect((await get('/console/session', cookies)).body.signed_in).toBe(false);
    await put('bob', true);
    expect(codeIn(await whoAmI(cookies))).toBe('401 unauthenticated');
  });

  it('is signed out when the provider no longer renews its bearer', async () => {
    const { cookies } = await signIn('ada');
    await provider.revoke('ada');
    expect(codeIn(await whoAmI(cookies))).toBe('401 unauthenticated');
    expect((await get('/console/session', cookies)).body.signed_in).toBe(false);
  });

  it('calls the gateway with a separate token, which only reads, expires within the hour and is made once for all sessions', async () => {
    const { cookies } = await signIn('ada');
    const { cookies: again } = await signIn('ada');
    for (const each of [cookies, cookies, again])
      expect((await get('/console/gateway/v1/models', each)).status).toBe(200);
    const { data } = await api.slipway().tokens.list({ limit: 200 });
    const made = data.filter(({ name }) => name === 'playground of the console');
    expect(made).toEqual([
      expect.objectContaining({ scopes: ['viewer'], owner: { type: 'person', id: 'user:ada' }, state: 'active' }),
    ]);
    expect(Date.parse(made[0]!.expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
    // Gateways limit all such tokens of a person together.
    const rows = await owned(api, 'select id from api_tokens where counts_for_owner');
    expect(rows).toEqual([{ id: made[0]!.id }]);
  });
});

describe('a request of the playground', () => {
  /** Sends it, and resolves when the gateway has it. */
  async function begin(cookies: Record<string, string>) {
    const { csrf } = (await get('/console/session', cookies)).body;
    const before = waiting.length;
    const head = api.app.inject({
      method: 'POST',
      payloadAsStream: true,
      url: '/console/gateway/v1/chat/completions',
      headers: { host: 'slipway.example', 'x-csrf-token': csrf, 'content-type': 'application/json' },
      cookies,
      payload: { model: 'chat', messages: [] },
    });
    const sent = head.then(async (answer) => ({ status: answer.statusCode, text: await text(answer.stream()) }));
    await until('the gateway has it', async () => waiting.length > before);
    const { request, response } = waiting.at(-1)!;
    request.resume();
    return { head, sent, response, hasLeft: new Promise<void>((resolve) => response.once('close', resolve)) };
  }
  const signOut = async (cookies: Record<string, string>): Promise<void> => {
    const headers = { host: 'slipway.example' };
    await api.app.inject({ method: 'DELETE', url: '/console/session', headers, cookies });
  };
  const ended = { status: 401, text: expect.stringContaining('"unauthenticated"') };

  it('that has no answer yet ends with its session, and the gateway learns of it', async () => {
    const { cookies } = await signIn('ada');
    const { cookies: other } = await signIn('ada');
    const { sent, hasLeft } = await begin(cookies);
    const kept = await begin(other);
    await signOut(cookies);
    expect(await sent).toEqual(ended);
    await hasLeft;
    kept.response.end('{}');
    expect((await kept.sent).status).toBe(200);
  });

  it('whose body is still arriving ends with its session too, and its client reads why', async () => {
    const { cookies } = await signIn('ada');
    const { csrf } = (await get('/console/session', cookies)).body;
    const before = waiting.length;
    const cookie = Object.entries(cookies)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('; ');
    const sent = httpRequest(`${api.url}/console/gateway/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: { host: 'slipway.example', 'x-csrf-token': csrf, 'content-type': 'application/json', cookie },
    });
    sent.on('error', () => undefined);
    sent.write('{"model": "chat",');
    const answer = once(sent, 'response') as Promise<[IncomingMessage]>;
    await until('the gateway has its beginning', async () => waiting.length > before);
    const { request, response } = waiting.at(-1)!;
    request.resume();
    const hasLeft = once(response, 'close');
    await signOut(cookies);
    const [ended] = await answer;
    expect([ended.statusCode, await text(ended)]).toEqual([401, expect.stringContaining('"unauthenticated"')]);
    await hasLeft;
    sent.end();
  });

  it('that has no answer yet ends when the access of its person is revoked', async () => {
    await put('bob', true);
    const { cookies } = await signIn('bob');
    const { sent, hasLeft } = await begin(cookies);
    await put('bob', false);
    expect(await sent).toEqual({ status: 403, text: expect.stringContaining('"console_access_revoked"') });
    await hasLeft;
  });

  it('ends with that access also if another tenant has mapped the person in the meantime', async () => {
    const { tenants } = api.slipway();
    await put('bob', true);
    const { cookies } = await signIn('bob');
    const { sent } = await begin(cookies);
    const { tenant } = await api.slipway().whoAmI();
    await tenants.update(tenant.id, { external_organization_ids: ['org_acme'] });
    const other = await api.createTenant('other', ['org_acme']);
    await put('bob', true, other.token);
    await put('bob', false);
    expect(await sent).toEqual({ status: 403, text: expect.stringContaining('"console_access_revoked"') });
    await put('bob', false, other.token);
  });

  it('whose answer has begun is sent to its end', async () => {
    const { cookies } = await signIn('ada');
    const { head, sent, response } = await begin(cookies);
    response.write('{"first": 1,');
    await head;
    // The end of another request shows that the api has checked both.
    const { sent: unanswered } = await begin(cookies);
    await signOut(cookies);
    expect(await unanswered).toEqual(ended);
    response.end(' "second": 2}');
    expect(await sent).toEqual({ status: 200, text: '{"first": 1, "second": 2}' });
  });
});

describe('a failed sign-in', () => {
  it('names the reason: cancelled, not granted, too late, or another browser’s', async () => {
    expect((await signIn()).location).toBe('/?sign_in=refused');
    const stranger = await signIn('eve');
    expect(stranger.location).toBe('/?sign_in=not_granted');
    expect(stranger.cookies['__Host-slipway_console_session']).toBeUndefined();
    const begun = await get('/console/sign-in');
    const back = new URL(await provider.visit(begun.location, 'ada'));
    const target = `${back.pathname}${back.search}`;
    expect((await get(target)).location).toBe('/?sign_in=expired');
    const others = (await get('/console/sign-in')).cookies;
    expect((await get(target, others)).location).toBe('/?sign_in=expired');
    const forged = { '__Host-slipway_console_sign_in': 'v2.00000000.a.b.c' };
    expect((await get(target, forged)).location).toBe('/?sign_in=expired');
    expect((await get(target, begun.cookies)).location).toBe('/');
    // A code is valid once.
    expect((await get(target, begun.cookies)).location).toBe('/?sign_in=refused');
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/\\evil.example',
    '/console/sign-in',
    'deployments',
    '/%0d%0aa: b',
  ])('does not lead to %s', async (returnTo) => {
    const { location } = await signIn('ada', returnTo);
    expect(new URL(location, PUBLIC).origin).toBe(PUBLIC);
    expect(location).toMatch(/^\/(%0d%0aa:%20b)?$/);
  });

  it('answers only to its own host', async () => {
    for (const host of ['evil.example', '127.0.0.1', 'slipway.example.evil.example', 'slipway.example:8443'])
      for (const target of ['/console/sign-in', '/console/callback?code=x&state=y', '/console/session'])
        expect([host, codeIn(await get(target, {}, { host }))]).toEqual([host, '403 host_refused']);
  });
});

it('stores the provider’s tokens in the database only sealed', async () => {
  const { cookies } = await signIn('ada');
  const rows = await owned(api, 'select * from console_sessions');
  expect(rows.length).toBeGreaterThan(0);
  const text = JSON.stringify(rows);
  expect(text).not.toContain(cookies['__Host-slipway_console_session']);
  // The first two parts of a JWT begin like this. Sealed text may contain one such beginning by chance.
  expect(text).not.toMatch(/eyJ[\w-]+\.eyJ/);
  expect(JSON.stringify(rows.map((row) => ({ ...row, sealed_credentials: null })))).not.toContain('eyJ');
});

it('reports that the provider cannot be reached', async () => {
  const begun = await get('/console/sign-in');
  const back = new URL(await provider.visit(begun.location, 'ada'));
  await provider.stop();
  expect((await get(`${back.pathname}${back.search}`, begun.cookies)).location).toBe('/?sign_in=unavailable');
});
