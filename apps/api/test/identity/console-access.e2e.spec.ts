import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isSlipwayError, type BodyOf, type Slipway } from '@slipway/sdk';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { codeOf, refusalOf } from '../harness/refusals.js';

let api: TestApi;
let slipway: Slipway;

beforeAll(async () => {
  api = await bootApi({ SLIPWAY_IDENTITY_PROVIDER: 'acme-id' });
  slipway = api.slipway();
});

afterAll(async () => {
  await api?.close();
});

const BODY = {
  provider: 'acme-id',
  external_organization_id: 'org_1',
  external_user_id: 'user_1',
  access: true,
  scopes: ['viewer'],
};

/** @param change may break the types, so that the api refuses it */
const put = (change: object = {}, by = slipway) =>
  by.consoleAccess.set({ ...BODY, ...change } as BodyOf<'setConsoleAccess'>);
const patch = (id: string, body: object, by = slipway) => by.tenants.update(id, body as BodyOf<'updateTenant'>);
const give = (id: string, organizations: string[]) => patch(id, { external_organization_ids: organizations });

it('publishes the configured provider as the only value', async () => {
  // Without the sdk: the document does not describe itself.
  const { body } = await api.send('GET', '/openapi.json', { token: null });
  const { properties, required } = body.components.schemas.SetConsoleAccessDto;
  expect(properties.provider).toMatchObject({ type: 'string', enum: ['acme-id'] });
  expect(properties.display_name).toMatchObject({ type: ['string', 'null'], minLength: 1, maxLength: 255 });
  for (const name of ['external_organization_id', 'external_user_id'])
    expect(properties[name]).toMatchObject({ type: 'string', minLength: 1, maxLength: 255 });
  expect(properties.scopes).toMatchObject({
    type: ['array', 'null'],
    maxItems: 32,
    items: { type: 'string', enum: ['viewer', 'operator', 'admin'] },
  });
  expect([...required].sort()).toEqual(['access', 'external_organization_id', 'external_user_id', 'provider']);
});

it('grants, repeats, changes and revokes one mapping', async () => {
  const granted = await put({ display_name: 'Ada', scopes: ['viewer', 'operator', 'viewer'] });
  expect(granted).toMatchObject({
    ...BODY,
    display_name: 'Ada',
    scopes: ['viewer', 'operator'],
    status: 'active',
    updated_by: { type: 'token', id: 'tok_boot' },
  });
  expect(granted.id).toMatch(/^cac_[0-9a-f]{32}$/);
  expect(await put({ display_name: 'Ada', scopes: ['viewer', 'operator'] })).toEqual(granted);
  const changed = await put({ scopes: ['admin'] });
  expect(changed).toMatchObject({ id: granted.id, display_name: 'Ada', scopes: ['admin'] });
  const revoked = await put({ access: false, scopes: ['operator'] });
  expect(revoked).toMatchObject({ id: granted.id, access: false, status: 'revoked', scopes: [], display_name: 'Ada' });
  expect(await put({ access: false, scopes: undefined })).toEqual(revoked);
  expect(await put()).toMatchObject({ id: granted.id, status: 'active' });
});

it('deletes a mapping only when it is revoked, and only for its own tenant', async () => {
  const { id } = await put({ external_user_id: 'gone' });
  expect(await codeOf(slipway.consoleAccess.delete(id))).toBe('409 console_access_active');
  await put({ external_user_id: 'gone', access: false });
  const stranger = api.slipway((await api.createTenant('stranger')).token);
  expect(await codeOf(stranger.consoleAccess.delete(id))).toBe('404 console_access_not_found');
  expect(await slipway.consoleAccess.delete(id)).toEqual({ id, state: 'deleted' });
  expect(await codeOf(slipway.consoleAccess.delete(id))).toBe('404 console_access_not_found');
  const again = await put({ external_user_id: 'gone', access: false });
  expect(again.id).not.toBe(id);
  await slipway.consoleAccess.delete(again.id);
});

