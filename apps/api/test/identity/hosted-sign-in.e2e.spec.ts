import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { decodeJwt, decodeProtectedHeader, exportSPKI, importJWK, SignJWT, type JWK, type JWTPayload } from 'jose';
import { owned } from '@slipway/platform-testing/contract';
import { timeLimit, type Schemas, type Slipway } from '@slipway/sdk';
import { bootApi, PROVIDER, type TestApi } from '../harness/boot-api.js';
import { AUDIENCE, HostedProvider, makeKey } from '../harness/hosted-provider.js';
import { codeOf, refusalOf } from '../harness/refusals.js';

type Scope = NonNullable<Schemas['SetConsoleAccessDto']['scopes']>[number];

const provider = new HostedProvider({ ada: 'org_acme', bob: 'org_acme', eve: 'org_other' });
const leaving = new AbortController();
let key: JWK;
let api: TestApi;
let slipway: Slipway;
let ada: string;

beforeAll(async () => {
  key = await makeKey('first');
  await provider.start([key]);
  api = await bootApi(provider.environment);
  slipway = api.slipway();
  ada = await provider.token('ada');
});

afterAll(async () => {
  leaving.abort();
  await api?.close();
  await provider.stop();
});

const put = (
  user: string,
  access: boolean,
  scopes: Scope[] = [],
  options: { token?: string; organization?: string; of?: TestApi } = {},
) =>
  (options.of ?? api)
    .slipway(options.token)
    .consoleAccess.set({
      provider: PROVIDER,
      external_organization_id: options.organization ?? 'org_acme',
      external_user_id: user,
      access,
      scopes,
    });

const whoAmI = (token: string, tenant?: string, of = api) =>
  of.slipway(token).whoAmI({ headers: tenant === undefined ? {} : { 'x-slipway-tenant': tenant } });

const give = (tenantId: string, organizations: string[]) =>
  slipway.tenants.update(tenantId, { external_organization_ids: organizations });

/** Resolves once a stream has begun; `end` resolves when it ends. */
async function watched(token: string, deployment: string, signal = leaving.signal): Promise<{ end: Promise<void> }> {
  const events = api.slipway(token).deployments.events.follow(deployment, { signal });
  await events.next();
  return {
    end: (async () => {
      for await (const _ of events);
    })(),
  };
}

