import 'reflect-metadata';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { errors, HttpModule, serveOpenApi, SlipwayHttpAdapter, type Scope } from '../src/index.js';
import { SampleModule } from './sample.controller.js';

let app: NestFastifyApplication;
let port: number;

beforeAll(async () => {
  const adapter = new SlipwayHttpAdapter({ bodyLimit: 4096 });
  adapter.setGuard(async (request) => {
    if (request.headers.authorization !== 'Bearer ok') throw errors.unauthenticated();
    request.slipway.tenantId = 't1';
    request.slipway.principal = {
      tenantId: 't1',
      tenantName: 't',
      isOperatorTenant: false,
      actor: { type: 'token', id: 'x' },
      scopes: new Set<Scope>(['admin']),
      owner: { type: 'person', id: 'alice' },
      minters: [],
    };
  });
  app = await NestFactory.create<NestFastifyApplication>(SampleModule, adapter, { logger: false });
  serveOpenApi(app);
  await app.listen(0, '127.0.0.1');
  port = (app.getHttpServer().address() as AddressInfo).port;
});

afterAll(async () => {
  await app?.close();
});

it('notices a client that disappears: each connection asks an idle one after 15 s', () => {
  expect(app.getHttpServer()).toMatchObject({ keepAlive: true, keepAliveInitialDelay: 15 });
});

interface Answer {
  status: number;
  headers: Record<string, string>;
  body: any;
  text: string;
}

async function send(
  method: string,
  path: string,
  options: { body?: string | Uint8Array; headers?: Record<string, string>; token?: string } = {},
): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    body: options.body as never,
    headers: {
      ...(options.token === '' ? {} : { authorization: `Bearer ${options.token ?? 'ok'}` }),
      ...(options.body !== undefined ? { 'content-type': 'application/json' } : {}),
      ...options.headers,
    },
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: Object.fromEntries(answer.headers),
    text,
    body: text.startsWith('{') ? JSON.parse(text) : undefined,
  };
}

/** Sends bytes unchanged and reads until the server closes. */
function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk) => (answer += chunk.toString()));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}

function expectEnvelope(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body?.error?.code, text: answer.text }).toMatchObject({ status, code });
  const { error } = answer.body;
  expect(Object.keys(answer.body)).toEqual(['error']);
  expect(typeof error.message).toBe('string');
  expect(typeof error.category).toBe('string');
  expect(error.request_id).toBe(answer.headers['x-request-id']);
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['x-should-retry']).toBe(error.retryable ? undefined : 'false');
}

const good = JSON.stringify({ name: 'abc' });

