import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { QUOTAS } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { FakeProvider } from './fake-provider.js';
import { configOf, MIGRATIONS, startApp } from './sandbox-app.js';
import { clientOf, eventually, newTenant, type SandboxClient } from './tenants.js';

let testDatabase: TestDatabase;
let folder: string;
let app: NestFastifyApplication;
let origin: string;
let tenantId: string;
let send: SandboxClient;
let other: SandboxClient;
let database: Database;
let provider: FakeProvider;

const CREDENTIAL = 'sentinel-credential-5c1d';

beforeAll(async () => {
  testDatabase = await createTestDatabase(MIGRATIONS);
  folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-sandboxes-'));
  const config = configOf(testDatabase.url, {
    upload: { maxBytes: 1 << 20, workspaceStore: `file:${folder}`, s3: { region: 'x' } },
  });
  ({ app, origin } = await startApp(config));
  database = app.get(Database, { strict: false });
  const first = await newTenant(app);
  tenantId = first.tenantId;
  send = clientOf(origin, first.token);
  other = clientOf(origin, (await newTenant(app)).token);
  provider = await FakeProvider.start();
});

afterAll(async () => {
  await app?.close();
  provider?.stop();
  await testDatabase?.drop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function register(body: object = {}) {
  const answer = await send('POST', '/sandboxes/references', {
    json: { provider: 'e2b', base_url: provider.url, external_id: 'ext-1', credential: CREDENTIAL, ...body },
  });
  expect(answer.status).toBe(201);
  return answer.body;
}

async function syncOf(sandboxId: string, filePath: string, wanted: string) {
  return eventually(async () => {
    const { body } = await send('GET', `/sandboxes/${sandboxId}/files`);
    return body.data.find((file: any) => file.path === filePath && file.sync === wanted);
  }, `sync of ${filePath} becomes ${wanted}`);
}

const audits = async (action: string) =>
  (await database.read('system', 'select 1 from audit_log where tenant_id = $1 and action = $2', [tenantId, action]))
    .length;

/** Of several requests for the last part of a quota, one is accepted, and the others name the quota. */
function expectOneAccepted(
  answers: Awaited<ReturnType<SandboxClient>>[],
  quota: 'sandboxes' | 'sandbox_files' | 'sandbox_bytes',
): void {
  const refused = answers.slice(1).map(() => 429);
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...refused]);
  const { error } = answers.find(({ status }) => status === 429)!.body;
  expect(error).toMatchObject({ code: 'quota_exceeded', quota, limit: QUOTAS[quota].default });
}

it('local sandboxes are created, listed and shown only to their tenant', async () => {
  const made = await send('POST', '/sandboxes', { json: { labels: { team: 'a' }, workspace: { bytes_limit: 1000 } } });
  expect(made.status).toBe(201);
  expect(made.headers['location']).toBe(`/api/v1/sandboxes/${made.body.id}`);
  expect(made.body).toEqual({
    id: expect.stringMatching(/^sbx_/),
    provider: 'local',
    reference_id: null,
    state: 'running',
    state_observed_at: expect.any(String),
    workspace: { bytes_used: 0, bytes_limit: 1000, file_count: 0 },
    labels: { team: 'a' },
    created_at: expect.any(String),
    expires_at: null,
    etag: made.headers['etag'],
  });
  expect((await send('GET', `/sandboxes/${made.body.id}`)).body).toEqual(made.body);
  for (const path of [made.body.id, `${made.body.id}/files`, `${made.body.id}/files?path=a`]) {
    const foreign = await other('GET', `/sandboxes/${path}`);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'sandbox_not_found']);
  }
  expect((await other('PUT', `/sandboxes/${made.body.id}/files`, { json: { path: 'a', content: 'b' } })).status).toBe(
    404,
  );
  expect((await other('GET', '/sandboxes')).body.data).toEqual([]);
  const second = await send('POST', '/sandboxes', { json: {} });
  const page = await send('GET', '/sandboxes?limit=1');
  expect(page.body.data.map((one: any) => one.id)).toEqual([second.body.id]);
  const rest = await send('GET', `/sandboxes?limit=1&cursor=${page.body.next_cursor}`);
  expect(rest.body.data.map((one: any) => one.id)).toEqual([made.body.id]);
  expect(await audits('sandbox.create')).toBe(2);
});