/** Makes a token that the provider could have issued, with a test's changes. */
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
  it("signs in with the provider's own token, with the granted scopes", async () => {
    expect(decodeProtectedHeader(ada)).toMatchObject({ alg: 'ES256', typ: 'at+jwt', kid: 'first' });
    expect(decodeJwt(ada)).toMatchObject({ iss: provider.issuer, aud: AUDIENCE, sub: 'ada', org_id: 'org_acme' });
    expect(await codeOf(whoAmI(ada))).toBe('401 unauthenticated');
    await put('ada', true, ['operator']);
    expect(await whoAmI(ada)).toMatchObject({
      tenant: { name: 'default' },
      actor: { type: 'user', id: 'ada' },
      scopes: ['viewer', 'operator'],
    });
    expect(await codeOf(api.slipway(ada).tokens.list())).toBe('403 scope_insufficient');
    await api.slipway(ada).deployments.create({ name: 'by-ada' });
    expect(await codeOf(whoAmI(await provider.token('eve')))).toBe('401 unauthenticated');
  });

  it('is refused at its next request after a revocation, and its event streams end', async () => {
    await put('ada', true, ['viewer']);
    const ended = codeOf((await watched(ada, 'by-ada')).end);
    await put('ada', false);
    expect(await codeOf(whoAmI(ada))).toBe('403 console_access_revoked');
    expect(await ended).toBe('403 console_access_revoked');
    await put('ada', true, ['viewer']);
    expect((await whoAmI(ada)).scopes).toEqual(['viewer']);
  });

  it('must name the tenant if several have granted it access', async () => {
    const acme = await api.createTenant('acme', ['org_acme']);
    await give((await slipway.whoAmI()).tenant.id, ['org_acme']);
    const bob = await provider.token('bob');
    await put('bob', true, ['viewer']);
    expect((await whoAmI(bob)).tenant.name).toBe('default');
    await put('bob', true, ['admin'], { token: acme.token });
    const ambiguous = await refusalOf(whoAmI(bob));
    expect([ambiguous.status, ambiguous.code]).toEqual([400, 'invalid_parameter']);
    expect(ambiguous.details).toEqual([
      expect.objectContaining({ field: 'X-Slipway-Tenant', message: expect.stringContaining('acme, default') }),
    ]);
    expect(await whoAmI(bob, 'acme')).toMatchObject({
      tenant: { id: acme.id },
      scopes: ['viewer', 'operator', 'admin'],
    });
    expect((await whoAmI(bob, acme.id)).tenant.name).toBe('acme');
    expect((await whoAmI(bob, 'default')).scopes).toEqual(['viewer']);
    expect(await codeOf(whoAmI(bob, 'nobody'))).toBe('401 unauthenticated');
    await put('bob', false, [], { token: acme.token });
    expect(await codeOf(whoAmI(bob, 'acme'))).toBe('403 console_access_revoked');
    expect(await codeOf(whoAmI(bob))).toBe('400 invalid_parameter');
    expect((await whoAmI(bob, 'default')).tenant.name).toBe('default');
  });

  it('loses its event streams where it is revoked, also if another tenant has mapped it since they began', async () => {
    const [one, other] = [await api.createTenant('one', ['org_acme']), await api.createTenant('other', ['org_acme'])];
    const cleo = await forge({ sub: 'cleo' });
    await put('cleo', true, ['viewer'], { token: one.token });
    await api.slipway(one.token).deployments.create({ name: 'watched-by-cleo' });
    // Before its first heartbeat, at which a stream checks anyway.
    const { end } = await watched(cleo, 'watched-by-cleo', timeLimit(10_000, leaving.signal).signal);
    const ended = codeOf(end);
    await put('cleo', true, ['admin'], { token: other.token });
    await put('cleo', false, [], { token: one.token });
    // The client connects again, and names no tenant.
    expect(await ended).toBe('400 invalid_parameter');
  });

  it('may be the last admin, and then cannot be removed', async () => {
    const solo = await api.createTenant('solo', ['org_acme']);
    const boss = await forge({ sub: 'boss' });
    const { tokens } = api.slipway(solo.token);
    const [first] = (await tokens.list()).data;
    expect(await codeOf(tokens.revoke(first!.id))).toBe('409 last_admin');
    await put('boss', true, ['admin'], { token: solo.token });
    await api.slipway(boss).tokens.revoke(first!.id);
    expect(await codeOf(whoAmI(solo.token))).toBe('401 unauthenticated');
    expect(await codeOf(put('boss', false, [], { token: boss }))).toBe('409 last_admin');
    expect(await codeOf(put('boss', true, ['operator'], { token: boss }))).toBe('409 last_admin');
    await put('boss', true, ['viewer', 'admin'], { token: boss });
    expect((await whoAmI(boss)).tenant.name).toBe('solo');
  });

  it('keeps one admin if two remove each other at once', async () => {
    for (let round = 0; round < 4; round += 1) {
      const { token } = await api.createTenant(`duel-${round}`, ['org_acme']);
      const [one, two] = [await forge({ sub: `one-${round}` }), await forge({ sub: `two-${round}` })];
      for (const name of ['one', 'two']) await put(`${name}-${round}`, true, ['admin'], { token });
      const [first] = (await api.slipway(token).tokens.list()).data;
      await api.slipway(one).tokens.revoke(first!.id);
      const answers = await Promise.allSettled([
        put(`two-${round}`, false, [], { token: one }),
        put(`one-${round}`, false, [], { token: two }),
      ]);
      // The loser is refused as the last admin, or because it has just been removed itself.
      const lost = answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as { status: number }] : []));
      expect(lost).toHaveLength(1);
      expect([403, 409]).toContain(lost[0]!.status);
    }
  });
});

describe('an organization that belongs to one tenant', () => {
  const eve = (): Promise<string> => provider.token('eve');
  /** Writes a mapping directly, as any tenant could before organizations belonged to tenants. */
  const mapped = (tenantId: string, scopes: string): Promise<unknown> =>
    owned(
      api,
      `insert into console_access (id, tenant_id, provider, external_organization_id, external_user_id, scopes, status, updated_by)
       values ('cac_' || $1, $1, 'acme-id', 'org_other', 'eve', $2, 'active', '{"type": "token", "id": "tok_x"}')`,
      [tenantId, scopes],
    );

  it("another tenant's mappings neither capture its users nor make them name a tenant", async () => {
    const [owner, thief] = [await api.createTenant('owner', ['org_other']), await api.createTenant('thief')];
    await mapped(thief.id, '{admin}');
    expect(await codeOf(whoAmI(await eve()))).toBe('401 unauthenticated');
    expect(await codeOf(whoAmI(await eve(), 'thief'))).toBe('401 unauthenticated');
    const options = { organization: 'org_other', token: owner.token };
    await put('eve', true, ['viewer'], options);
    expect((await whoAmI(await eve())).tenant.name).toBe('owner');
    await put('eve', false, [], { organization: 'org_other', token: thief.token });
    expect((await whoAmI(await eve())).tenant.name).toBe('owner');
  });

  it('removing it ends the sign-ins of the tenant at the next request, and its event streams', async () => {
    const ours = (await slipway.whoAmI()).tenant.id;
    const theirs = (await slipway.tenants.list({ limit: 200 })).data.find(({ name }) => name === 'owner')!.id;
    const token = await eve();
    await slipway.deployments.create({ name: 'watched' });
    await mapped(ours, '{viewer}');
    expect((await whoAmI(token)).tenant.name).toBe('owner');
    await give(theirs, []);
    // No tenant has it now, so it belongs to the operator tenant.
    expect((await whoAmI(token)).tenant.name).toBe('default');
    expect(await codeOf(whoAmI(token, 'owner'))).toBe('401 unauthenticated');
    // Before its first heartbeat, at which a stream checks anyway.
    const { end } = await watched(token, 'watched', timeLimit(10_000, leaving.signal).signal);
    const ended = codeOf(end);
    await give(theirs, ['org_other']);
    expect((await whoAmI(token)).tenant.name).toBe('owner');
    expect(await ended).toBe('404 deployment_not_found');
    expect(await codeOf(whoAmI(token, 'default'))).toBe('401 unauthenticated');
  });

  it('an admin whose organization was removed does not count as the last admin of a tenant', async () => {
    const { id, token } = await api.createTenant('left', ['org_acme', 'org_left']);
    await put('boss', true, ['admin'], { token, organization: 'org_left' });
    await give(id, ['org_acme']);
    const { tokens } = api.slipway(token);
    const [first] = (await tokens.list()).data;
    expect(await codeOf(tokens.revoke(first!.id))).toBe('409 last_admin');
    await give(id, ['org_acme', 'org_left']);
    await tokens.revoke(first!.id);
  });
});

