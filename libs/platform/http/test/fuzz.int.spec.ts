import 'reflect-metadata';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SlipwayHttpAdapter } from '../src/index.js';
import { SampleModule } from './sample.controller.js';

let app: NestFastifyApplication;
let port: number;

beforeAll(async () => {
  const adapter = new SlipwayHttpAdapter({ bodyLimit: 4096 });
  adapter.setGuard(async () => undefined);
  app = await NestFactory.create<NestFastifyApplication>(SampleModule, adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  port = (app.getHttpServer().address() as AddressInfo).port;
});

afterAll(async () => {
  await app?.close();
});

/**
 * Returns the answers of a connection whose sending side the client closes; an empty text if the server sent nothing.
 */
function exchange(request: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(request, 'latin1'));
    socket.on('data', (chunk) => (answer += chunk.toString('utf8')));
    socket.on('close', () => resolve(answer));
    socket.on('error', () => undefined);
  });
}

function judge(answer: string): void {
  // An interim answer to Expect: 100-continue may come first.
  const [head, ...rest] = answer.replace(/^HTTP\/1\.1 100 Continue\r\n\r\n/, '').split('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head!)?.[1]);
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(500);
  if (status < 400 || rest.join('') === '') return;
  const { error } = JSON.parse(rest.join('\r\n\r\n'));
  expect(typeof error.code).toBe('string');
  expect(head).toContain(`x-request-id: ${error.request_id}`);
}

const token = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_.%2F00:~/?&=[]{}"\\ \t;'), maxLength: 40 });
const method = fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'PATCH', 'OPTIONS', 'get', 'NOPE', '');
const path = fc.oneof(
  fc.constantFrom(
    '/api/v1/samples',
    '/api/v1/samples/x',
    '/healthz',
    '/api/v1/streams',
    '*',
    'http://a/healthz',
    '//',
    '',
  ),
  token.map((text) => `/api/v1/samples/${text}`),
  token.map((text) => `/api/v1/samples?${text}`),
);
const header = fc.tuple(
  fc.constantFrom(
    'Content-Type',
    'Content-Length',
    'Idempotency-Key',
    'If-Match',
    'X-Request-Id',
    'traceparent',
    'Accept',
    'Transfer-Encoding',
    'Expect',
    'Connection',
  ),
  fc.oneof(
    token,
    fc.constantFrom('application/json', 'application/octet-stream', '5', 'chunked', '100-continue', 'close', 'upgrade'),
  ),
);
const body = fc.oneof(fc.json(), token, fc.constant(''));

it('answers every request, however odd, with 2xx or a 4xx envelope', async () => {
  const request = fc
    .tuple(method, path, fc.array(header, { maxLength: 4 }), body, fc.boolean())
    .map(([verb, target, headers, content, isSized]) => {
      const lines = headers.map(([name, value]) => `${name}: ${value}`);
      if (isSized)
        lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content, 'latin1')}`);
      return `${verb} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${content}`;
    });
  await fc.assert(
    fc.asyncProperty(request, async (text) => judge(await exchange(text))),
    { numRuns: 300, seed: 7 },
  );
});

it('answers every JSON body with 2xx or a 4xx envelope', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.json(),
        fc.json().map((text) => `{"name":"abc","free":${text},"parts":[${text}],"labels":${text}}`),
      ),
      async (content) => {
        const answer = await fetch(`http://127.0.0.1:${port}/api/v1/samples/x`, {
          method: 'PUT',
          body: content,
          headers: { 'content-type': 'application/json' },
        });
        const json = (await answer.json()) as { error?: { code: string } };
        expect([200, 400, 422]).toContain(answer.status);
        if (answer.status !== 200) expect(typeof json.error!.code).toBe('string');
      },
    ),
    { numRuns: 300, seed: 7 },
  );
});