it.each([
  ['an external provider without a reference', { provider: 'e2b' }, 422, 'reference_id'],
  ['a past expiry', { expires_at: '2020-01-01T00:00:00Z' }, 422, 'expires_at'],
  ['an expiry beyond all reason', { expires_at: '9999-12-31T23:59:59-23:59' }, 422, 'expires_at'],
  ['a workspace beyond the limit', { workspace: { bytes_limit: 2 ** 50 } }, 422, 'workspace.bytes_limit'],
  ['an unknown provider', { provider: 'other' }, 422, 'provider'],
  ['mistyped labels', { labels: 1 }, 400, 'labels'],
])('a sandbox with %s is refused', async (_what, json, status, field) => {
  const answer = await send('POST', '/sandboxes', { json });
  expect([answer.status, answer.body.error.details[0].field]).toEqual([status, field]);
});

it('an expiry may have any offset', async () => {
  const made = await send('POST', '/sandboxes', { json: { expires_at: '2050-01-01T00:00:00.5-23:59' } });
  expect([made.status, made.body.expires_at]).toEqual([201, '2050-01-01T23:59:00.500Z']);
});

it('an unknown reference is a 404', async () => {
  expect((await send('POST', '/sandboxes', { json: { reference_id: 'sbr_x' } })).body.error.code).toBe(
    'sandbox_reference_not_found',
  );
  expect((await send('DELETE', '/sandboxes/references/sbr_x')).body.error.code).toBe('sandbox_reference_not_found');
});

it('a credential is sealed and never shown', async () => {
  const reference = await register();
  expect(reference).toEqual({
    id: expect.stringMatching(/^sbr_/),
    sandbox_id: expect.stringMatching(/^sbx_/),
    provider: 'e2b',
    base_url: provider.url,
    external_id: 'ext-1',
    egress_allowed: true,
    state: 'active',
    revoked_at: null,
    revoked_by: null,
    created_at: expect.any(String),
  });
  const shown = await Promise.all(
    ['/sandboxes', '/sandboxes/references', `/sandboxes/${reference.sandbox_id}`].map((one) => send('GET', one)),
  );
  expect(shown.map((one) => one.bytes.toString()).join()).not.toContain(CREDENTIAL);
  const [row] = await database.read<{ credential: string }>(
    'system',
    'select credential from sandbox_references where id = $1',
    [reference.id],
  );
  expect(row!.credential).toMatch(/^v2\./);
  expect((await other('DELETE', `/sandboxes/references/${reference.id}`)).status).toBe(404);
  expect((await other('GET', '/sandboxes/references')).body.data).toEqual([]);
});

it.each([
  ['http://169.254.169.254', 'address_not_allowed'],
  ['http://10.0.0.1', 'address_not_allowed'],
  ['http://168.63.129.16', 'address_not_allowed'],
  ['https://localhost', 'address_not_allowed'],
  ['http://0x7f.1', 'host_not_canonical'],
  ['https://user:pass@sandbox.example.com', 'userinfo_not_allowed'],
  ['https://sandbox.example.com/?a=b', 'invalid_url'],
  ['ftp://sandbox.example.com', 'scheme_not_allowed'],
])('the base URL %s is refused', async (base_url, code) => {
  const answer = await send('POST', '/sandboxes/references', {
    json: { provider: 'custom', base_url, external_id: 'x' },
  });
  expect([answer.status, answer.body.error.details[0]]).toMatchObject([422, { field: 'base_url', code }]);
});

it('files are passed on in the format of E2B', async () => {
  provider.received = [];
  const { sandbox_id } = await register();
  const put = await send('PUT', `/sandboxes/${sandbox_id}/files`, {
    json: { path: 'dir/ü "1".txt', content: 'hello' },
  });
  expect(put.body).toMatchObject({ sync: 'pending', sync_operation_id: expect.stringMatching(/^op_/) });
  await syncOf(sandbox_id, 'dir/ü "1".txt', 'synced');
  expect(provider.received).toHaveLength(1);
  const [call] = provider.received;
  expect([call!.method, call!.url]).toEqual(['POST', `/files?path=${encodeURIComponent('dir/ü "1".txt')}`]);
  expect(call!.headers).toMatchObject({
    'x-access-token': CREDENTIAL,
    'content-type': expect.stringMatching(/^multipart\/form-data; boundary=/),
  });
  expect(call!.headers['authorization']).toBeUndefined();
  const form = await new Response(call!.body, {
    headers: { 'content-type': call!.headers['content-type'] as string },
  }).formData();
  expect(await (form.get('file') as File).text()).toBe('hello');
  expect((await send('GET', `/sandboxes/${sandbox_id}`)).body.state).toBe('running');
});