it('keeps organizations, users and tenants apart', async () => {
  // Assigned to the operator tenant too, which has it implicitly only while no tenant has it.
  const other = api.slipway((await api.createTenant('other', ['org_1'])).token);
  await give((await slipway.whoAmI()).tenant.id, ['org_1']);
  const [mine, org, user, theirs] = [
    await put(),
    await put({ external_organization_id: 'org_2' }),
    await put({ external_user_id: 'user_2' }),
    await put({}, other),
  ];
  expect(new Set([mine, org, user, theirs].map(({ id }) => id)).size).toBe(4);
  expect(await other.consoleAccess.list()).toEqual({ data: [theirs], next_cursor: null });
  const page = await slipway.consoleAccess.list({ limit: 1 });
  expect(page.data).toEqual([user]);
  const next = await slipway.consoleAccess.list({ limit: 200, cursor: page.next_cursor! });
  expect(next.data.map(({ id }) => id)).toEqual([org.id, mine.id]);
});

it('makes one mapping for many concurrent requests', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => put({ external_user_id: 'race' })));
  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
});

it('accepts texts at their limit, in characters', async () => {
  const longest = '😀'.repeat(255);
  const texts = { display_name: longest, external_user_id: longest, external_organization_id: longest };
  expect(await put(texts)).toMatchObject(texts);
  expect(await put({ external_user_id: 'many', scopes: Array(32).fill('viewer') })).toMatchObject({ status: 'active' });
});

it.each<[string, object, number, string[]]>([
  ['another provider', { provider: 'other' }, 422, ['provider enum']],
  [
    'nothing',
    { provider: undefined, external_organization_id: undefined, external_user_id: undefined, access: undefined },
    422,
    ['access required', 'external_organization_id required', 'external_user_id required', 'provider required'],
  ],
  [
    'empty texts',
    { display_name: '', external_organization_id: '', external_user_id: '' },
    422,
    ['display_name too_short', 'external_organization_id too_short', 'external_user_id too_short'],
  ],
  ['long texts', { external_user_id: 'x'.repeat(256) }, 422, ['external_user_id too_long']],
  ['an empty grant', { scopes: [] }, 422, ['scopes min_items']],
  ['a grant without scopes', { scopes: undefined }, 422, ['scopes required']],
  ['33 scopes', { scopes: Array(33).fill('viewer') }, 422, ['scopes max_items']],
  ['an unknown scope', { scopes: ['viewer', 'root'] }, 422, ['scopes[1] enum']],
  ['a string for a boolean', { access: 'true' }, 400, ['access type']],
  ['a string for a list', { scopes: 'viewer' }, 400, ['scopes type']],
])('refuses %s', async (_what, change, status, expected) => {
  const refused = await refusalOf(put(change));
  expect(refused.status).toBe(status);
  expect(refused.details.map(({ field, code }) => `${field} ${code}`).sort()).toEqual(expected);
});

it('warns of unknown fields, and refuses validate_only, which it does not offer', async () => {
  const odd = { ...BODY, colour: 'red' } as BodyOf<'setConsoleAccess'>;
  const { warnings } = await slipway.consoleAccess.set(odd, { strict: false });
  expect(warnings).toEqual([{ code: 'unknown_field', field: 'colour' }]);
  // Without the sdk, which does not offer it either.
  expect((await api.send('PUT', '/api/v1/console/access?validate_only=true', { body: BODY })).status).toBe(400);
});

