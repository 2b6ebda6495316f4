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
  expect(JSON.stringify(listed)).not.toContain(created.token.slice(40));
  const theirs = api.slipway(created.token);
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

it('keeps the tokens of tenants apart', async () => {
  const mine = await slipway.tokens.create({ name: 'mine', scopes: ['viewer'] });
  expect(await codeOf(ofAcme.tokens.revoke(mine.id))).toBe('404 token_not_found');
  expect((await api.slipway(mine.token).whoAmI()).actor.id).toBe(mine.id);
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