it('files are passed on in the format of Daytona, and as streams in the format of Slipway', async () => {
  provider.received = [];
  const daytona = await register({ provider: 'daytona', base_url: `${provider.url}/api/` });
  await send('PUT', `/sandboxes/${daytona.sandbox_id}/files?path=a/b`, { body: 'bytes' });
  await syncOf(daytona.sandbox_id, 'a/b', 'synced');
  const custom = await register({ provider: 'custom' });
  await send('PUT', `/sandboxes/${custom.sandbox_id}/files?path=a/b`, { body: 'bytes' });
  await syncOf(custom.sandbox_id, 'a/b', 'synced');
  expect(provider.received.map(({ method, url, headers }) => [method, url, headers['authorization']])).toEqual([
    ['POST', '/api/toolbox/ext-1/toolbox/files/upload?path=a%2Fb', `Bearer ${CREDENTIAL}`],
    ['PUT', '/ext-1/files?path=a%2Fb', `Bearer ${CREDENTIAL}`],
  ]);
  expect(provider.received[1]!.body).toBe('bytes');
});

it('a push is sent again after an outage, gives up after a refusal, and quotes neither answer', async () => {
  provider.received = [];
  provider.answers = [503, 200];
  const { sandbox_id } = await register();
  await send('PUT', `/sandboxes/${sandbox_id}/files?path=again`, { body: 'x' });
  await syncOf(sandbox_id, 'again', 'synced');
  expect(provider.received).toHaveLength(2);
  provider.answers = [403];
  await send('PUT', `/sandboxes/${sandbox_id}/files?path=never`, { body: 'x' });
  const failed = await syncOf(sandbox_id, 'never', 'failed');
  expect(failed.sync_error).toBe('The external sandbox rejected the file with status 403.');
  const stored = await database.read(
    'system',
    `select to_jsonb(o) as row from operations o union all select to_jsonb(s) from operation_steps s
    union all select to_jsonb(e) from events e union all select to_jsonb(a) from audit_log a union all select to_jsonb(i) from idempotency_keys i`,
  );
  expect(JSON.stringify(stored)).not.toContain(CREDENTIAL);
});

it.each([
  ['as seconds', () => '40', 40],
  ['as a date', () => new Date(Date.now() + 40_000).toUTCString(), 40],
  ['for far too long, an hour counts', () => '9'.repeat(30), 3_600],
  ['in no valid form, its own pause counts', () => '-40', 1],
])('a push waits as long as the sandbox requests: %s', async (_what, header, seconds) => {
  provider.answers = [503];
  provider.retryAfter = header();
  const { id, sandbox_id } = await register();
  try {
    await send('PUT', `/sandboxes/${sandbox_id}/files?path=later`, { body: 'x' });
    const wait = await eventually(async () => {
      const [row] = await database.read<{ seconds: number }>(
        'system',
        `select extract(epoch from o.wake_at - now())::float8 as seconds from operations o
         join operation_steps s on s.operation_id = o.id
         where s.message like 'Attempt 1 failed%' and o.input->>'sandboxId' = $1 and o.input->>'path' = 'later'`,
        [sandbox_id],
      );
      return row?.seconds;
    }, 'the next attempt is planned');
    expect(wait).toBeLessThanOrEqual(seconds);
    expect(wait).toBeGreaterThan(seconds - 10);
  } finally {
    provider.retryAfter = undefined;
    // Ends the push, which would otherwise be tried again during another test.
    await send('DELETE', `/sandboxes/references/${id}`);
  }
});

it('no file is sent to an address that the operator does not allow', async () => {
  const reference = await register({ base_url: 'https://sandbox.example.com' });
  expect(reference.egress_allowed).toBe(false);
  await send('PUT', `/sandboxes/${reference.sandbox_id}/files?path=a`, { body: 'x' });
  expect((await syncOf(reference.sandbox_id, 'a', 'failed')).sync_error).toMatch(/does not allow/);
});

