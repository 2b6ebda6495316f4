import 'reflect-metadata';
import { Agent, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { HttpModule, SlipwayHttpAdapter } from '../src/index.js';
import { SampleModule } from './sample.controller.js';
import { expectEnvelope, good, SampleServer } from './sample-server.js';

let server: SampleServer;
const send: SampleServer['send'] = (...request) => server.send(...request);

beforeAll(async () => {
  server = await SampleServer.start();
});

afterAll(async () => {
  await server?.close();
});

it('notices a client that disappears: each connection asks an idle one after 15 s', () => {
  expect(server.app.getHttpServer()).toMatchObject({ keepAlive: true, keepAliveInitialDelay: 15 });
});

it('a server that is about to close ends each connection with its answer, also those that were idle', async () => {
  const stopping = await SampleServer.start();
  const agent = new Agent({ keepAlive: true });
  const connectionAfter = (): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest({ port: stopping.port, agent, path: '/healthz' }, (response) => {
        response.resume().on('end', () => resolve(response.headers.connection));
      });
      sent.on('error', reject).end();
    });
  expect(await connectionAfter()).toBe('keep-alive');
  (stopping.app.getHttpAdapter() as unknown as SlipwayHttpAdapter).endConnections();
  expect([await connectionAfter(), await connectionAfter()]).toEqual(['close', 'close']);
  agent.destroy();
  await stopping.close();
});

describe('failures', () => {
  it.each([
    ['malformed JSON', '{"name":', 400, 'invalid_json'],
    ['a repeated name', '{"name":"abc","name":"def"}', 400, 'invalid_json'],
    ['a repeated name inside', '{"name":"abc","labels":{"a":"1","\\u0061":"2"}}', 400, 'invalid_json'],
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

  it('accepts a byte order mark, and names the place of a fault without quoting it', async () => {
    expect((await send('PUT', '/api/v1/samples/x', { body: '\ufeff{"name":"abc"}' })).status).toBe(200);
    const cut = await send('POST', '/api/v1/samples/x/touch', { body: new Uint8Array([0xef, 0xbb]) });
    expectEnvelope(cut, 400, 'invalid_json');
    const { message } = (await send('PUT', '/api/v1/samples/x', { body: '{"name": secret}' })).body.error;
    expect(message).toBe('The request body is not valid JSON: unexpected character at line 1, column 10.');
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
      const answer = await server.raw(head + rest);
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
    const doubled = await send('GET', '/api/v1/samples//');
    expectEnvelope(doubled, 404, 'not_found');
    expect(doubled.body.error.remediation).toContain('Did you mean /api/v1/samples?');
    const inference = await send('POST', '/v1/chat/completions', { body: '{}' });
    expect([inference.status, inference.body.error.remediation]).toEqual([404, expect.stringContaining('gateway')]);
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
    const answer = await server.raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const body = JSON.parse(/\{.*\}/s.exec(answer)![0]);
    expect(body.error).toMatchObject({ code: expect.any(String), request_id: expect.stringMatching(/^req_/) });
  });
});

describe('answers', () => {
  it('fills in defaults, reads null of a field that may be omitted as absent, and warns of unknown fields', async () => {
    const nulls = { size: null, flag: null, labels: null, part: null, free: null, at: null };
    const body = JSON.stringify({ name: 'abc', ...nulls, extra: 1, parts: [{ name: 'a', weight: 1, more: {} }] });
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
        httpRequest({ port: server.port, path: '/nothing', host: '127.0.0.1' }, (answer) => {
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
    const { size, flag, parts, part, labels, name } = document.components.schemas.SampleDto.properties;
    expect(name.type).toBe('string');
    expect([size.type, flag.type, parts.type, labels.type]).toEqual([
      ['integer', 'null'],
      ['boolean', 'null'],
      ['array', 'null'],
      ['object', 'null'],
    ]);
    expect(part.anyOf).toEqual([{ $ref: '#/components/schemas/PartDto' }, { type: 'null' }]);
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
