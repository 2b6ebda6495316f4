import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, exportSPKI, importJWK, SignJWT, type JWK, type JWTPayload } from 'jose';
import { bootApi, expectStatus, type Answer, type TestApi } from './boot-api.js';
import { owned } from '@slipway/platform-testing/contract';
import { AUDIENCE, HostedProvider, makeKey } from './hosted-provider.js';

const provider = new HostedProvider({ ada: 'org_acme', bob: 'org_acme', eve: 'org_other' });
const leaving = new AbortController();
let key: JWK;
let api: TestApi;
let ada: string;

beforeAll(async () => {
  key = await makeKey('first');
  await provider.start([key]);
  api = await bootApi(provider.environment);
  ada = await provider.token('ada');
});

afterAll(async () => {
  leaving.abort();
  await api?.close();
  await provider.stop();
});

function put(
  user: string,
  access: boolean,
  scopes: string[] = [],
  options: { token?: string; organization?: string } = {},
): Promise<Answer> {
  const body = {
    provider: 'acme-id',
    external_organization_id: options.organization ?? 'org_acme',
    external_user_id: user,
    access,
    scopes,
  };
  return api.send('PUT', '/api/v1/console/access', { body, token: options.token });
}

function whoAmI(token: string, tenant?: string): Promise<Answer> {
  return api.send('GET', '/api/v1/whoami', {
    token,
    headers: tenant === undefined ? {} : { 'x-slipway-tenant': tenant },
  });
}

async function give(tenantId: string, organizations: string[]): Promise<void> {
  const body = { external_organization_ids: organizations };
  expectStatus(await api.send('PATCH', `/api/v1/tenants/${tenantId}`, { body }), 200);
}

function codeOf(answer: Answer): [number, string] {
  return [answer.status, answer.body?.error?.code];
}

/** A token that the provider could have issued, changed if a test wants it so. */
async function forge(
  claims: JWTPayload = {},
  header: Record<string, unknown> = {},
  signer: JWK = key,
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const payload = {
    iss: provider.issuer,
    aud: AUDIENCE,
    sub: 'ada',
    org_id: 'org_acme',
    iat: now,
    exp: now + 60,
    ...claims,
  };
  const signing = new SignJWT(JSON.parse(JSON.stringify(payload))).setProtectedHeader({
    alg: signer.alg!,
    typ: 'at+jwt',
    kid: signer.kid,
    ...header,
  });
  return signing.sign(await importJWK(signer, signer.alg));
}

function unsigned(header: object, signature = ''): string {
  const now = Math.floor(Date.now() / 1000);
  const parts = [header, { iss: provider.issuer, aud: AUDIENCE, sub: 'ada', org_id: 'org_acme', exp: now + 60 }];
  return `${parts.map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.${signature}`;
}

