import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { bootApi, expectStatus, type TestApi } from './boot-api.js';

let api: TestApi;
let acme: { id: string; name: string; token: string };

beforeAll(async () => {
  api = await bootApi();
  acme = await api.createTenant('acme');
});

afterAll(async () => {
  await api?.close();
});

const DAY_MS = 86_400_000;

it('shows the caller', async () => {
  const body = expectStatus(await api.send('GET', '/api/v1/whoami'), 200);
  expect(body).toMatchObject({
    tenant: { name: 'default', is_operator: true },
    actor: { type: 'token', id: 'tok_boot' },
  });
  expect(body.scopes).toEqual(['viewer', 'operator', 'admin']);
  const theirs = expectStatus(await api.send('GET', '/api/v1/whoami', { token: acme.token }), 200);
  expect(theirs.tenant).toEqual({ id: acme.id, name: 'acme', is_operator: false });
});

it('creates tenants for the operator alone, each name once', async () => {
  expect(Object.keys(acme).sort()).toEqual(['id', 'name', 'token']);
  const again = await api.send('POST', '/api/v1/tenants', { body: { name: 'acme' } });
  expect([again.status, again.body.error.code]).toEqual([409, 'tenant_exists']);
  for (const [method, body] of [
    ['POST', { name: 'mine' }],
    ['GET', undefined],
  ] as const) {
    const refused = await api.send(method, '/api/v1/tenants', { body, token: acme.token });
    expect([refused.status, refused.body.error.code]).toEqual([403, 'scope_insufficient']);
  }
  const listed = expectStatus(await api.send('GET', '/api/v1/tenants'), 200);
  expect(listed.data.map((tenant: any) => tenant.name)).toEqual(['default', 'acme']);
  expect(JSON.stringify(listed)).not.toContain('slw_');
});

it('creates one tenant where many ask for the same name at once', async () => {
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => api.send('POST', '/api/v1/tenants', { body: { name: 'race' } })),
  );
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
});

it('10.2: takes no name that another tenant has in another case', async () => {
  for (const name of ['Acme', 'ACME', 'Default']) {
    const refused = await api.send('POST', '/api/v1/tenants', { body: { name } });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'tenant_exists']);
  }
  const answers = await Promise.all(
    ['twin', 'Twin', 'TWIN', 'tWin'].map((name) => api.send('POST', '/api/v1/tenants', { body: { name } })),
  );
  expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409]);
});

it.each(['', ' padded', 'padded ', 'x'.repeat(256), 'nul\u0000', 'ａcme', 'ac\u200bme', 'x\u202ey'])(
  'refuses the tenant name %j',
  async (name) => {
    expect((await api.send('POST', '/api/v1/tenants', { body: { name } })).status).toBe(422);
  },
);

it('shows a token once, lists it without its secret, revokes it for good', async () => {
  const created = expectStatus(
    await api.send('POST', '/api/v1/tokens', { body: { name: 'ci', scopes: ['operator', 'operator'] } }),
    201,
  );
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
  const listed = expectStatus(await api.send('GET', '/api/v1/tokens?limit=200'), 200);
  expect(listed.data.map((token: any) => token.id)).toContain(created.id);
  expect(JSON.stringify(listed)).not.toContain(created.token.slice(40));
  expect((await api.send('GET', '/api/v1/whoami', { token: created.token })).status).toBe(200);
  const revoked = expectStatus(await api.send('DELETE', `/api/v1/tokens/${created.id}`), 200);
  expect(revoked).toMatchObject({ id: created.id, state: 'revoked', revoked_by: 'token:tok_boot' });
  expect((await api.send('GET', '/api/v1/whoami', { token: created.token })).status).toBe(401);
  expect(expectStatus(await api.send('DELETE', `/api/v1/tokens/${created.id}`), 200)).toEqual(revoked);
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
  for (const body of refused) {
    const answer = await api.send('POST', '/api/v1/tokens', { body });
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_failed']);
  }
  for (const body of [
    { name: 1, scopes: ['viewer'] },
    { name: 'n', scopes: 'viewer' },
    { name: 'n', scopes: ['viewer'], expires_at: 1 },
  ]) {
    expect((await api.send('POST', '/api/v1/tokens', { body })).status).toBe(400);
  }
  expect(
    (await api.send('POST', '/api/v1/tokens', { body: { name: 'n', scopes: ['viewer'], expires_at: at(364) } })).status,
  ).toBe(201);
});

it('keeps the tokens of tenants apart', async () => {
  const mine = expectStatus(
    await api.send('POST', '/api/v1/tokens', { body: { name: 'mine', scopes: ['viewer'] } }),
    201,
  );
  const answer = await api.send('DELETE', `/api/v1/tokens/${mine.id}`, { token: acme.token });
  expect([answer.status, answer.body.error.code]).toEqual([404, 'token_not_found']);
  expect((await api.send('GET', '/api/v1/whoami', { token: mine.token })).status).toBe(200);
  const listed = expectStatus(await api.send('GET', '/api/v1/tokens', { token: acme.token }), 200);
  expect(listed.data.map((token: any) => token.name)).toEqual(['first']);
});

it('pages through tokens without skipping or repeating one', async () => {
  const { token } = await api.createTenant('pages');
  for (let i = 0; i < 6; i += 1) await api.createToken('viewer', token);
  const seen: string[] = [];
  let query = '?limit=3';
  for (;;) {
    const page = expectStatus(await api.send('GET', `/api/v1/tokens${query}`, { token }), 200);
    seen.push(...page.data.map((row: any) => row.id));
    if (page.next_cursor === null) break;
    query = `?limit=3&cursor=${page.next_cursor}`;
  }
  expect(seen).toHaveLength(7);
  expect(new Set(seen).size).toBe(7);
  expect([...seen].sort().reverse()).toEqual(seen);
});