it('a revocation makes no call, repeats its answer, and erases the credential', async () => {
  const reference = await register({ provider: 'daytona' });
  const second = (await send('POST', '/sandboxes', { json: { reference_id: reference.id } })).body;
  expect(second).toMatchObject({
    provider: 'daytona',
    reference_id: reference.id,
    state: 'unknown',
    state_observed_at: null,
  });
  await send('PUT', `/sandboxes/${second.id}/files`, { json: { path: 'kept', content: '1' } });
  await syncOf(second.id, 'kept', 'synced');
  provider.received = [];
  const before = await audits('sandbox_reference.revoke');
  const first = await send('DELETE', `/sandboxes/references/${reference.id}`);
  expect([first.status, first.body]).toEqual([
    200,
    { id: reference.id, state: 'revoked', revoked_at: expect.any(String), external_sandbox_changed: false },
  ]);
  const again = await send('DELETE', `/sandboxes/references/${reference.id}`);
  expect([again.status, again.body]).toEqual([200, first.body]);
  expect((await audits('sandbox_reference.revoke')) - before).toBe(1);
  const [row] = await database.read<any>(
    'system',
    'select credential, revoked_by from sandbox_references where id = $1',
    [reference.id],
  );
  expect(row).toEqual({ credential: null, revoked_by: expect.stringMatching(/^token:/) });
  for (const id of [reference.sandbox_id, second.id]) {
    const refused = await send('PUT', `/sandboxes/${id}/files`, { json: { path: 'late', content: '1' } });
    expect([refused.status, refused.body.error.code]).toEqual([410, 'sandbox_reference_revoked']);
  }
  expect((await send('POST', '/sandboxes', { json: { reference_id: reference.id } })).status).toBe(410);
  expect((await send('GET', `/sandboxes/${second.id}/files?path=kept`)).bytes.toString()).toBe('1');
  const listed = (await send('GET', '/sandboxes/references')).body.data.find((one: any) => one.id === reference.id);
  expect(listed).toMatchObject({ state: 'revoked', revoked_at: first.body.revoked_at });
  expect(provider.received).toEqual([]);
});

it('a revocation cuts running transfers', async () => {
  provider.received = [];
  provider.answers = [FakeProvider.SLOW];
  const reference = await register();
  await send('PUT', `/sandboxes/${reference.sandbox_id}/files?path=a`, { body: 'x' });
  await eventually(async () => provider.received.length === 1, 'the push is on its way');
  const before = provider.closed;
  await send('DELETE', `/sandboxes/references/${reference.id}`);
  await eventually(async () => provider.closed === before + 1, 'the connection is cut');
  await syncOf(reference.sandbox_id, 'a', 'failed');
  expect(provider.received).toHaveLength(1);
});

it('the newest version stays in the sandbox even if an older one arrives late', async () => {
  provider.received = [];
  provider.answers = [FakeProvider.SLOW];
  const { sandbox_id } = await register({ provider: 'custom' });
  await send('PUT', `/sandboxes/${sandbox_id}/files?path=a`, { body: 'old' });
  await eventually(async () => provider.received.length === 1, 'the old version is on its way');
  await send('PUT', `/sandboxes/${sandbox_id}/files?path=a`, { body: 'new' });
  await syncOf(sandbox_id, 'a', 'synced');
  provider.release();
  await eventually(async () => provider.received.length === 3, 'the late one is followed by the newest');
  expect(provider.received.map((call) => call.body)).toEqual(['old', 'new', 'new']);
  await eventually(
    async () =>
      (
        await database.read<any>(
          'system',
          `select count(*)::int as n from operations where resource_name = $1 and status = 'succeeded'`,
          [sandbox_id],
        )
      )[0].n === 2,
    'both end',
  );
});