describe('a granted identity', () => {
  it("signs in with the provider's own token, at the scopes it was granted", async () => {
    expect(decodeProtectedHeader(ada)).toMatchObject({ alg: 'ES256', typ: 'at+jwt', kid: 'first' });
    expect(decodeJwt(ada)).toMatchObject({ iss: provider.issuer, aud: AUDIENCE, sub: 'ada', org_id: 'org_acme' });
    expect(codeOf(await whoAmI(ada))).toEqual([401, 'unauthenticated']);
    expectStatus(await put('ada', true, ['operator']), 200);
    const who = expectStatus(await whoAmI(ada), 200);
    expect(who).toMatchObject({
      tenant: { name: 'default' },
      actor: { type: 'user', id: 'ada' },
      scopes: ['viewer', 'operator'],
    });
    expect((await api.send('GET', '/api/v1/tokens', { token: ada })).status).toBe(403);
    expect((await api.send('POST', '/api/v1/deployments', { token: ada, body: { name: 'by-ada' } })).status).toBe(201);
    expect((await whoAmI(await provider.token('eve'))).status).toBe(401);
  });

  it('is refused at its next request after a revocation, and its event streams end', async () => {
    expectStatus(await put('ada', true, ['viewer']), 200);
    const stream = await fetch(`${api.url}/api/v1/deployments/by-ada/events`, {
      headers: { authorization: `Bearer ${ada}`, accept: 'text/event-stream' },
      signal: leaving.signal,
    });
    expect(stream.status).toBe(200);
    const reader = stream.body!.getReader();
    await reader.read();
    const ended = (async () => {
      while (!(await reader.read()).done);
      return 'ended';
    })();
    expectStatus(await put('ada', false), 200);
    expect(codeOf(await whoAmI(ada))).toEqual([403, 'console_access_revoked']);
    expect(await ended).toBe('ended');
    expectStatus(await put('ada', true, ['viewer']), 200);
    expect((await whoAmI(ada)).status).toBe(200);
  });

  it('names the tenant where several know it', async () => {
    const acme = await api.createTenant('acme', ['org_acme']);
    await give((await whoAmI(api.token)).body.tenant.id, ['org_acme']);
    const bob = await provider.token('bob');
    expectStatus(await put('bob', true, ['viewer']), 200);
    expect(expectStatus(await whoAmI(bob), 200).tenant.name).toBe('default');
    expectStatus(await put('bob', true, ['admin'], { token: acme.token }), 200);
    const ambiguous = await whoAmI(bob);
    expect(codeOf(ambiguous)).toEqual([400, 'invalid_parameter']);
    expect(ambiguous.body.error.details).toEqual([
      expect.objectContaining({ field: 'X-Slipway-Tenant', message: expect.stringContaining('acme, default') }),
    ]);
    expect(expectStatus(await whoAmI(bob, 'acme'), 200)).toMatchObject({
      tenant: { id: acme.id },
      scopes: ['viewer', 'operator', 'admin'],
    });
    expect(expectStatus(await whoAmI(bob, acme.id), 200).tenant.name).toBe('acme');
    expect(expectStatus(await whoAmI(bob, 'default'), 200).scopes).toEqual(['viewer']);
    expect(codeOf(await whoAmI(bob, 'nobody'))).toEqual([401, 'unauthenticated']);
    expectStatus(await put('bob', false, [], { token: acme.token }), 200);
    expect(codeOf(await whoAmI(bob, 'acme'))).toEqual([403, 'console_access_revoked']);
    expect((await whoAmI(bob)).status).toBe(400);
    expect((await whoAmI(bob, 'default')).status).toBe(200);
  });

  it('may be the last admin, and is then not removed', async () => {
    const solo = await api.createTenant('solo', ['org_acme']);
    const boss = await forge({ sub: 'boss' });
    const [first] = expectStatus(await api.send('GET', '/api/v1/tokens', { token: solo.token }), 200).data;
    expect(codeOf(await api.send('DELETE', `/api/v1/tokens/${first.id}`, { token: solo.token }))).toEqual([
      409,
      'last_admin',
    ]);
    expectStatus(await put('boss', true, ['admin'], { token: solo.token }), 200);
    expectStatus(await api.send('DELETE', `/api/v1/tokens/${first.id}`, { token: boss }), 200);
    expect((await whoAmI(solo.token)).status).toBe(401);
    expect(codeOf(await put('boss', false, [], { token: boss }))).toEqual([409, 'last_admin']);
    expect(codeOf(await put('boss', true, ['operator'], { token: boss }))).toEqual([409, 'last_admin']);
    expectStatus(await put('boss', true, ['viewer', 'admin'], { token: boss }), 200);
    expect((await whoAmI(boss)).status).toBe(200);
  });

  it('keeps one admin where two remove each other at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { token } = await api.createTenant(`duel-${round}`, ['org_acme']);
      const [one, two] = [await forge({ sub: `one-${round}` }), await forge({ sub: `two-${round}` })];
      for (const name of ['one', 'two']) expectStatus(await put(`${name}-${round}`, true, ['admin'], { token }), 200);
      const [first] = expectStatus(await api.send('GET', '/api/v1/tokens', { token }), 200).data;
      expectStatus(await api.send('DELETE', `/api/v1/tokens/${first.id}`, { token: one }), 200);
      const answers = await Promise.all([
        put(`two-${round}`, false, [], { token: one }),
        put(`one-${round}`, false, [], { token: two }),
      ]);
      // The loser is told that it is the last, or that it has just been removed itself.
      expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
      expect([403, 409]).toContain(answers.find((answer) => answer.status !== 200)!.status);
    }
  });
});

