import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bootApi, expectStatus, type Answer, type TestApi } from './boot-api.js';

let api: TestApi;

beforeAll(async () => {
  api = await bootApi({ SLIPWAY_IDENTITY_PROVIDER: 'acme-id' });
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

function put(change: object = {}, token?: string): Promise<Answer> {
  return api.send('PUT', '/api/v1/console/access', { body: { ...BODY, ...change }, token });
}

async function whoAmI(token?: string): Promise<any> {
  return expectStatus(await api.send('GET', '/api/v1/whoami', { token }), 200);
}

function patch(id: string, body: object, token?: string): Promise<Answer> {
  return api.send('PATCH', `/api/v1/tenants/${id}`, { body, token });
}

async function give(id: string, organizations: string[]): Promise<any> {
  return expectStatus(await patch(id, { external_organization_ids: organizations }), 200);
}

it('publishes the configured provider as the only value', async () => {
  const { body } = await api.send('GET', '/openapi.json', { token: null });
  const { properties, required } = body.components.schemas.SetConsoleAccessDto;
  expect(properties.provider).toMatchObject({ type: 'string', enum: ['acme-id'] });
  for (const name of ['display_name', 'external_organization_id', 'external_user_id'])
    expect(properties[name]).toMatchObject({ type: 'string', minLength: 1, maxLength: 255 });
  expect(properties.scopes).toMatchObject({
    type: 'array',
    maxItems: 32,
    items: { type: 'string', enum: ['viewer', 'operator', 'admin'] },
  });
  expect([...required].sort()).toEqual(['access', 'external_organization_id', 'external_user_id', 'provider']);
});

it('grants, repeats, changes and revokes one mapping', async () => {
  const granted = expectStatus(await put({ display_name: 'Ada', scopes: ['viewer', 'operator', 'viewer'] }), 200);
  expect(granted).toMatchObject({
    ...BODY,
    display_name: 'Ada',
    scopes: ['viewer', 'operator'],
    status: 'active',
    updated_by: { type: 'token', id: 'tok_boot' },
  });
  expect(granted.id).toMatch(/^cac_[0-9a-f]{32}$/);
  expect(expectStatus(await put({ display_name: 'Ada', scopes: ['viewer', 'operator'] }), 200)).toEqual(granted);
  const changed = expectStatus(await put({ scopes: ['admin'] }), 200);
  expect(changed).toMatchObject({ id: granted.id, display_name: 'Ada', scopes: ['admin'] });
  const revoked = expectStatus(await put({ access: false, scopes: ['operator'] }), 200);
  expect(revoked).toMatchObject({ id: granted.id, access: false, status: 'revoked', scopes: [], display_name: 'Ada' });
  expect(expectStatus(await put({ access: false, scopes: undefined }), 200)).toEqual(revoked);
  expect(expectStatus(await put(), 200)).toMatchObject({ id: granted.id, status: 'active' });
});

it('keeps organizations, users and tenants apart', async () => {
  // Given to the operator tenant, too, which has it of itself only while nobody has.
  const { token } = await api.createTenant('other', ['org_1']);
  await give((await whoAmI()).tenant.id, ['org_1']);
  const [mine, org, user, theirs] = [
    await put(),
    await put({ external_organization_id: 'org_2' }),
    await put({ external_user_id: 'user_2' }),
    await put({}, token),
  ];
  expect(new Set([mine, org, user, theirs].map((answer) => expectStatus(answer, 200).id)).size).toBe(4);
  const listed = expectStatus(await api.send('GET', '/api/v1/console/access', { token }), 200);
  expect(listed).toEqual({ data: [theirs.body], next_cursor: null });
  const page = expectStatus(await api.send('GET', '/api/v1/console/access?limit=1'), 200);
  expect(page.data).toEqual([user.body]);
  const next = expectStatus(await api.send('GET', `/api/v1/console/access?limit=200&cursor=${page.next_cursor}`), 200);
  expect(next.data.map((row: any) => row.id)).toEqual([org.body.id, mine.body.id]);
});

it('makes one mapping where many ask for it at once', async () => {
  const answers = await Promise.all(Array.from({ length: 10 }, () => put({ external_user_id: 'race' })));
  expect(new Set(answers.map((answer) => expectStatus(answer, 200).id)).size).toBe(1);
});

it('takes texts at their limit, in characters', async () => {
  const longest = '😀'.repeat(255);
  expectStatus(await put({ display_name: longest, external_user_id: longest, external_organization_id: longest }), 200);
  expectStatus(await put({ external_user_id: 'many', scopes: Array(32).fill('viewer') }), 200);
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
  ['a grant of nothing', { scopes: [] }, 422, ['scopes min_items']],
  ['a grant without scopes', { scopes: undefined }, 422, ['scopes required']],
  ['33 scopes', { scopes: Array(33).fill('viewer') }, 422, ['scopes max_items']],
  ['an unknown scope', { scopes: ['viewer', 'root'] }, 422, ['scopes[1] enum']],
  ['a text for a truth', { access: 'true' }, 400, ['access type']],
  ['a text for a list', { scopes: 'viewer' }, 400, ['scopes type']],
])('refuses %s', async (_what, change, status, expected) => {
  const answer = await put(change);
  expect(answer.status).toBe(status);
  expect(answer.body.error.details.map(({ field, code }: any) => `${field} ${code}`).sort()).toEqual(expected);
});

it('warns of unknown fields, and of a rehearsal that it does not offer', async () => {
  expect((await put({ colour: 'red' })).body.warnings).toEqual([{ code: 'unknown_field', field: 'colour' }]);
  expect((await api.send('PUT', '/api/v1/console/access?validate_only=true', { body: BODY })).status).toBe(400);
});

it('does not revoke the last admin token of a tenant', async () => {
  const { token } = await api.createTenant('lonely', ['org_1']);
  const [first] = expectStatus(await api.send('GET', '/api/v1/tokens', { token }), 200).data;
  const refused = await api.send('DELETE', `/api/v1/tokens/${first.id}`, { token });
  expect([refused.status, refused.body.error.code]).toEqual([409, 'last_admin']);
  // Nobody could sign in as this identity, because no issuer is configured here.
  expectStatus(await put({ scopes: ['admin'] }, token), 200);
  expect((await api.send('DELETE', `/api/v1/tokens/${first.id}`, { token })).status).toBe(409);
  expectStatus(await put({ access: false }, token), 200);
  const second = expectStatus(
    await api.send('POST', '/api/v1/tokens', { token, body: { name: 'second', scopes: ['admin'] } }),
    201,
  );
  const both = await Promise.all(
    [first.id, second.id].map((id: string) => api.send('DELETE', `/api/v1/tokens/${id}`, { token: second.token })),
  );
  expect(both.filter((answer) => answer.status === 200)).toHaveLength(1);
});

describe('10.4: organizations of tenants', () => {
  const codeOf = ({ status, body }: Answer): [number, string] => [status, body.error?.code];
  const listed = async (id: string): Promise<any> =>
    expectStatus(await api.send('GET', '/api/v1/tenants?limit=200'), 200).data.find((tenant: any) => tenant.id === id);

  it('10.4: a tenant maps its own organizations alone, the operator tenant also those that nobody has', async () => {
    const [a, b] = [await api.createTenant('org-a', ['org_a']), await api.createTenant('org-b')];
    const map = (organization: string, token?: string, access = true) =>
      put({ external_organization_id: organization, access }, token);
    expect((await map('org_a', a.token)).status).toBe(200);
    const refused: [string, string | undefined][] = [
      ['org_a', b.token],
      ['org_a', undefined],
      ['org_of_nobody', a.token],
      ['org_of_nobody', b.token],
      ['ORG_A', b.token],
    ];
    for (const [organization, token] of refused)
      expect(codeOf(await map(organization, token))).toEqual([403, 'organization_not_granted']);
    expect((await map('org_of_nobody')).status).toBe(200);
    const rows = expectStatus(await api.send('GET', '/api/v1/console/access', { token: b.token }), 200);
    expect(rows.data).toEqual([]);
  });

  it('10.4: a mapping of an organization that was taken away can still be revoked, and not granted', async () => {
    const { id, token } = await api.createTenant('org-c', ['org_c']);
    const mapping = { external_organization_id: 'org_c', external_user_id: 'gone' };
    expectStatus(await put(mapping, token), 200);
    await give(id, []);
    expect(codeOf(await put(mapping, token))).toEqual([403, 'organization_not_granted']);
    expect(expectStatus(await put({ ...mapping, access: false }, token), 200)).toMatchObject({ status: 'revoked' });
  });

  it('10.4: the operator sets them, sees them, and audits each change once', async () => {
    const { id, token } = await api.createTenant('org-d', ['org_d2', 'org_d1']);
    expect(await listed(id)).toMatchObject({ name: 'org-d', external_organization_ids: ['org_d1', 'org_d2'] });
    const changed = await give(id, ['org_d3', 'org_d1']);
    expect(changed).toEqual(await listed(id));
    expect(changed.external_organization_ids).toEqual(['org_d1', 'org_d3']);
    expect(await give(id, ['org_d1', 'org_d3'])).toEqual(changed);
    const audited = expectStatus(await api.send('GET', '/api/v1/audit?action=tenant.update&limit=200'), 200).data;
    const ofTenant = audited.filter((row: any) => row.resource_name === 'org-d');
    expect(ofTenant).toHaveLength(1);
    expect(ofTenant[0].before_digest).not.toBe(ofTenant[0].after_digest);
    expect((await patch(id, { external_organization_ids: null })).status).toBe(400);
    expect(codeOf(await patch(id, {}))).toEqual([422, 'validation_failed']);
    expect(codeOf(await patch(id, { external_organization_ids: ['x', 'x'] }))).toEqual([422, 'validation_failed']);
    expect(codeOf(await patch('ten_none', {}))).toEqual([404, 'tenant_not_found']);
    expect(codeOf(await patch(id, { external_organization_ids: ['org_a'] }, token))).toEqual([
      403,
      'scope_insufficient',
    ]);
    const other = (await whoAmI()).tenant.id;
    expect(codeOf(await patch(other, { external_organization_ids: ['org_a'] }, token))).toEqual([
      404,
      'tenant_not_found',
    ]);
    expect((await listed(id)).external_organization_ids).toEqual(['org_d1', 'org_d3']);
  });
});
