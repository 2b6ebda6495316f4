import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { BodyOf, Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { codeOf, refusalOf } from '../harness/refusals.js';

let api: TestApi;
let slipway: Slipway;
let acme: { id: string; name: string; token: string };
let ofAcme: Slipway;

beforeAll(async () => {
  api = await bootApi();
  slipway = api.slipway();
  acme = await api.createTenant('acme');
  ofAcme = api.slipway(acme.token);
});

afterAll(async () => {
  await api?.close();
});

const DAY_MS = 86_400_000;

it('shows the caller', async () => {
  const who = await slipway.whoAmI();
  expect(who).toMatchObject({
    tenant: { name: 'default', is_operator: true },
    actor: { type: 'token', id: 'tok_boot' },
  });
  expect(who.scopes).toEqual(['viewer', 'operator', 'admin']);
  expect((await ofAcme.whoAmI()).tenant).toEqual({ id: acme.id, name: 'acme', is_operator: false });
});

it('creates tenants for the operator alone, each name once', async () => {
  expect(Object.keys(acme).sort()).toEqual(['id', 'name', 'token']);
  expect(await codeOf(slipway.tenants.create({ name: 'acme' }))).toBe('409 tenant_exists');
  expect(await codeOf(ofAcme.tenants.create({ name: 'mine' }))).toBe('403 scope_insufficient');
  expect(await codeOf(ofAcme.tenants.list())).toBe('403 scope_insufficient');
  const listed = await slipway.tenants.list();
  expect(listed.data.map(({ name }) => name)).toEqual(['default', 'acme']);
  expect(JSON.stringify(listed)).not.toContain('slw_');
});

/** Returns how each of these attempts to create a tenant ends. */
const ends = async (names: string[]): Promise<string[]> => {
  const ended = names.map((name) =>
    slipway.tenants.create({ name }).then(
      () => 'created',
      (error) => error.code,
    ),
  );
  return (await Promise.all(ended)).sort();
};

it('creates one tenant for many concurrent requests with the same name', async () => {
  expect(await ends(Array(8).fill('race'))).toEqual(['created', ...Array(7).fill('tenant_exists')]);
});

it('refuses a name that another tenant has in another case', async () => {
  for (const name of ['Acme', 'ACME', 'Default'])
    expect(await codeOf(slipway.tenants.create({ name }))).toBe('409 tenant_exists');
  expect(await ends(['twin', 'Twin', 'TWIN', 'tWin'])).toEqual(['created', ...Array(3).fill('tenant_exists')]);
  for (const [name, others] of [
    ['école', ['École', 'ÉCOLE']],
    ['straße', ['STRASSE', 'Strasse']],
    ['σοφός', ['ΣΟΦΌΣ']],
  ] as const) {
    expect(await ends([name])).toEqual(['created']);
    for (const other of others) expect([other, await ends([other])]).toEqual([other, ['tenant_exists']]);
  }
});

it.each(['', ' padded', 'padded ', 'x'.repeat(256), 'nul\u0000', 'ａcme', 'ac\u200bme', 'x\u202ey'])(
  'refuses the tenant name %j',
  async (name) => {
    expect((await refusalOf(slipway.tenants.create({ name }))).status).toBe(422);
  },
);

it('shows a token once, lists it without its secret, and revokes it permanently', async () => {
  const created = await slipway.tokens.create({ name: 'ci', scopes: ['operator', 'operator'] });
  expect(created).toMatchObject({
    name: 'ci',
    scopes: ['operator'],
    state: 'active',
    created_by: 'token:tok_boot',
    last_used_at: null,
    revoked_at: null,
  });
  expect(created.token).toMatch(/^slw_[0-9a-f]{32}_[A-Za-z0-9_-]{43}$/);
  expect(Math.round((Date.parse(created.expires_at) - Date.now()) / DAY_MS)).toBe(90);
  const listed = await slipway.tokens.list({ limit: 200 });
  expect(listed.data.map(({ id }) => id)).toContain(created.id);
  expect(JSON.stringify(listed)).not.toContain(created.token!.slice(40));
  const theirs = api.slipway(created.token!);
  expect((await theirs.whoAmI()).actor.id).toBe(created.id);
  const revoked = await slipway.tokens.revoke(created.id);
  expect(revoked).toMatchObject({ id: created.id, state: 'revoked', revoked_by: 'token:tok_boot' });
  expect(await codeOf(theirs.whoAmI())).toBe('401 unauthenticated');
  expect(await slipway.tokens.revoke(created.id)).toEqual(revoked);
});

it('refuses tokens beyond a year, in the past, or without scopes', async () => {
  const at = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();
  const refused = [
    { name: 'n', scopes: ['viewer'], expires_at: at(366) },
    { name: 'n', scopes: ['viewer'], expires_at: at(-1) },
    { name: 'n', scopes: [] },
    { name: 'n', scopes: ['root'] },
    { name: '', scopes: ['viewer'] },
    { scopes: ['viewer'] },
    { name: 'n', scopes: ['viewer'], expires_at: 'tomorrow' },
  ];
  // The api must also refuse what the types refuse.
  const create = (body: object) => slipway.tokens.create(body as BodyOf<'createToken'>);
  for (const body of refused) expect(await codeOf(create(body))).toBe('422 validation_failed');
  for (const body of [
    { name: 1, scopes: ['viewer'] },
    { name: 'n', scopes: 'viewer' },
    { name: 'n', scopes: ['viewer'], expires_at: 1 },
  ]) {
    expect((await refusalOf(create(body))).status).toBe(400);
  }
  expect(await create({ name: 'n', scopes: ['viewer'], expires_at: at(364) })).toMatchObject({ state: 'active' });
});

it('a token lives as long as expires_in says, and not together with expires_at', async () => {
  const create = (body: object) => slipway.tokens.create({ scopes: ['viewer'], ...body } as BodyOf<'createToken'>);
  const { expires_at } = await create({ name: 'for a month', expires_in: '30d' });
  expect((Date.parse(expires_at) - Date.now()) / DAY_MS).toBeCloseTo(30, 1);
  const both = { expires_in: '30d', expires_at };
  expect(await codeOf(create({ name: 'both', ...both }))).toBe('400 invalid_parameter');
  for (const expires_in of ['', '30', 'd', '30 d', '1y', '-1d', '1.5h', 'P30D', '366d', '0d', '12h1d'])
    expect([expires_in, await codeOf(create({ name: 'never', expires_in }))]).toEqual([
      expires_in,
      '422 validation_failed',
    ]);
  const { message } = await refusalOf(create({ name: 'never', expires_in: '1y' }));
  expect(message).toBe('expires_in must be a duration such as 30d, 12h or 1d12h, in the units w, d, h, m and s');
  expect((await create({ name: 'by default', expires_in: null, expires_at: null })).state).toBe('active');
});

it('gives each usable token a name of its own', async () => {
  const first = await slipway.tokens.create({ name: 'deploy', scopes: ['viewer'] });
  const again = await refusalOf(slipway.tokens.create({ name: 'deploy', scopes: ['admin'] }));
  expect(again).toMatchObject({ status: 409, code: 'token_exists', body: { token_id: first.id } });
  const other = await api.createTenant('namesakes');
  await api.slipway(other.token).tokens.create({ name: 'deploy', scopes: ['viewer'] });
  await slipway.tokens.revoke(first.id);
  await slipway.tokens.create({ name: 'deploy', scopes: ['viewer'] });
});

it('rotates a token: both work during the overlap, then only the new one, and a repeated request shows no secret', async () => {
  const old = await slipway.tokens.create({ name: 'rotated', scopes: ['operator'], expires_in: '7d' });
  const idempotencyKey = 'rotate-1';
  const rotated = await slipway.tokens.rotate(old.id, { overlap_seconds: 3_600 }, { idempotencyKey });
  expect(rotated).toMatchObject({ name: 'rotated', scopes: ['operator'], replaced_by: null, owner: old.owner });
  expect(rotated.replaced).toMatchObject({ id: old.id, replaced_by: rotated.id, state: 'active' });
  expect((Date.parse(rotated.expires_at) - Date.now()) / DAY_MS).toBeCloseTo(7, 1);
  const actorOf = async (token: string) => (await api.slipway(token).whoAmI()).actor.id;
  expect([await actorOf(old.token!), await actorOf(rotated.token!)]).toEqual([old.id, rotated.id]);
  const repeated = await slipway.tokens.rotate(old.id, { overlap_seconds: 3_600 }, { idempotencyKey });
  const warnings = [expect.objectContaining({ code: 'secret_omitted', field: 'token' })];
  expect(repeated).toEqual({ ...rotated, token: null, warnings });
  expect(await codeOf(slipway.tokens.rotate(old.id))).toBe('409 token_not_rotatable');
  const own = api.slipway((await slipway.tokens.create({ name: 'own', scopes: ['admin'] })).token!);
  const { actor } = await own.whoAmI();
  const next = await own.tokens.rotate(actor.id, { overlap_seconds: 0 });
  expect(await codeOf(own.whoAmI())).toBe('401 unauthenticated');
  expect(await actorOf(next.token!)).toBe(next.id);
});

it('rotates neither a token of another tenant nor the one of configuration', async () => {
  const { id } = await slipway.tokens.create({ name: 'ours', scopes: ['viewer'] });
  expect(await codeOf(ofAcme.tokens.rotate(id))).toBe('404 token_not_found');
  expect(await codeOf(ofAcme.tokens.rotate(id, { overlap_seconds: -1 }))).toBe('404 token_not_found');
  expect(await codeOf(slipway.tokens.rotate(id, { overlap_seconds: 604_801 }))).toBe('422 validation_failed');
  expect(await codeOf(slipway.tokens.rotate('tok_boot'))).toBe('409 token_not_rotatable');
});

it('keeps the tokens of tenants apart', async () => {
  const mine = await slipway.tokens.create({ name: 'mine', scopes: ['viewer'] });
  expect(await codeOf(ofAcme.tokens.revoke(mine.id))).toBe('404 token_not_found');
  expect((await api.slipway(mine.token!).whoAmI()).actor.id).toBe(mine.id);
  expect((await ofAcme.tokens.list()).data.map(({ name }) => name)).toEqual(['first']);
});

it('pages through tokens without skipping or repeating one', async () => {
  const { token } = await api.createTenant('pages');
  for (let i = 0; i < 6; i += 1) await api.createToken('viewer', token);
  const seen: string[] = [];
  for await (const { id } of api.slipway(token).tokens.list({ limit: 3 })) seen.push(id);
  expect(seen).toHaveLength(7);
  expect(new Set(seen).size).toBe(7);
  expect([...seen].sort().reverse()).toEqual(seen);
});