describe("10.4: an organization of one tenant's", () => {
  const eve = (): Promise<string> => provider.token('eve');
  /** As any tenant could before organizations belonged to tenants. */
  const mapped = (tenantId: string, scopes: string): Promise<unknown> =>
    owned(
      api,
      `insert into console_access (id, tenant_id, provider, external_organization_id, external_user_id, scopes, status, updated_by)
       values ('cac_' || $1, $1, 'acme-id', 'org_other', 'eve', $2, 'active', '{"type": "token", "id": "tok_x"}')`,
      [tenantId, scopes],
    );

  it("10.4: another tenant's mappings neither capture its users nor make them name a tenant", async () => {
    const [owner, thief] = [await api.createTenant('owner', ['org_other']), await api.createTenant('thief')];
    await mapped(thief.id, '{admin}');
    expect(codeOf(await whoAmI(await eve()))).toEqual([401, 'unauthenticated']);
    expect(codeOf(await whoAmI(await eve(), 'thief'))).toEqual([401, 'unauthenticated']);
    const options = { organization: 'org_other', token: owner.token };
    expectStatus(await put('eve', true, ['viewer'], options), 200);
    expect(expectStatus(await whoAmI(await eve()), 200).tenant.name).toBe('owner');
    expectStatus(await put('eve', false, [], { organization: 'org_other', token: thief.token }), 200);
    expect(expectStatus(await whoAmI(await eve()), 200).tenant.name).toBe('owner');
  });

  it('10.4: taking it away ends the sign-ins of the tenant at the next request, and its event streams', async () => {
    const [ours, theirs] = [
      (await whoAmI(api.token)).body.tenant.id,
      (await api.send('GET', '/api/v1/tenants?limit=200')).body.data.find(({ name }: any) => name === 'owner').id,
    ];
    const token = await eve();
    await api.send('POST', '/api/v1/deployments', { body: { name: 'watched' } });
    await mapped(ours, '{viewer}');
    expect(expectStatus(await whoAmI(token), 200).tenant.name).toBe('owner');
    await give(theirs, []);
    // Nobody has it now, so it is the operator tenant's.
    expect(expectStatus(await whoAmI(token), 200).tenant.name).toBe('default');
    expect(codeOf(await whoAmI(token, 'owner'))).toEqual([401, 'unauthenticated']);
    const stream = await fetch(`${api.url}/api/v1/deployments/watched/events`, {
      headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream' },
      // Before its first heartbeat, at which a stream asks anyway.
      signal: AbortSignal.any([leaving.signal, AbortSignal.timeout(10_000)]),
    });
    expect(stream.status).toBe(200);
    const reader = stream.body!.getReader();
    await give(theirs, ['org_other']);
    expect(expectStatus(await whoAmI(token), 200).tenant.name).toBe('owner');
    while (!(await reader.read()).done);
    expect(codeOf(await whoAmI(token, 'default'))).toEqual([401, 'unauthenticated']);
  });

  it('10.4: an admin whose organization was taken away is none that a tenant could be left to', async () => {
    const { id, token } = await api.createTenant('left', ['org_acme', 'org_left']);
    expectStatus(await put('boss', true, ['admin'], { token, organization: 'org_left' }), 200);
    await give(id, ['org_acme']);
    const [first] = expectStatus(await api.send('GET', '/api/v1/tokens', { token }), 200).data;
    expect(codeOf(await api.send('DELETE', `/api/v1/tokens/${first.id}`, { token }))).toEqual([409, 'last_admin']);
    await give(id, ['org_acme', 'org_left']);
    expectStatus(await api.send('DELETE', `/api/v1/tokens/${first.id}`, { token }), 200);
  });
});

