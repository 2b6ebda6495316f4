import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { owned } from '@slipway/platform-testing/contract';
import { bootApi, PROVIDER, type TestApi } from '../harness/boot-api.js';
import { HostedProvider, makeKey } from '../harness/hosted-provider.js';

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

beforeAll(async () => {
  await provider.start([await makeKey('first')]);
  api = await bootApi({
    ...provider.environment,
    SLIPWAY_PUBLIC_URL: PUBLIC,
    SLIPWAY_IDENTITY_CLIENT_ID: 'console',
    SLIPWAY_IDENTITY_CLIENT_SECRET: 'secret-of-console',
  });
  await put('ada', true);
});
afterAll(async () => {
  await api?.close();
  await provider.stop();
});

const put = (user: string, access: boolean) =>
  api
    .slipway()
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

  it('calls the gateway with a separate token, which only reads, expires within the hour and is made once', async () => {
    const { cookies } = await signIn('ada');
    // No gateway listens there, but the token has been made by then.
    for (const _ of [1, 2]) expect(codeIn(await get('/console/gateway/v1/models', cookies))).toBe('503 unavailable');
    const { data } = await api.slipway().tokens.list({ limit: 200 });
    const made = data.filter(({ name }) => name === 'playground of the console');
    expect(made).toEqual([
      expect.objectContaining({ scopes: ['viewer'], owner: { type: 'person', id: 'user:ada' }, state: 'active' }),
    ]);
    expect(Date.parse(made[0]!.expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
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