it('does not revoke the last admin token of a tenant', async () => {
  const lonely = api.slipway((await api.createTenant('lonely', ['org_1'])).token);
  const [first] = (await lonely.tokens.list()).data;
  const revoke = () => lonely.tokens.revoke(first!.id);
  expect(await codeOf(revoke())).toBe('409 last_admin');
  // No person could sign in as this identity, because no issuer is configured here.
  await put({ scopes: ['admin'] }, lonely);
  expect(await codeOf(revoke())).toBe('409 last_admin');
  await put({ access: false }, lonely);
  const second = await lonely.tokens.create({ name: 'second', scopes: ['admin'] });
  const { tokens } = api.slipway(second.token!);
  const both = await Promise.allSettled([first!, second].map(({ id }) => tokens.revoke(id)));
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  // The slower one is refused as the last admin, or because the other has revoked its token.
  const [late] = both.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
  expect(isSlipwayError(late, 'last_admin', 'unauthenticated')).toBe(true);
});

describe('organizations of tenants', () => {
  const listed = async (id: string) => (await slipway.tenants.list({ limit: 200 })).data.find((one) => one.id === id);

  it('a tenant maps only its own organizations, and the operator tenant also unassigned ones', async () => {
    const [a, b] = [await api.createTenant('org-a', ['org_a']), await api.createTenant('org-b')].map(({ token }) =>
      api.slipway(token),
    );
    const map = (organization: string, by?: Slipway) => put({ external_organization_id: organization }, by);
    expect(await map('org_a', a)).toMatchObject({ status: 'active' });
    const refused: [string, Slipway | undefined][] = [
      ['org_a', b],
      ['org_a', undefined],
      ['org_of_nobody', a],
      ['org_of_nobody', b],
      ['ORG_A', b],
    ];
    for (const [organization, by] of refused)
      expect(await codeOf(map(organization, by))).toBe('403 organization_not_granted');
    expect(await map('org_of_nobody')).toMatchObject({ status: 'active' });
    expect((await b!.consoleAccess.list()).data).toEqual([]);
  });

  it('a mapping of an organization that was removed can still be revoked, and not granted', async () => {
    const { id, token } = await api.createTenant('org-c', ['org_c']);
    const tenant = api.slipway(token);
    const mapping = { external_organization_id: 'org_c', external_user_id: 'gone' };
    await put(mapping, tenant);
    await give(id, []);
    expect(await codeOf(put(mapping, tenant))).toBe('403 organization_not_granted');
    expect(await put({ ...mapping, access: false }, tenant)).toMatchObject({ status: 'revoked' });
  });

  it('the operator sets them, sees them, and each change is audited once', async () => {
    const { id, token } = await api.createTenant('org-d', ['org_d2', 'org_d1']);
    expect(await listed(id)).toMatchObject({ name: 'org-d', external_organization_ids: ['org_d1', 'org_d2'] });
    const changed = await give(id, ['org_d3', 'org_d1']);
    expect(changed).toEqual(await listed(id));
    expect(changed.external_organization_ids).toEqual(['org_d1', 'org_d3']);
    expect(await give(id, ['org_d1', 'org_d3'])).toEqual(changed);
    const { data: audited } = await slipway.audit.list({ action: 'tenant.update', limit: 200 });
    const ofTenant = audited.filter(({ resource_name }) => resource_name === 'org-d');
    expect(ofTenant).toHaveLength(1);
    expect(ofTenant[0]!.before_digest).not.toBe(ofTenant[0]!.after_digest);
    expect((await refusalOf(patch(id, { external_organization_ids: null }))).status).toBe(400);
    expect(await codeOf(patch(id, {}))).toBe('422 validation_failed');
    expect(await codeOf(patch(id, { external_organization_ids: ['x', 'x'] }))).toBe('422 validation_failed');
    expect(await codeOf(patch('ten_none', {}))).toBe('404 tenant_not_found');
    const asked = { external_organization_ids: ['org_a'] };
    expect(await codeOf(patch(id, asked, api.slipway(token)))).toBe('403 scope_insufficient');
    const other = (await slipway.whoAmI()).tenant.id;
    expect(await codeOf(patch(other, asked, api.slipway(token)))).toBe('404 tenant_not_found');
    expect((await listed(id))!.external_organization_ids).toEqual(['org_d1', 'org_d3']);
  });
});