describe('a token that the provider did not issue for us', () => {
  beforeAll(async () => {
    expectStatus(await put('ada', true, ['admin']), 200);
  });

  it('is none of these (the control)', async () => {
    expect((await whoAmI(await forge())).status).toBe(200);
    expect((await whoAmI(await forge({}, { typ: 'JWT' }))).status).toBe(200);
    expect((await whoAmI(await forge({}, { typ: 'application/at+jwt' }))).status).toBe(200);
    expect((await whoAmI(await forge({ aud: ['other', AUDIENCE] }))).status).toBe(200);
  });

  const past = Math.floor(Date.now() / 1000) - 3600;
  const future = Math.floor(Date.now() / 1000) + 3600;
  it.each<[string, JWTPayload, Record<string, unknown>, string?]>([
    ['another issuer', { iss: 'https://evil.test' }, {}],
    ['no issuer', { iss: undefined }, {}],
    ['another audience', { aud: 'https://slipway.test' }, {}],
    ['no audience', { aud: undefined }, {}],
    ['expired', { exp: past }, {}, 'token_expired'],
    ['never expiring', { exp: undefined }, {}],
    ['not yet valid', { nbf: future }, {}],
    ['the type of an ID token hint', {}, { typ: 'logout+jwt' }],
    ['no type', {}, { typ: undefined }],
    ['no user', { sub: undefined }, {}],
    ['no organization', { org_id: undefined }, {}],
    ['an organization that is no text', { org_id: ['org_acme'] }, {}],
    ['a user that cannot be stored', { sub: 'ada\u0000' }, {}],
    ['a user beyond 255 characters', { sub: 'a'.repeat(256) }, {}],
    ['a critical header nobody knows', {}, { crit: ['exp2'], exp2: 1 }],
  ])('%s: 401', async (_what, claims, header, code = 'unauthenticated') => {
    const token = await forge(claims, header).catch(() =>
      unsigned({ alg: 'ES256', typ: 'at+jwt', kid: 'first', ...header }, 'AAAA'),
    );
    expect(codeOf(await whoAmI(token))).toEqual([401, code]);
  });

  it('is not signed at all, or with the public key as a secret', async () => {
    const spki = await exportSPKI((await importJWK({ ...key, d: undefined }, 'ES256', { extractable: true })) as never);
    for (const alg of ['none', 'None', 'HS256', 'HS512']) {
      const header = { alg, typ: 'at+jwt', kid: 'first' };
      const input = unsigned(header).slice(0, -1);
      const secrets = [spki, JSON.stringify({ ...key, d: undefined }), ''];
      for (const secret of secrets) {
        const signature = alg.startsWith('HS')
          ? createHmac(alg === 'HS256' ? 'sha256' : 'sha512', secret)
              .update(input)
              .digest('base64url')
          : '';
        expect(codeOf(await whoAmI(`${input}.${signature}`))).toEqual([401, 'unauthenticated']);
      }
    }
  });

  it('has a changed payload or a cut signature', async () => {
    const [header, , signature] = (await forge()).split('.');
    const payload = unsigned({}).split('.')[1];
    expect(codeOf(await whoAmI(`${header}.${payload}.${signature}`))).toEqual([401, 'unauthenticated']);
    expect(codeOf(await whoAmI((await forge()).slice(0, -2)))).toEqual([401, 'unauthenticated']);
    expect(codeOf(await whoAmI(`${header}.${payload}.`))).toEqual([401, 'unauthenticated']);
  });

  describe('brings keys of its own', () => {
    let evil: JWK;
    let server: Server;
    let asked = 0;
    beforeAll(async () => {
      evil = await makeKey('first');
      server = createServer((_request, response) => {
        asked += 1;
        response
          .setHeader('content-type', 'application/json')
          .end(JSON.stringify({ keys: [{ ...evil, d: undefined }] }));
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => void server.close());

    it.each(['jwk', 'jku', 'x5u', 'x5c'])('in %s: they are not looked at', async (name) => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
      const { d: _private, ...open } = evil;
      const value = { jwk: open, jku: url, x5u: url, x5c: [Buffer.from('not a certificate').toString('base64')] }[name];
      for (const kid of ['first', url, undefined]) {
        expect(codeOf(await whoAmI(await forge({}, { [name]: value, kid }, evil)))).toEqual([401, 'unauthenticated']);
      }
      expect(asked).toBe(0);
    });
  });
});

/** Last, because it takes the provider away. */
describe('the keys of the provider', () => {
  it('answer from the cache while it is away, and a key nobody knows yet is no reason for a 401', async () => {
    expectStatus(await put('ada', true, ['viewer']), 200);
    await provider.stop();
    expect((await whoAmI(await forge())).status).toBe(200);
    const other = await bootApi(provider.environment);
    try {
      const answer = await other.send('GET', '/api/v1/whoami', { token: ada });
      expect([...codeOf(answer), answer.body.error.retryable]).toEqual([503, 'unavailable', true]);
      expect(answer.headers['retry-after']).toBe('2');
      expect((await other.send('GET', '/api/v1/whoami')).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  it('are found again when it comes back with new ones', async () => {
    const second = await makeKey('second');
    await provider.start([second]);
    const other = await bootApi(provider.environment);
    try {
      const body = {
        provider: 'acme-id',
        external_organization_id: 'org_acme',
        external_user_id: 'ada',
        access: true,
        scopes: ['viewer'],
      };
      expectStatus(await other.send('PUT', '/api/v1/console/access', { body }), 200);
      expect((await other.send('GET', '/api/v1/whoami', { token: await provider.token('ada') })).status).toBe(200);
      expect(codeOf(await other.send('GET', '/api/v1/whoami', { token: await forge() }))).toEqual([
        401,
        'unauthenticated',
      ]);
    } finally {
      await other.close();
    }
  });
});