describe('a token that the provider did not issue for us', () => {
  beforeAll(async () => {
    await put('ada', true, ['admin']);
  });

  it('is not the unchanged token (the control)', async () => {
    for (const token of [
      await forge(),
      await forge({}, { typ: 'JWT' }),
      await forge({}, { typ: 'application/at+jwt' }),
      await forge({ aud: ['other', AUDIENCE] }),
    ])
      expect((await whoAmI(token)).actor).toMatchObject({ type: 'user', id: 'ada' });
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
    ['an organization that is no string', { org_id: ['org_acme'] }, {}],
    ['a user that cannot be stored', { sub: 'ada\u0000' }, {}],
    ['a user beyond 255 characters', { sub: 'a'.repeat(256) }, {}],
    ['an unknown critical header', {}, { crit: ['exp2'], exp2: 1 }],
  ])('%s: 401', async (_what, claims, header, code = 'unauthenticated') => {
    const token = await forge(claims, header).catch(() =>
      unsigned({ alg: 'ES256', typ: 'at+jwt', kid: 'first', ...header }, 'AAAA'),
    );
    expect(await codeOf(whoAmI(token))).toBe(`401 ${code}`);
  });

  it('is not signed at all, or is signed with the public key as a secret', async () => {
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
        expect(await codeOf(whoAmI(`${input}.${signature}`))).toBe('401 unauthenticated');
      }
    }
  });

  it('has a changed payload or a truncated signature', async () => {
    const [header, , signature] = (await forge()).split('.');
    const payload = unsigned({}).split('.')[1];
    expect(await codeOf(whoAmI(`${header}.${payload}.${signature}`))).toBe('401 unauthenticated');
    expect(await codeOf(whoAmI((await forge()).slice(0, -2)))).toBe('401 unauthenticated');
    expect(await codeOf(whoAmI(`${header}.${payload}.`))).toBe('401 unauthenticated');
  });

  describe('contains its own keys', () => {
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

    it.each(['jwk', 'jku', 'x5u', 'x5c'])('in %s: the token is refused, and they are not fetched', async (name) => {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
      const { d: _private, ...open } = evil;
      const value = { jwk: open, jku: url, x5u: url, x5c: [Buffer.from('not a certificate').toString('base64')] }[name];
      for (const kid of ['first', url, undefined]) {
        expect(await codeOf(whoAmI(await forge({}, { [name]: value, kid }, evil)))).toBe('401 unauthenticated');
      }
      expect(asked).toBe(0);
    });
  });
});

/** Last, because it stops the provider. */
describe('the keys of the provider', () => {
  it('are cached while it is away, and an unknown key is no reason for a 401', async () => {
    await put('ada', true, ['viewer']);
    await provider.stop();
    expect((await whoAmI(await forge())).actor).toMatchObject({ id: 'ada' });
    const other = await bootApi(provider.environment);
    try {
      expect(await refusalOf(whoAmI(ada, undefined, other))).toMatchObject({
        status: 503,
        code: 'unavailable',
        retryable: true,
        retryAfterMs: 2_000,
      });
      expect((await other.slipway().whoAmI()).actor).toMatchObject({ type: 'token' });
    } finally {
      await other.close();
    }
  });

  it('are found again when it comes back with new ones', async () => {
    const second = await makeKey('second');
    await provider.start([second]);
    const other = await bootApi(provider.environment);
    try {
      await put('ada', true, ['viewer'], { of: other });
      expect((await whoAmI(await provider.token('ada'), undefined, other)).actor).toMatchObject({ id: 'ada' });
      expect(await codeOf(whoAmI(await forge(), undefined, other))).toBe('401 unauthenticated');
    } finally {
      await other.close();
    }
  });
});
