import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { QUOTAS } from '@slipway/platform-config';
import { Database, newId } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { configOf, MIGRATIONS, QUICK_LEASE, startApp } from './sandbox-app.js';
import { startServer, type ServerProcess } from './server-process.js';
import { clientOf, eventually, newTenant, type SandboxClient } from './tenants.js';

const MIB = 2 ** 20;

let testDatabase: TestDatabase;
let folder: string;
let app: NestFastifyApplication;
let origin: string;
let token: string;
/** Client of the process that lives on: it plays the other api and worker processes. */
let send: SandboxClient;
let id: string;
let server: ServerProcess | undefined;

beforeAll(async () => {
  testDatabase = await createTestDatabase(MIGRATIONS);
  folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-upload-process-'));
  const started = await startApp(
    configOf(testDatabase.url, {
      ...QUICK_LEASE,
      upload: { maxBytes: 200 * MIB, workspaceStore: `file:${folder}`, s3: { region: 'x' } },
    }),
  );
  ({ app, origin } = started);
  ({ token } = await newTenant(app));
  send = clientOf(started.origin, token);
});

beforeEach(async () => {
  ({ id } = (await send('POST', '/sandboxes', { json: {} })).body);
});

afterEach(async () => {
  await server?.kill();
});

afterAll(async () => {
  await app?.close();
  await testDatabase?.drop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const start = async (pausePoint?: string) =>
  (server = await startServer({
    databaseUrl: testDatabase.url,
    workspaceStore: `file:${folder}`,
    maxBytes: 200 * MIB,
    pausePoint,
  }));
const blobs = async () => await readdir(path.join(folder, id)).catch(() => [] as string[]);
const content = async () => (await send('GET', `/sandboxes/${id}/files?path=f`)).bytes;
const database = () => app.get(Database, { strict: false });
const strays = async () =>
  (await database().read('system', 'select 1 from sandbox_stray_blobs where sandbox_id = $1', [id])).length;

/**
 * Streams `total` bytes as fast as the server takes them. If `hold` is given, stops after that many and leaves the
 * request open.
 */
function stream(
  origin: string,
  total: number,
  options: { hold?: number; headers?: Record<string, string>; sandbox?: { id: string; token: string } } = {},
): { status: Promise<number>; more(bytes: number): void; destroy(): void } {
  const piece = randomBytes(64 * 1024);
  const into = options.sandbox ?? { id, token };
  const client = request(`${origin}/api/v1/sandboxes/${into.id}/files?path=f`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${into.token}`, 'content-type': 'application/octet-stream', ...options.headers },
  });
  const status = new Promise<number>((resolve, reject) => {
    client.on('response', (response) => resolve(response.resume().statusCode!));
    client.on('error', reject);
  });
  status.catch(() => undefined);
  void (async () => {
    for (let sent = 0; sent < (options.hold ?? total); sent += piece.length) {
      if (!client.write(piece.subarray(0, Math.min(piece.length, total - sent))))
        await new Promise((resolve) => client.once('drain', resolve));
    }
    if (options.hold === undefined) client.end();
  })();
  const more = (bytes: number) => void client.write(Buffer.alloc(bytes));
  return { status, more, destroy: () => void client.destroy() };
}

it('an upload of 100 MiB needs less than 50 MiB of memory', async () => {
  const { origin, memory } = await start();
  expect(await stream(origin, MIB).status).toBe(201);
  const { rss } = await memory('reset');
  expect(await stream(origin, 100 * MIB).status).toBe(200);
  const { peak } = await memory('peak');
  console.log(`100 MiB raised resident memory by ${((peak - rss) / MIB).toFixed(1)} MiB`);
  expect(peak - rss).toBeLessThan(50 * MIB);
  expect((await send('GET', `/sandboxes/${id}`)).body.workspace.bytes_used).toBe(100 * MIB);
}, 120_000);

it('an upload survives kill -9 in the middle of a body: the old file stays, and nothing else', async () => {
  await send('PUT', `/sandboxes/${id}/files?path=f`, { body: 'old' });
  const { origin, kill } = await start();
  const upload = stream(origin, 8 * MIB, { hold: 4 * MIB, headers: { 'idempotency-key': 'k' } });
  await eventually(async () => (await blobs()).some((name) => name.endsWith('.part')), 'the upload is being written');
  const early = await send('PUT', `/sandboxes/${id}/files?path=f`, { body: 'x', headers: { 'idempotency-key': 'k' } });
  expect([early.status, early.body.error.code]).toEqual([409, 'idempotency_in_progress']);
  await kill();
  upload.destroy();
  expect((await content()).toString()).toBe('old');
  await eventually(async () => (await strays()) === 0 && (await blobs()).length === 1, 'the sweep');
  expect((await content()).toString()).toBe('old');
  const retried = await eventually(async () => {
    const answer = await send('PUT', `/sandboxes/${id}/files?path=f`, {
      body: 'new',
      headers: { 'idempotency-key': 'k' },
    });
    return answer.status !== 409 && answer;
  }, 'the claim of the killed upload expires');
  expect(retried.status).toBe(200);
  expect((await content()).toString()).toBe('new');
}, 120_000);

it.each(['sandboxes:upload:written', 'sandboxes:upload:before-commit'])(
  'an upload survives kill -9 at %s',
  async (pausePoint) => {
    await send('PUT', `/sandboxes/${id}/files?path=f`, { body: 'old' });
    const { origin, paused, kill } = await start(pausePoint);
    const upload = stream(origin, MIB, { headers: { 'idempotency-key': 'k' } });
    await paused(pausePoint);
    expect((await blobs()).length).toBe(2);
    await kill();
    upload.destroy();
    expect((await content()).toString()).toBe('old');
    await eventually(async () => (await strays()) === 0 && (await blobs()).length === 1, 'the sweep');
    expect((await content()).toString()).toBe('old');
    expect((await send('GET', `/sandboxes/${id}`)).body.workspace).toMatchObject({ bytes_used: 3, file_count: 1 });
  },
  120_000,
);

it('an upload survives kill -9 between commit and answer: the new file is whole, and a retry gets its answer', async () => {
  await send('PUT', `/sandboxes/${id}/files?path=f`, { body: 'old' });
  const { origin, paused, kill } = await start('sandboxes:upload:after-commit');
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/octet-stream',
    'idempotency-key': 'k',
  };
  const first = fetch(`${origin}/api/v1/sandboxes/${id}/files?path=f`, { method: 'PUT', body: 'new', headers }).catch(
    () => undefined,
  );
  await paused('sandboxes:upload:after-commit');
  await kill();
  await first;
  expect((await content()).toString()).toBe('new');
  const retried = await send('PUT', `/sandboxes/${id}/files?path=f`, {
    body: 'new',
    headers: { 'idempotency-key': 'k' },
  });
  expect([retried.status, retried.headers['idempotency-replayed']]).toEqual([200, 'true']);
  await eventually(async () => (await strays()) === 0 && (await blobs()).length === 1, 'the replaced blob goes');
  expect((await content()).toString()).toBe('new');
}, 120_000);

describe('the bytes of unfinished uploads', () => {
  /** A new tenant whose quota has room for this many bytes, with a sandbox in each of two uploads. */
  async function nearlyFull(left: number) {
    const tenant = await newTenant(app);
    const client = clientOf(origin, tenant.token);
    const used = QUOTAS.sandbox_bytes.default - left;
    await database().tx('system', (tx) =>
      tx.query(
        `insert into sandboxes (id, tenant_id, provider, state, bytes_used, bytes_limit) values ($1, $2, 'local', 'running', $3, $3)`,
        [newId('sbx'), tenant.tenantId, used],
      ),
    );
    const sandbox = async () => ({
      id: (await client('POST', '/sandboxes', { json: {} })).body.id as string,
      ...tenant,
    });
    return { ...tenant, one: await sandbox(), other: await sandbox() };
  }

  const reserved = async (tenantId: string): Promise<number> => {
    const sum =
      'select coalesce(sum(reserved_bytes), 0)::float8 as bytes from sandbox_stray_blobs where tenant_id = $1';
    return (await database().read<{ bytes: number }>('system', sum, [tenantId]))[0]!.bytes;
  };
  const put = (sandbox: { id: string; token: string }, bytes: number, file = 'f') =>
    clientOf(origin, sandbox.token)('PUT', `/sandboxes/${sandbox.id}/files?path=${file}`, {
      body: Buffer.alloc(bytes),
    });
  const QUOTA = (quota: string) => ({ status: 429, body: { error: { code: 'quota_exceeded', quota } } });

  it('count in the quota as they arrive, in all processes, until what a dead process wrote is removed', async () => {
    const { tenantId, one, other } = await nearlyFull(3 * MIB);
    const { origin: elsewhere, kill } = await start();
    const first = stream(elsewhere, 8 * MIB, { hold: 2 * MIB, sandbox: one });
    await eventually(async () => (await reserved(tenantId)) === 2 * MIB, 'the first upload has two thirds');
    // Neither upload ends: the second one is refused at the byte that passes the quota.
    const second = stream(origin, 8 * MIB, { hold: 2 * MIB, sandbox: other });
    expect(await second.status).toBe(429);
    expect(await put(other, 2 * MIB)).toMatchObject(QUOTA('sandbox_bytes'));
    expect((await put(other, MIB)).status).toBe(201);
    await kill();
    first.destroy();
    await eventually(async () => (await reserved(tenantId)) === 0, 'the sweep');
    expect(await readdir(path.join(folder, one.id)).catch(() => [])).toEqual([]);
    expect((await put(one, 2 * MIB)).status).toBe(201);
    expect(await put(one, 1, 'g')).toMatchObject(QUOTA('sandbox_bytes'));
  }, 120_000);

  it('let one upload at a time replace a file of a full workspace', async () => {
    const { tenantId, one, other } = await nearlyFull(2 * MIB);
    for (const sandbox of [one, other]) expect((await put(sandbox, MIB)).status).toBe(201);
    const first = stream(origin, 8 * MIB, { hold: MIB / 2, sandbox: one });
    await eventually(async () => (await reserved(tenantId)) === MIB, 'the first upload has the size of its file');
    expect(await put(other, MIB)).toMatchObject(QUOTA('sandbox_bytes'));
    first.destroy();
    await eventually(async () => (await reserved(tenantId)) === 0, 'its end');
    expect((await put(other, MIB)).status).toBe(200);
  });

  it('come from a limited number of uploads', async () => {
    const { tenantId, one } = await nearlyFull(MIB);
    await database().tx('system', (tx) =>
      tx.query(
        `insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after, is_upload)
         select $2 || '/blob_' || n, $1, $2, now() + interval '1 hour', true from generate_series(1, $3::int) n`,
        [tenantId, one.id, QUOTAS.sandbox_uploads.default],
      ),
    );
    expect(await put(one, 1)).toMatchObject(QUOTA('sandbox_uploads'));
    await database().tx('system', (tx) =>
      tx.query(`delete from sandbox_stray_blobs where blob = $1 || '/blob_1'`, [one.id]),
    );
    expect((await put(one, 1)).status).toBe(201);
  });

  it('are refused once the upload has lost its lease', async () => {
    const { tenantId, one } = await nearlyFull(20 * MIB);
    const first = stream(origin, 8 * MIB, { hold: 512 * 1024, sandbox: one });
    await eventually(async () => (await reserved(tenantId)) > 0, 'it has begun');
    await database().tx('system', (tx) =>
      tx.query('update sandbox_stray_blobs set is_doomed = true where tenant_id = $1', [tenantId]),
    );
    first.more(2 * MIB);
    expect(await first.status).toBe(503);
  });
});