it('a revocation stops pending pushes', async () => {
  provider.received = [];
  provider.answers = [503, 503, 503, 503];
  const reference = await register();
  await send('PUT', `/sandboxes/${reference.sandbox_id}/files?path=a`, { body: 'x' });
  await eventually(async () => provider.received.length > 0, 'the first try');
  await send('DELETE', `/sandboxes/references/${reference.id}`);
  provider.answers = [];
  // A slow machine may have retried before the revocation.
  const sent = provider.received.length;
  expect((await syncOf(reference.sandbox_id, 'a', 'failed')).sync_error).toMatch(/revoked/);
  const [file] = (await send('GET', `/sandboxes/${reference.sandbox_id}/files`)).body.data;
  await eventually(
    async () =>
      (await database.read<any>('system', 'select status from operations where id = $1', [file.sync_operation_id]))[0]
        .status === 'failed',
    'the operation ends',
  );
  expect(provider.received).toHaveLength(sent);
});

it('a sandbox and its files are removed when it expires', async () => {
  const made = (await send('POST', '/sandboxes', { json: { expires_at: new Date(Date.now() + 60_000).toISOString() } }))
    .body;
  expect((await send('PUT', `/sandboxes/${made.id}/files?path=a`, { body: 'x' })).status).toBe(201);
  // The minute passes.
  await database.tx('system', (tx) =>
    tx.query(`update sandboxes set expires_at = expires_at - interval '1 minute' where id = $1`, [made.id]),
  );
  await eventually(async () => (await send('GET', `/sandboxes/${made.id}`)).status === 404, 'expiry');
  await eventually(
    async () =>
      (
        await database.read(
          'system',
          'select 1 from sandbox_files where sandbox_id = $1 union all select 1 from sandbox_stray_blobs where sandbox_id = $1',
          [made.id],
        )
      ).length === 0,
    'the sweep',
  );
  expect((await send('PUT', `/sandboxes/${made.id}/files?path=a`, { body: 'x' })).status).toBe(404);
});

it('a tenant gets no more sandboxes than its quota, even with concurrent clients', async () => {
  const crowded = await newTenant(app);
  const client = clientOf(origin, crowded.token);
  const fill = `insert into sandboxes (id, tenant_id, provider, state, bytes_limit) select 'sbx_fill' || n, $1, 'local', 'running', 1 from generate_series(1, $2) n`;
  await database.tx('system', (tx) => tx.query(fill, [crowded.tenantId, QUOTAS.sandboxes.default - 1]));
  const reference = { provider: 'custom', base_url: provider.url, external_id: 'x' };
  const answers = await Promise.all(
    [0, 1, 2, 3].flatMap(() => [
      client('POST', '/sandboxes', { json: {} }),
      client('POST', '/sandboxes/references', { json: reference }),
    ]),
  );
  expectOneAccepted(answers, 'sandboxes');
  expect((await send('POST', '/sandboxes', { json: {} })).status).toBe(201);
});

it('a sandbox gets no more files than its quota, empty ones included', async () => {
  const { id } = (await send('POST', '/sandboxes', { json: {} })).body;
  const put = (name: string) => send('PUT', `/sandboxes/${id}/files?path=${name}`, { body: '' });
  expect((await put('a')).status).toBe(201);
  const fill = 'update sandboxes set file_count = $2 where id = $1';
  await database.tx('system', (tx) => tx.query(fill, [id, QUOTAS.sandbox_files.default - 1]));
  const answers = await Promise.all(['b', 'c', 'd', 'e'].map(put));
  expectOneAccepted(answers, 'sandbox_files');
  expect((await put('a')).status).toBe(200);
});

it('a tenant gets no more bytes than its quota, in any of its sandboxes', async () => {
  const full = await newTenant(app);
  const client = clientOf(origin, full.token);
  const limit = QUOTAS.sandbox_bytes.default;
  const fill = `insert into sandboxes (id, tenant_id, provider, state, bytes_used, bytes_limit) values ('sbx_full', $1, 'local', 'running', $2, $2)`;
  await database.tx('system', (tx) => tx.query(fill, [full.tenantId, limit - 5]));
  const ids: string[] = [];
  for (let made = 0; made < 4; made += 1) ids.push((await client('POST', '/sandboxes', { json: {} })).body.id);
  const answers = await Promise.all(ids.map((id) => client('PUT', `/sandboxes/${id}/files?path=a`, { body: '12345' })));
  expectOneAccepted(answers, 'sandbox_bytes');
  const taken = ids[answers.findIndex(({ status }) => status === 201)];
  expect((await client('PUT', `/sandboxes/${taken}/files?path=a`, { body: '123' })).status).toBe(200);
  expect((await client('PUT', `/sandboxes/${taken}/files?path=b`, { body: '45' })).status).toBe(201);
  expect((await client('PUT', `/sandboxes/${taken}/files?path=c`, { body: '6' })).status).toBe(429);
  expect((await client('PUT', `/sandboxes/${taken}/files?path=c`, { body: '' })).status).toBe(201);
});