describe('failures', () => {
  it.each([
    ['malformed JSON', '{"name":', 400, 'invalid_json'],
    ['a lone value', '"x"', 400, 'invalid_parameter'],
    ['an array', '[]', 400, 'invalid_parameter'],
    ['null', 'null', 400, 'invalid_parameter'],
    ['prototype poisoning', '{"__proto__":{"a":1},"name":"abc"}', 400, 'invalid_json'],
    ['constructor poisoning', '{"constructor":{"prototype":{}},"name":"abc"}', 400, 'invalid_json'],
    ['deep nesting', `{"free":${'['.repeat(500)}${']'.repeat(500)}}`, 400, 'invalid_json'],
    ['a mistyped field', '{"name":1}', 400, 'invalid_parameter'],
    ['a null where none fits', '{"name":null}', 400, 'invalid_parameter'],
    ['a mistyped nested field', '{"name":"abc","parts":[{"name":"a","weight":"1"}]}', 400, 'invalid_parameter'],
    ['a fraction for an integer', '{"name":"abc","size":1.5}', 400, 'invalid_parameter'],
    ['a number beyond all bounds', '{"name":"abc","size":1e999}', 400, 'invalid_parameter'],
    ['a missing field', '{}', 422, 'validation_failed'],
    ['no body at all', '', 422, 'validation_failed'],
    ['a broken rule', '{"name":"ABC"}', 422, 'validation_failed'],
    ['a NUL', '{"name":"abc","free":{"a":"\\u0000"}}', 422, 'validation_failed'],
    ['a lone surrogate', '{"name":"abc","labels":{"a":"\\ud800"}}', 422, 'validation_failed'],
    ['a day that does not exist', '{"name":"abc","at":"2026-02-30T00:00:00Z"}', 422, 'validation_failed'],
    ['a repeated item', '{"name":"abc","kinds":["a","a"]}', 422, 'validation_failed'],
  ])('refuses %s', async (_what, body, status, code) => {
    expectEnvelope(await send('PUT', '/api/v1/samples/x', { body }), status, code);
  });

  it('names every refused field by its dotted path', async () => {
    const body = JSON.stringify({
      name: 'abc',
      size: 0,
      parts: [
        { name: 'a', weight: 1 },
        { name: '', weight: 101 },
      ],
    });
    const answer = await send('PUT', '/api/v1/samples/x', { body });
    expectEnvelope(answer, 422, 'validation_failed');
    expect(answer.body.error.details.map(({ field, code }: any) => `${field} ${code}`)).toEqual([
      'size min',
      'parts[1].name too_short',
      'parts[1].weight max',
    ]);
  });

  it('refuses invalid UTF-8', async () => {
    expectEnvelope(
      await send('PUT', '/api/v1/samples/x', { body: new Uint8Array([0x7b, 0xff, 0x7d]) }),
      400,
      'invalid_json',
    );
  });

  it('answers 413 with the limit, before and after reading', async () => {
    const declared = await send('PUT', '/api/v1/samples/x', { body: JSON.stringify({ name: 'a'.repeat(5000) }) });
    expectEnvelope(declared, 413, 'body_too_large');
    expect(declared.body.error.max_bytes).toBe(4096);
    const route = await send('PUT', '/api/v1/streams', { body: JSON.stringify({ name: 'a'.repeat(100) }) });
    expect(route.body.error.max_bytes).toBe(64);
  });

  it('answers 413 to a chunked body that grows too large, and to one that only claims to', async () => {
    const head =
      'PUT /api/v1/samples/x HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ok\r\nContent-Type: application/json\r\n';
    const chunk = `1000\r\n${' '.repeat(4096)}\r\n`;
    for (const rest of [`Transfer-Encoding: chunked\r\n\r\n${chunk}${chunk}`, 'Content-Length: 999999999\r\n\r\n']) {
      const answer = await raw(head + rest);
      expect(answer).toMatch(/^HTTP\/1.1 413 /);
      expect(JSON.parse(/\{.*\}/s.exec(answer)![0]).error).toMatchObject({ code: 'body_too_large', max_bytes: 4096 });
    }
  });

  it('answers 415 for other content types, and for a stream if the route accepts none', async () => {
    for (const type of [
      'text/plain',
      'application/octet-stream',
      'application/x-www-form-urlencoded',
      'nonsense',
      'multipart/form-data',
    ]) {
      expectEnvelope(
        await send('PUT', '/api/v1/samples/x', { body: good, headers: { 'content-type': type } }),
        415,
        'unsupported_media_type',
      );
    }
  });

  it('answers 415 for an encoded body', async () => {
    expectEnvelope(
      await send('PUT', '/api/v1/samples/x', { body: good, headers: { 'content-encoding': 'gzip' } }),
      415,
      'unsupported_media_type',
    );
  });

  it('accepts a stream if the route declares it', async () => {
    const answer = await send('PUT', '/api/v1/streams', {
      body: new Uint8Array(1000),
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(answer.body).toEqual({ bytes: 1000 });
  });

  it('answers 404 for an unknown path and 405 for a wrong method', async () => {
    expectEnvelope(await send('GET', '/api/v1/nothing', { token: '' }), 404, 'not_found');
    expectEnvelope(await send('GET', '/api/v1/samples/a/b'), 404, 'not_found');
    expectEnvelope(await send('GET', '/api/v1/samples//'), 404, 'not_found');
    const wrong = await send('PATCH', '/api/v1/samples/x', { body: good });
    expectEnvelope(wrong, 405, 'method_not_allowed');
    expect(wrong.headers['allow']).toBe('GET, HEAD, PUT, OPTIONS');
    expectEnvelope(await send('DELETE', '/api/v1/samples/x', { token: '' }), 405, 'method_not_allowed');
  });

  it('answers OPTIONS with the methods of the path, without a token', async () => {
    const answer = await send('OPTIONS', '/api/v1/samples/x?any=1', { token: '' });
    expect([answer.status, answer.text, answer.headers['allow']]).toEqual([204, '', 'GET, HEAD, PUT, OPTIONS']);
    expectEnvelope(await send('OPTIONS', '/api/v1/nothing'), 404, 'not_found');
  });

  it('refuses malformed paths', async () => {
    expectEnvelope(await send('GET', '/api/v1/samples/%zz'), 400, 'path_invalid');
    expectEnvelope(await send('GET', '/api/v1/samples/%ff'), 400, 'path_invalid');
    expectEnvelope(await send('GET', '/api/v1/samples/%00'), 400, 'path_invalid');
    expectEnvelope(await send('GET', `/api/v1/samples/${'a'.repeat(2000)}`), 400, 'path_invalid');
  });

  it('checks the caller before the body, and the resource before the rules', async () => {
    expectEnvelope(await send('PUT', '/api/v1/samples/x', { body: '{', token: 'no' }), 401, 'unauthenticated');
    const challenge = await send('GET', '/api/v1/samples/x', { token: '' });
    expect(challenge.headers['www-authenticate']).toBe('Bearer realm="slipway"');
    expectEnvelope(await send('PUT', '/api/v1/samples/missing', { body: '{}' }), 404, 'sample_not_found');
    expectEnvelope(await send('PUT', '/api/v1/samples/missing', { body: '{"name":1}' }), 400, 'invalid_parameter');
  });

  it('never leaks the text of an unexpected failure', async () => {
    const answer = await send('POST', '/api/v1/failures', { body: '{}' });
    expectEnvelope(answer, 500, 'internal');
    expect(answer.text).not.toContain('secret');
  });

  it.each(['ECONNREFUSED', '57P01', '08006', '53300'])('answers 503 for %s', async (code) => {
    const answer = await send('POST', '/api/v1/failures', { body: JSON.stringify({ code }) });
    expectEnvelope(answer, 503, 'unavailable');
    expect(answer.body.error.retryable).toBe(true);
    expect(answer.headers['retry-after']).toBe('2');
  });

  it.each([
    ['nonsense', 'nonsense\r\n\r\n', 400],
    ['a missing Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['oversized headers', `GET / HTTP/1.1\r\nHost: a\r\nA: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
    [
      'a bad chunk',
      'POST /api/v1/samples HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ok\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
    ['an unknown expectation', 'GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nConnection: close\r\n\r\n', 417],
  ])('answers malformed HTTP (%s) with the envelope', async (_what, text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const body = JSON.parse(/\{.*\}/s.exec(answer)![0]);
    expect(body.error).toMatchObject({ code: expect.any(String), request_id: expect.stringMatching(/^req_/) });
  });
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
    ]) {
      expectEnvelope(await send('GET', `/api/v1/samples?${query}`), 400, 'invalid_parameter');
    }
    for (const query of ['limit=0', 'limit=201', 'limit=-1', 'state=ajar']) {
      expectEnvelope(await send('GET', `/api/v1/samples?${query}`), 422, 'validation_failed');
    }
    expectEnvelope(await send('GET', '/api/v1/samples?state=open&state=shut'), 400, 'invalid_parameter');
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

describe('answers', () => {
  it('fills in defaults, reads null of an optional field as absent, and warns of unknown fields', async () => {
    const body = JSON.stringify({ name: 'abc', size: null, extra: 1, parts: [{ name: 'a', weight: 1, more: {} }] });
    const answer = await send('PUT', '/api/v1/samples/x', { body });
    expect(answer.body.dto).toEqual({ name: 'abc', flag: false, parts: [{ name: 'a', weight: 1 }] });
    expect(answer.body.warnings).toEqual([
      { code: 'unknown_field', field: 'extra' },
      { code: 'unknown_field', field: 'parts[0].more' },
    ]);
    expect((await send('PUT', '/api/v1/samples/x', { body: good })).body.warnings).toBeUndefined();
  });

  it('uses the status and headers of reply, or else those of the route', async () => {
    expect((await send('POST', '/api/v1/samples', { body: '{"name":"plain"}' })).status).toBe(201);
    const answer = await send('POST', '/api/v1/samples', { body: '{"name":"other"}' });
    expect([answer.status, answer.headers['location']]).toEqual([202, '/here']);
  });

  it('sends raw JSON unchanged', async () => {
    const answer = await send('GET', '/api/v1/samples/hello%20there');
    expect(answer.text).toBe('{"name":"hello there"}');
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each(['/api/v1/samples/x', '/api/v1/samples?limit=2'])(
    'answers 304 to a client that has the answer of %s',
    async (path) => {
      const first = await send('GET', path);
      const etag = first.headers['etag']!;
      expect(etag).toMatch(/^"[\w-]{27}"$/);
      expect((await send('GET', path)).headers['etag']).toBe(etag);
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await send('GET', path, { headers: { 'if-none-match': known } });
        expect(again).toMatchObject({ status: 304, text: '', headers: { etag, 'cache-control': 'no-store' } });
        expect(again.headers['content-type']).toBeUndefined();
      }
      const changed = await send('GET', path, { headers: { 'if-none-match': '"other"' } });
      expect(changed).toMatchObject({ status: 200, text: first.text, headers: { etag } });
    },
  );

  it('gives different answers different ETags, and checks the credential before it answers 304', async () => {
    const { headers } = await send('GET', '/api/v1/samples/x');
    const known = { 'if-none-match': headers['etag']! };
    expect((await send('GET', '/api/v1/samples/y', { headers: known })).status).toBe(200);
    expect((await send('GET', '/api/v1/samples/x', { headers: known, token: 'wrong' })).status).toBe(401);
  });

  it('makes no ETag from the answer of a mutation', async () => {
    const answer = await send('POST', '/api/v1/samples', { body: '{"name":"plain"}' });
    expect([answer.status, answer.headers['etag']]).toEqual([201, undefined]);
  });

  it('answers HEAD like GET, without a body', async () => {
    const answer = await send('HEAD', '/api/v1/samples/x');
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  it('keeps serving a connection after a failure', async () => {
    const statuses = await new Promise<number[]>((resolve, reject) => {
      const seen: number[] = [];
      const ask = (left: number): void => {
        if (left === 0) return resolve(seen);
        httpRequest({ port, path: '/nothing', host: '127.0.0.1' }, (answer) => {
          seen.push(answer.statusCode!);
          answer.resume().on('end', () => ask(left - 1));
        })
          .on('error', reject)
          .end();
      };
      ask(3);
    });
    expect(statuses).toEqual([404, 404, 404]);
  });
});

describe('the OpenAPI document', () => {
  it('is served without a token, and lists the needs of each operation', async () => {
    const answer = await send('GET', '/openapi.json', { token: '' });
    const document = answer.body;
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'Slipway', version: '1.0.0' } });
    expect(document.security).toBeUndefined();
    expect(document.tags).toHaveLength(45);
    expect(Object.keys(document.paths)).not.toContain('/healthz');
    const put = document.paths['/api/v1/samples/{name}'].put;
    expect(put).toMatchObject({
      operationId: 'putSample',
      'x-required-scope': 'operator',
      security: [{ bearer: [] }],
      tags: ['Deployments'],
    });
    expect(put.parameters.map((parameter: any) => `${parameter.in} ${parameter.name}`)).toEqual([
      'path name',
      'header Idempotency-Key',
      'query validate_only',
      'header If-Match',
      'header If-None-Match',
    ]);
    expect(put.parameters[0].schema).toMatchObject({ type: 'string', minLength: 1 });
    expect(put.responses['200'].content['application/json'].schema).toEqual({
      anyOf: [{ $ref: '#/components/schemas/AnswerDto' }, { $ref: '#/components/schemas/ListDto' }],
    });
    expect(document.components.schemas.AnswerDto.properties.warnings.type).toBe('array');
    expect(put.responses['404']['x-error-codes']).toEqual(['sample_not_found']);
    expect(document.components.schemas.SampleDto).toMatchObject({ additionalProperties: true, required: ['name'] });
    expect(document.components.schemas.PartDto.additionalProperties).toBe(true);
    expect(document.components.schemas.SampleDto.properties.size.type).toEqual(['integer', 'null']);
    expect((await send('GET', '/docs', { token: '' })).status).toBe(200);
  });
});

it("fails the boot if a handler has Nest's own routing decorator", async () => {
  @Controller()
  class StrayController {
    @Get('stray')
    answer(): object {
      return {};
    }
  }
  @Module({ imports: [HttpModule, SampleModule], controllers: [StrayController] })
  class StrayModule {}
  const stray = await NestFactory.create<NestFastifyApplication>(StrayModule, new SlipwayHttpAdapter(), {
    logger: false,
  });
  await expect(stray.init()).rejects.toThrow('These handlers need @Route of platform-http: StrayController.answer');
});
