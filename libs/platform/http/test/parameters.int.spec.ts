import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { expectEnvelope, good, SampleServer, type Answer } from './sample-server.js';

let server: SampleServer;
const send: SampleServer['send'] = (...request) => server.send(...request);

beforeAll(async () => {
  server = await SampleServer.start();
});

afterAll(async () => {
  await server?.close();
});

describe('headers and parameters', () => {
  it('returns a usable request id and traceparent, and replaces an unusable id', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const answer = await send('GET', '/api/v1/samples/x', { headers: { 'x-request-id': 'mine-1', traceparent } });
    expect(answer.headers).toMatchObject({ 'x-request-id': 'mine-1', traceparent });
    for (const id of ['has space', 'x'.repeat(129)]) {
      const other = await send('GET', '/api/v1/nothing', { headers: { 'x-request-id': id } });
      expect(other.headers['x-request-id']).toMatch(/^req_[0-9a-f]{32}$/);
    }
  });

  it('treats a key and its quoted form as one, and fingerprints the query and the body', async () => {
    const ask = async (key: string, body: string, query = ''): Promise<any> =>
      (await send('PUT', `/api/v1/samples/x${query}`, { body, headers: { 'idempotency-key': key } })).body.claim;
    const bare = await ask('abc', '{"name":"abc","size":1}');
    expect(bare).toMatchObject({
      method: 'PUT',
      path: '/api/v1/samples/x',
      key: 'abc',
      fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await ask('"abc"', '{ "size": 1, "name": "abc" }')).toEqual(bare);
    expect((await ask('abc', '{"name":"abc","size":2}')).fingerprint).not.toBe(bare.fingerprint);
    expect((await ask('abc', '{"name":"abc","size":1}', '?state=open')).fingerprint).not.toBe(bare.fingerprint);
  });

  it.each(['has space', '"open', 'x'.repeat(129), '', '""'])('refuses the key %j', async (key) => {
    expectEnvelope(
      await send('PUT', '/api/v1/samples/x', { body: good, headers: { 'idempotency-key': key } }),
      400,
      'idempotency_key_invalid',
    );
  });

  it('warns of a key that has no effect, in the body and in a header', async () => {
    const headers = { 'idempotency-key': 'has space' };
    const stream = await send('PUT', '/api/v1/streams', { body: '{}', headers });
    expect(stream.headers['x-slipway-ignored-headers']).toBe('Idempotency-Key');
    expect(stream.body.warnings).toEqual([
      {
        code: 'idempotency_key_ignored',
        field: 'Idempotency-Key',
        message: 'This operation does not accept Idempotency-Key; the key had no effect.',
      },
    ]);
    const read = await send('GET', '/api/v1/samples/x', { headers });
    expect([read.status, read.body.warnings, read.headers['x-slipway-ignored-headers']]).toEqual([
      200,
      undefined,
      undefined,
    ]);
    const obeyed = await send('PUT', '/api/v1/samples/x', { body: good, headers: { 'idempotency-key': 'one' } });
    expect([obeyed.status, obeyed.body.warnings]).toEqual([200, undefined]);
  });

  it('accepts a key for every POST, and warns if no code has obeyed it', async () => {
    const touch = (key: string) =>
      send('POST', '/api/v1/samples/x/touch', { body: '{}', headers: { 'idempotency-key': key } });
    expectEnvelope(await touch('has space'), 400, 'idempotency_key_invalid');
    const answer = await touch('one');
    expect(answer.body).toMatchObject({ name: 'x', warnings: [{ code: 'idempotency_key_ignored' }] });
  });

  it('reads validate_only strictly, and refuses it if the route does not support it', async () => {
    expect((await send('PUT', '/api/v1/samples/x?validate_only=true', { body: good })).body.dryRun).toBe(true);
    expect((await send('PUT', '/api/v1/samples/x?validate_only=false', { body: good })).body.dryRun).toBe(false);
    for (const query of [
      'validate_only=1',
      'validate_only=TRUE',
      'validate_only=',
      'validate_only=true&validate_only=true',
    ]) {
      expectEnvelope(await send('PUT', `/api/v1/samples/x?${query}`, { body: good }), 400, 'invalid_parameter');
    }
    expectEnvelope(await send('POST', '/api/v1/samples?validate_only=true', { body: good }), 400, 'invalid_parameter');
  });

  it('pages by key', async () => {
    const first = await send('GET', '/api/v1/samples?limit=2');
    expect(first.body.data).toEqual([1, 2]);
    const second = await send('GET', `/api/v1/samples?limit=200&cursor=${first.body.next_cursor}`);
    expect(second.body).toEqual({ data: [3, 4, 5], next_cursor: null });
    const foreign = Buffer.from(JSON.stringify(['other', 2])).toString('base64url');
    for (const query of [
      'limit=x',
      'limit=1.5',
      'limit=1&limit=2',
      'cursor=%20',
      `cursor=${foreign}`,
      'cursor=&cursor=',
      'since=yesterday',
      'until=2026-01-01T00:00:00Z&until=2026-01-01T00:00:00Z',
      'since=2026-01-01T00:00:00%2B24:00',
    ]) {
      expectEnvelope(await send('GET', `/api/v1/samples?${query}`), 400, 'invalid_parameter');
    }
    for (const query of ['limit=0', 'limit=201', 'limit=-1', 'state=ajar', 'order=up']) {
      expectEnvelope(await send('GET', `/api/v1/samples?${query}`), 422, 'validation_failed');
    }
    expectEnvelope(await send('GET', '/api/v1/samples?state=open&state=shut'), 400, 'invalid_parameter');
    // Postgres knows neither offsets of 16 hours nor these years.
    for (const time of ['2026-01-01T00:00:00-23:59', '0001-01-01T00:00:00%2B23:59', '9999-12-31T23:59:59.9999-00:01'])
      expect([time, (await send('GET', `/api/v1/samples?since=${time}`)).body.since]).toEqual([
        time,
        expect.stringMatching(/^\d{4}-.*Z$/),
      ]);
  });

  it('compares If-Match', async () => {
    const { etagOf } = await import('../src/index.js');
    const put = (header: string): Promise<Answer> =>
      send('PUT', '/api/v1/samples/x', { body: good, headers: { 'if-match': header } });
    expect((await put(etagOf('x', 1))).status).toBe(200);
    expect((await put('*')).status).toBe(200);
    expect((await put(`"a", ${etagOf('x', 1)}`)).status).toBe(200);
    expectEnvelope(await put('"other"'), 412, 'precondition_failed');
    expectEnvelope(await put(`W/${etagOf('x', 1)}`), 412, 'precondition_failed');
  });

  it('compares If-None-Match of a write, and returns the ETag with a refusal', async () => {
    const { etagOf } = await import('../src/index.js');
    const put = (headers: Record<string, string>): Promise<Answer> =>
      send('PUT', '/api/v1/samples/x', { body: good, headers });
    expect((await put({ 'if-none-match': '"other"' })).status).toBe(200);
    for (const known of ['*', etagOf('x', 1), `"a", W/${etagOf('x', 1)}`]) {
      const refused = await put({ 'if-none-match': known });
      expectEnvelope(refused, 412, 'precondition_failed');
      expect(refused.headers['etag']).toBe(etagOf('x', 1));
    }
    expectEnvelope(await put({ 'if-match': '*', 'if-none-match': '*' }), 412, 'precondition_failed');
    expectEnvelope(
      await send('PUT', '/api/v1/samples/x', { body: '{"name":1}', headers: { 'if-match': '"other"' } }),
      400,
      'invalid_parameter',
    );
  });

  it('refuses conditions that an operation does not check, and ignores those that have no meaning', async () => {
    const touch = (name: string): Promise<Answer> =>
      send('POST', '/api/v1/samples/x/touch', { body: '{}', headers: { [name]: '"x"' } });
    for (const name of ['if-match', 'if-none-match', 'if-unmodified-since'])
      expectEnvelope(await touch(name), 400, 'condition_not_supported');
    expect((await touch('if-modified-since')).status).toBe(200);
    const headers = { 'if-unmodified-since': 'Sun, 29 Nov 2026 10:00:00 GMT' };
    expectEnvelope(await send('PUT', '/api/v1/samples/x', { body: good, headers }), 400, 'condition_not_supported');
    expect((await send('GET', '/api/v1/samples/x', { headers: { ...headers, 'if-match': '"x"' } })).status).toBe(200);
  });

  it.each([
    ['dry_run=true', 'validate_only'],
    ['dryRun=1', 'validate_only'],
    ['validateOnly=true', 'validate_only'],
    ['Strict=true', 'strict'],
    ['anything', undefined],
  ])('refuses ?%s on a mutation', async (query, meant) => {
    const refused = await send('PUT', `/api/v1/samples/x?${query}`, { body: good });
    expectEnvelope(refused, 400, 'invalid_parameter');
    const [issue] = refused.body.error.details;
    expect(issue).toMatchObject({ field: query.split('=')[0], code: 'unknown_parameter' });
    expect(issue.message.includes('did you mean')).toBe(meant !== undefined);
    if (meant !== undefined) expect(issue.message).toContain(`\`${meant}\``);
  });

  it('warns of unknown parameters of a read, or refuses them if it is strict', async () => {
    const answer = await send('GET', '/api/v1/samples?limits=2&state=open&%C3%A4=1');
    expect(answer.status).toBe(200);
    expect(answer.body.warnings).toEqual([
      {
        code: 'unknown_parameter',
        field: 'limits',
        message: 'limits is not a parameter of this operation; did you mean `limit`?',
      },
      { code: 'unknown_parameter', field: 'ä', message: 'ä is not a parameter of this operation' },
    ]);
    expect(answer.headers['x-slipway-unknown-parameters']).toBe('limits, %C3%A4');
    const long = await send('GET', `/api/v1/samples?${'a'.repeat(99)}%F0%9F%98%80%F0%9F%98%80=1`);
    expect([long.status, long.body.warnings[0].field]).toEqual([200, `${'a'.repeat(99)}😀`]);
    expectEnvelope(await send('GET', '/api/v1/samples?limits=2&strict=true'), 400, 'invalid_parameter');
    expect((await send('GET', '/api/v1/samples?limit=2&strict=true')).body.warnings).toBeUndefined();
  });
});