it('a patch changes labels, expiry and limit of a sandbox, if no other change was faster', async () => {
  const { id, etag } = (
    await send('POST', '/sandboxes', { json: { labels: { a: '1', b: '2' }, workspace: { bytes_limit: 10 } } })
  ).body;
  await send('PUT', `/sandboxes/${id}/files?path=a`, { body: '12345' });
  const patch = (json: object, headers = {}) => send('PATCH', `/sandboxes/${id}`, { json, headers });
  const expires_at = '2050-01-01T00:00:00Z';
  const made = await patch({ labels: { a: null, c: '3' }, expires_at, workspace: { bytes_limit: 5 } });
  expect([made.status, made.body]).toMatchObject([
    200,
    {
      labels: { b: '2', c: '3' },
      expires_at: '2050-01-01T00:00:00.000Z',
      workspace: { bytes_limit: 5, bytes_used: 5 },
    },
  ]);
  expect((await patch({ labels: { a: null } }, { 'if-match': made.headers['etag']! })).body).toEqual(made.body);
  expect((await patch({ labels: null }, { 'if-match': etag })).status).toBe(412);
  const reset = await patch({ labels: null, expires_at: null, workspace: null });
  expect(reset.body).toMatchObject({ labels: {}, expires_at: null, workspace: { bytes_limit: 2 ** 30 } });
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, 'v']));
  for (const [json, field] of [
    [{ workspace: { bytes_limit: 4 } }, 'workspace.bytes_limit'],
    [{ workspace: { bytes_limit: 2 ** 50 } }, 'workspace.bytes_limit'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ labels: many }, 'labels'],
  ] as const)
    expect((await patch(json)).body.error).toMatchObject({ code: 'validation_failed', details: [{ field }] });
  expect((await other('PATCH', `/sandboxes/${id}`, { json: { expires_at: '2020-01-01T00:00:00Z' } })).status).toBe(404);
  expect(await audits('sandbox.update')).toBe(2);
});

it('a deleted sandbox takes its files with it, and leaves its reference, which goes when it is revoked', async () => {
  const { id: reference, sandbox_id } = await register();
  await send('PUT', `/sandboxes/${sandbox_id}/files?path=a`, { body: '1' });
  const [{ blob }] = (await database.read<{ blob: string }>(
    'system',
    'select blob from sandbox_files where sandbox_id = $1',
    [sandbox_id],
  )) as [{ blob: string }];
  const record = `/sandboxes/references/${reference}/record`;
  expect((await send('DELETE', record)).body.error.code).toBe('sandbox_reference_active');
  await send('DELETE', `/sandboxes/references/${reference}`);
  expect((await send('DELETE', record)).body.error).toMatchObject({
    code: 'sandbox_reference_in_use',
    used_by: [{ type: 'sandbox', id: sandbox_id }],
  });
  const { etag } = (await send('GET', `/sandboxes/${sandbox_id}`)).body;
  expect((await other('DELETE', `/sandboxes/${sandbox_id}`)).status).toBe(404);
  expect((await send('DELETE', `/sandboxes/${sandbox_id}`, { headers: { 'if-match': '"other"' } })).status).toBe(412);
  const before = provider.received.length;
  const gone = await send('DELETE', `/sandboxes/${sandbox_id}`, { headers: { 'if-match': etag } });
  expect(gone.body).toEqual({ id: sandbox_id, state: 'deleted', external_sandbox_changed: false });
  expect(provider.received.length).toBe(before);
  expect((await send('GET', `/sandboxes/${sandbox_id}/files`)).status).toBe(404);
  const isStored = () =>
    stat(path.join(folder, blob)).then(
      () => true,
      () => false,
    );
  await eventually(async () => !(await isStored()), 'the content is removed');
  expect((await other('DELETE', record)).status).toBe(404);
  expect((await send('DELETE', record)).body).toMatchObject({ id: reference, state: 'deleted' });
  expect((await send('DELETE', record)).status).toBe(404);
});
