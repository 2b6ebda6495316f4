import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createHash, randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Database } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { configOf, MIGRATIONS, startApp } from './sandbox-app.js';
import { startS3, type S3Server } from './s3-server.js';
import { clientOf, eventually, newTenant, type SandboxClient } from './tenants.js';

const LIMIT = 300_000;

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const digestHeader = (bytes: Buffer | string, algorithm: 'sha256' | 'sha512' = 'sha256') =>
  `${algorithm === 'sha256' ? 'sha-256' : 'sha-512'}=:${createHash(algorithm).update(bytes).digest('base64')}:`;

interface StoreUnderTest {
  workspaceStore: string;
  endpoint?: string;
  contents(): Promise<string[]>;
  stop(): Promise<void>;
}

async function onDisk(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-uploads-'));
  return {
    workspaceStore: `file:${folder}`,
    contents: () => readdir(folder, { recursive: true }),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function onS3(): Promise<StoreUnderTest> {
  const server: S3Server = await startS3();
  return {
    workspaceStore: 's3://workspaces/w',
    endpoint: server.endpoint,
    contents: server.contents,
    stop: server.stop,
  };
}

describe.each([
  ['disk', onDisk],
  ['s3', onS3],
])('files on %s', (_name, provide) => {
  let testDatabase: TestDatabase;
  let stored: StoreUnderTest;
  let app: NestFastifyApplication;
  let origin: string;
  let token: string;
  let send: SandboxClient;
  let database: Database;
  let id: string;

  beforeAll(async () => {
    testDatabase = await createTestDatabase(MIGRATIONS);
    stored = await provide();
    const s3 = { endpoint: stored.endpoint, region: 'us-east-1' };
    ({ app, origin } = await startApp(
      configOf(testDatabase.url, { upload: { maxBytes: LIMIT, workspaceStore: stored.workspaceStore, s3 } }),
    ));
    database = app.get(Database, { strict: false });
    ({ token } = await newTenant(app));
    send = clientOf(origin, token);
  });

  afterAll(async () => {
    await app?.close();
    await testDatabase?.drop();
    await stored?.stop();
  });

  beforeEach(async () => {
    ({ id } = (await send('POST', '/sandboxes', { json: { workspace: { bytes_limit: 500_000 } } })).body);
  });

  const put = (file: string, body: any, headers: Record<string, string> = {}, query = '') =>
    send('PUT', `/sandboxes/${id}/files?path=${encodeURIComponent(file)}${query}`, { body, headers });
  const get = (file: string, headers: Record<string, string> = {}) =>
    send('GET', `/sandboxes/${id}/files?path=${encodeURIComponent(file)}`, { headers });
  const workspace = async () => (await send('GET', `/sandboxes/${id}`)).body.workspace;
  const blobs = async () => (await stored.contents()).filter((name) => name.includes(`${id}/`) || name === id);
  const strays = async () =>
    (await database.read('system', 'select 1 from sandbox_stray_blobs where sandbox_id = $1', [id])).length;

  async function expectNothingLeft(): Promise<void> {
    expect([await workspace(), await blobs(), await strays()]).toEqual([
      { bytes_used: 0, bytes_limit: 500_000, file_count: 0 },
      [],
      0,
    ]);
  }

  it('takes a file as JSON, returns it, and replaces it', async () => {
    const made = await send('PUT', `/sandboxes/${id}/files`, {
      json: { path: 'data/ä.txt', content: 'hé', mode: '755', sha256: sha256('hé').toUpperCase(), surplus: 1 },
    });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      path: 'data/ä.txt',
      size_bytes: 3,
      sha256: sha256('hé'),
      mode: '0755',
      modified_at: expect.any(String),
      sync: 'none',
      sync_error: null,
      sync_operation_id: null,
      warnings: [{ code: 'unknown_field', field: 'surplus' }],
    });
    expect(made.headers).toMatchObject({
      etag: `"${sha256('hé')}"`,
      location: `/api/v1/sandboxes/${id}/files?path=data%2F%C3%A4.txt`,
    });
    const replaced = await send('PUT', `/sandboxes/${id}/files`, {
      json: { path: 'data/ä.txt', content: Buffer.from('\0bin').toString('base64'), encoding: 'base64' },
    });
    expect([replaced.status, replaced.body.mode]).toEqual([200, '0644']);
    const file = await get('data/ä.txt');
    expect(file.bytes.toString()).toBe('\0bin');
    expect(file.headers).toMatchObject({
      etag: `"${sha256('\0bin')}"`,
      'content-digest': digestHeader('\0bin'),
      'content-length': '4',
      'content-type': 'application/octet-stream',
      'x-content-type-options': 'nosniff',
    });
    expect((await get('data/ä.txt', { 'if-none-match': file.headers['etag']! })).status).toBe(304);
    expect(await workspace()).toEqual({ bytes_used: 4, bytes_limit: 500_000, file_count: 1 });
    expect([(await blobs()).filter((name) => name.includes('blob_')).length, await strays()]).toEqual([1, 0]);
  });

  it('keeps content that no text column can: NUL in a text, and an empty file', async () => {
    await send('PUT', `/sandboxes/${id}/files`, { json: { path: 'nul', content: 'a\0b' } });
    expect((await get('nul')).bytes.toString()).toBe('a\0b');
    expect((await send('PUT', `/sandboxes/${id}/files`, { json: { path: 'empty', content: '' } })).status).toBe(201);
    expect((await put('empty2', '')).body.size_bytes).toBe(0);
    expect((await get('empty2')).bytes.length).toBe(0);
  });

  it('lists files by path, in pages', async () => {
    for (const name of ['b', 'a/1', 'a/2', 'ab']) await put(name, name);
    const page = await send('GET', `/sandboxes/${id}/files?limit=3`);
    expect(page.body.data.map((file: any) => file.path)).toEqual(['a/1', 'a/2', 'ab']);
    expect((await send('GET', `/sandboxes/${id}/files?limit=3&cursor=${page.body.next_cursor}`)).body).toMatchObject({
      data: [{ path: 'b' }],
      next_cursor: null,
    });
  });

  it.each([
    '',
    '/etc/passwd',
    '../x',
    'a/../b',
    'a/..',
    './a',
    'a//b',
    'a/',
    'a\0b',
    'a\\b',
    'a\nb',
    '..',
    'a long name',
    'a long path',
  ])('refuses the path %j in every form', async (what) => {
    const bad = what === 'a long name' ? 'x'.repeat(256) : what === 'a long path' ? `${'ä/'.repeat(342)}x` : what;
    const answers = [
      await send('PUT', `/sandboxes/${id}/files`, { json: { path: bad, content: 'x' } }),
      await put(bad, 'x'),
    ];
    if (!bad.includes('\0')) answers.push(await get(bad));
    for (const answer of answers) expect([answer.status, answer.body.error.code]).toEqual([400, 'path_invalid']);
    await expectNothingLeft();
  });

  it('accepts a path of exactly 1024 bytes', async () => {
    const longest = `${'d/'.repeat(500)}${'x'.repeat(24)}`;
    expect((await put(longest, 'x')).status).toBe(201);
    expect((await put(`${longest}y`, 'x')).status).toBe(400);
  });

  it.each([
    ['no path', { content: 'x' }, 422, 'path'],
    ['no content', { path: 'a' }, 422, 'content'],
    ['mistyped content', { path: 'a', content: 1 }, 400, 'content'],
    ['a mistyped path', { path: 1, content: '' }, 400, 'path'],
    ['broken base64', { path: 'a', content: 'a===', encoding: 'base64' }, 422, 'content'],
    ['a lone surrogate', { path: 'a', content: '\ud800' }, 422, 'content'],
    ['a mode of its own', { path: 'a', content: '', mode: '999' }, 422, 'mode'],
    ['a short sha256', { path: 'a', content: '', sha256: 'ab' }, 422, 'sha256'],
  ])('refuses JSON with %s', async (_what, json, status, field) => {
    const answer = await send('PUT', `/sandboxes/${id}/files`, { json });
    expect([answer.status, answer.body.error.details[0].field]).toEqual([status, field]);
    const unknown = await send('PUT', `/sandboxes/sbx_unknown/files`, { json });
    expect(unknown.status).toBe(status === 422 ? 404 : 400);
  });

  it('refuses a stream without a path, and other media types', async () => {
    expect((await send('PUT', `/sandboxes/${id}/files`, { body: 'x' })).body.error).toMatchObject({
      code: 'validation_failed',
      details: [{ field: 'path' }],
    });
    expect((await put('a', 'x', { 'content-type': 'text/plain' })).status).toBe(415);
  });

  it('obeys options in the query next to a JSON body, and refuses those that are malformed or differ', async () => {
    const upload = (query: string, json: object) => send('PUT', `/sandboxes/${id}/files?${query}`, { json });
    expect((await upload('mode=0600', { path: 'beside', content: '1' })).body).toMatchObject({ mode: '0600' });
    for (const [query, status, code] of [
      ['overwrite=false', 409, undefined],
      ['overwrite=AAA', 400, 'type'],
      ['mode=rw', 422, 'pattern'],
      ['path=other', 422, 'differs'],
      ['path=../up', 400, 'path_invalid'],
    ] as const) {
      const answer = await upload(query, { path: 'beside', content: '2' });
      expect([query, answer.status, answer.body.error.details?.[0].code]).toEqual([query, status, code]);
    }
    expect((await get('beside')).bytes.toString()).toBe('1');
    expect((await upload('path=filled', { content: '3' })).status).toBe(201);
    expect((await upload('path=..%2Fup', { content: '3' })).body.error.code).toBe('path_invalid');
  });

  it('refuses to replace a file if the request forbids it', async () => {
    expect((await put('once', '1', {}, '&overwrite=false')).status).toBe(201);
    for (const answer of [
      await put('once', '2', {}, '&overwrite=false'),
      await send('PUT', `/sandboxes/${id}/files`, { json: { path: 'once', content: '2', overwrite: false } }),
    ]) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'file_exists']);
    }
    expect((await put('once/more', 'x')).body.error).toMatchObject({ code: 'file_exists' });
    await put('folder/file', 'x');
    expect((await put('folder', 'x')).body.error).toMatchObject({ code: 'file_exists' });
    expect((await put('folder0', 'x')).status).toBe(201);
    expect((await get('once')).bytes.toString()).toBe('1');
    expect(await strays()).toBe(0);
  });

  it('writes under the conditions of the request', async () => {
    const before = await strays();
    expect((await put('held', '1', { 'if-match': '*' })).body.error).toMatchObject({ code: 'precondition_failed' });
    const first = await put('held', '1', { 'if-none-match': '*' });
    const etag = String(first.headers['etag']);
    expect([first.status, etag]).toEqual([201, `"${first.body.sha256}"`]);
    const failing: Record<string, string>[] = [
      { 'if-none-match': '*' },
      { 'if-none-match': etag },
      { 'if-match': '"other"' },
    ];
    for (const headers of failing) {
      const refused = await put('held', '2', headers);
      expect([refused.status, refused.headers['etag']]).toEqual([412, etag]);
    }
    expect((await put('held', '2', { 'if-match': etag })).status).toBe(200);
    expect((await put('held', '3', { 'if-match': etag })).status).toBe(412);
    expect([(await get('held')).bytes.toString(), await strays()]).toEqual(['2', before]);
  });

  it('lets one of many writers of a new file win if none may replace it', async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_one, index) => put('race', String(index), {}, '&overwrite=false')),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    expect((await get('race')).bytes.toString()).toBe(String(answers.findIndex((answer) => answer.status === 201)));
    expect([(await blobs()).filter((name) => name.includes('blob_')).length, await strays()]).toEqual([1, 0]);
  });

  it('verifies Content-Digest of both forms, and sha256', async () => {
    expect(
      (
        await put('a', 'right', {
          'content-digest': `${digestHeader('right')}, ${digestHeader('right', 'sha512')}, md5=:AAAA:`,
        })
      ).status,
    ).toBe(201);
    const wrong = [
      await put('b', 'right', { 'content-digest': digestHeader('wrong') }),
      await put('b', 'right', { 'content-digest': `${digestHeader('right')}, ${digestHeader('wrong', 'sha512')}` }),
      await put('b', 'right', {}, `&sha256=${sha256('wrong')}`),
      await send('PUT', `/sandboxes/${id}/files`, { json: { path: 'b', content: 'right', sha256: sha256('wrong') } }),
      await send('PUT', `/sandboxes/${id}/files`, {
        json: { path: 'b', content: 'right' },
        headers: { 'content-digest': digestHeader('right') },
      }),
    ];
    for (const answer of wrong) expect([answer.status, answer.body.error.code]).toEqual([422, 'digest_mismatch']);
    const message = JSON.stringify({ path: 'b', content: 'right' });
    expect(
      (
        await send('PUT', `/sandboxes/${id}/files`, {
          json: { path: 'b', content: 'right' },
          headers: { 'content-digest': digestHeader(message) },
        })
      ).status,
    ).toBe(201);
    for (const header of ['sha-256=abc', 'sha-256=:AAAA:', 'nonsense'])
      expect((await put('c', 'x', { 'content-digest': header })).status).toBe(400);
    expect([await strays(), (await workspace()).file_count]).toEqual([0, 2]);
  });

  it('accepts a file of exactly the limit, and leaves nothing of one byte more, declared or not', async () => {
    const exact = randomBytes(LIMIT);
    expect((await put('exact', exact)).status).toBe(201);
    expect(sha256((await get('exact')).bytes)).toBe(sha256(exact));
    ({ id } = (await send('POST', '/sandboxes', { json: { workspace: { bytes_limit: 500_000 } } })).body);
    const over = Buffer.concat([exact, Buffer.from('x')]);
    const declared = await put('over', over);
    expect([declared.status, declared.body.error]).toMatchObject([413, { code: 'file_too_large', max_bytes: LIMIT }]);
    const chunked = await put(
      'over',
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < over.length; at += 10_000) controller.enqueue(over.subarray(at, at + 10_000));
          controller.close();
        },
      }),
    );
    expect([chunked.status, chunked.body.error]).toMatchObject([413, { code: 'file_too_large', max_bytes: LIMIT }]);
    await expectNothingLeft();
  });

  it('refuses an over-long Content-Length before a byte of the body was sent', async () => {
    const { port } = new URL(origin);
    const head = `PUT /api/v1/sandboxes/${id}/files?path=a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/octet-stream\r\nContent-Length: ${LIMIT + 1}\r\n\r\n`;
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(head));
      socket.once('data', (chunk) => {
        resolve(chunk.toString());
        socket.destroy();
      });
      socket.once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('file_too_large');
    await expectNothingLeft();
  });

  it('leaves nothing of an upload whose client closes the connection', async () => {
    const { port } = new URL(origin);
    const client = httpRequest({
      port,
      method: 'PUT',
      path: `/api/v1/sandboxes/${id}/files?path=a`,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/octet-stream',
        'content-length': '200000',
        'idempotency-key': 'gone',
      },
    });
    client.on('error', () => undefined);
    client.write(randomBytes(100_000));
    await eventually(async () => (await strays()) === 1, 'the upload has begun');
    client.destroy();
    await eventually(async () => (await strays()) === 0, 'it is cleaned up');
    await expectNothingLeft();
    expect((await put('a', 'x', { 'idempotency-key': 'gone' })).status).toBe(201);
  });

  it('keeps within the quota, even for concurrent uploads', async () => {
    const half = randomBytes(240_000);
    expect((await put('a', half)).status).toBe(201);
    const answers = await Promise.all(['b', 'c', 'd'].map((name) => put(name, half)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 507, 507]);
    expect(answers.find((answer) => answer.status === 507)!.body.error.code).toBe('workspace_full');
    expect(await workspace()).toMatchObject({ bytes_used: 480_000, file_count: 2 });
    expect((await put('a', randomBytes(250_000))).status).toBe(200);
    expect((await put('a', randomBytes(260_001))).status).toBe(507);
    const chunked = await put(
      'e',
      new ReadableStream({ start: (controller) => (controller.enqueue(half), controller.close()) }),
    );
    expect(chunked.status).toBe(507);
    expect(await workspace()).toMatchObject({ bytes_used: 490_000, file_count: 2 });
    expect([(await blobs()).filter((name) => name.includes('blob_')).length, await strays()]).toEqual([2, 0]);
  });

  it('replays the answer of the same request, and refuses another one with its key', async () => {
    const key = { 'idempotency-key': 'k1' };
    const first = await put('a', 'one', key);
    const again = await put('a', 'one', { 'idempotency-key': '"k1"' });
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([201, first.body, 'true']);
    expect(again.headers['etag']).toBe(first.headers['etag']);
    expect(first.headers['idempotency-replayed']).toBeUndefined();
    for (const other of [
      await put('a', 'two', key),
      await put('b', 'one', key),
      await send('PUT', `/sandboxes/${id}/files`, { json: { path: 'a', content: 'one' }, headers: key }),
    ]) {
      expect([other.status, other.body.error.code]).toEqual([422, 'idempotency_key_reused']);
    }
    const json = { path: 'j', content: 'x' };
    const [made, replayed] = [
      await send('PUT', `/sandboxes/${id}/files`, { json, headers: { 'idempotency-key': 'k2' } }),
      await send('PUT', `/sandboxes/${id}/files`, { json, headers: { 'idempotency-key': 'k2' } }),
    ];
    expect([made.status, replayed.status, replayed.body]).toEqual([201, 201, made.body]);
    expect((await get('a')).bytes.toString()).toBe('one');
    expect(
      (
        await database.read<any>(
          'system',
          `select count(*)::int as n from audit_log where resource_name = $1 and action = 'sandbox_file.put'`,
          [id],
        )
      )[0].n,
    ).toBe(2);
  });

  it('stores no key of a refused request', async () => {
    const key = { 'idempotency-key': 'refused' };
    expect((await put('a', 'x', { ...key, 'content-digest': digestHeader('y') })).status).toBe(422);
    expect((await put('a', randomBytes(LIMIT + 1), key)).status).toBe(413);
    expect((await put('a', 'x', key)).status).toBe(201);
  });

  it('has one effect of fifty requests with one key', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        send('PUT', `/sandboxes/${id}/files`, {
          json: { path: 'many', content: 'x' },
          headers: { 'idempotency-key': 'fifty' },
        }),
      ),
    );
    const firsts = answers.filter((answer) => answer.status === 201 && !answer.headers['idempotency-replayed']);
    expect(firsts.length).toBe(1);
    for (const answer of answers) {
      if (answer.status === 201) expect(answer.body).toEqual(firsts[0]!.body);
      else
        expect([answer.status, answer.body.error.code, Number(answer.headers['retry-after']) > 0]).toEqual([
          409,
          'idempotency_in_progress',
          true,
        ]);
    }
    expect(await workspace()).toMatchObject({ file_count: 1 });
  });

  it('never shows a reader half of a file, or the digest of another one, while writers replace it', async () => {
    const versions = Array.from({ length: 20 }, (_one, index) => randomBytes(20_000 + index));
    await put('hot', versions[0]);
    let isWriting = true;
    const reading = (async () => {
      let reads = 0;
      while (isWriting) {
        const file = await get('hot');
        // On a machine that is busy with other tests, a time limit may pass. Then the reader sees no file at all.
        if (file.status === 503) {
          expect(file.body.error.code).toBe('unavailable');
          continue;
        }
        expect([file.status, file.headers['etag'], file.body]).toEqual([200, `"${sha256(file.bytes)}"`, undefined]);
        reads += 1;
      }
      return reads;
    })();
    for (const version of versions) expect((await put('hot', version)).status).toBe(200);
    isWriting = false;
    expect(await reading).toBeGreaterThan(3);
    expect(sha256((await get('hot')).bytes)).toBe(sha256(versions.at(-1)!));
  });

  const remove = (file: string, headers: Record<string, string> = {}) =>
    send('DELETE', `/sandboxes/${id}/files?path=${encodeURIComponent(file)}`, { headers });

  it('deletes a file with its content, and frees its bytes and its name', async () => {
    const { etag } = (await put('d/a', 'hello')).headers as { etag: string };
    const other = clientOf(origin, (await newTenant(app)).token);
    const foreign = await other('DELETE', `/sandboxes/${id}/files?path=d/a`);
    expect([foreign.status, foreign.body.error.code]).toEqual([404, 'sandbox_not_found']);
    expect((await remove('d/a', { 'if-match': '"other"' })).status).toBe(412);
    expect((await remove('d/a', { 'if-match': etag })).body).toEqual({
      path: 'd/a',
      state: 'deleted',
      external_sandbox_changed: false,
    });
    await expectNothingLeft();
    for (const path of ['d/a', 'd']) expect((await remove(path)).body.error.code).toBe('sandbox_file_not_found');
    // A folder is gone with its last file, so its name is free.
    expect((await put('d', 'x')).status).toBe(201);
    for (const query of ['', '?path=', '?path=/etc', '?path=d&path=d'])
      expect([query, (await send('DELETE', `/sandboxes/${id}/files${query}`)).status]).toEqual([query, 400]);
    expect(await workspace()).toMatchObject({ bytes_used: 1, file_count: 1 });
  });

  it('counts right when a file is replaced and deleted at once', async () => {
    await Promise.all(
      Array.from({ length: 10 }, (_one, index) => (index % 2 ? remove('a') : put('a', 'x'.repeat(index + 1)))),
    );
    await put('a', '12345');
    expect(await workspace()).toMatchObject({ bytes_used: 5, file_count: 1 });
    await remove('a');
    await expectNothingLeft();
  });
});
