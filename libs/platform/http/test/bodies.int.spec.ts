import 'reflect-metadata';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { request as httpRequest, type ClientRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SlipwayHttpAdapter, type Scope } from '../src/index.js';
import { SampleModule } from './sample.controller.js';

/** Limits on what the process holds and parses for clients. The bearer credential is `tenant/token`. */
const KIB = 1024;
let app: NestFastifyApplication;
let port: number;

beforeAll(async () => {
  const adapter = new SlipwayHttpAdapter({
    bodyLimit: 12 * KIB * KIB,
    heldBytes: { process: 200 * KIB, tenant: 150 * KIB, token: 100 * KIB },
  });
  adapter.setGuard(async (request) => {
    const [tenantId = '', id = ''] = (request.headers.authorization ?? '').replace('Bearer ', '').split('/');
    request.slipway.tenantId = tenantId;
    request.slipway.principal = {
      tenantId,
      tenantName: tenantId,
      isOperatorTenant: false,
      actor: { type: 'token', id },
      scopes: new Set<Scope>(['admin']),
      owner: { type: 'person', id: 'alice' },
      minters: [],
    };
  });
  app = await NestFactory.create<NestFastifyApplication>(SampleModule, adapter, { logger: false });
  await app.listen(0, '127.0.0.1');
  port = (app.getHttpServer().address() as AddressInfo).port;
});
afterAll(() => app?.close());

interface Answer {
  status: number | undefined;
  retryAfter: string | undefined;
  text: string;
}

/** Opens a request whose body the test sends later. */
function open(who: string): { request: ClientRequest; answer: Promise<Answer> } {
  const headers = { authorization: `Bearer ${who}`, 'content-type': 'application/json' };
  const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/api/v1/samples', headers });
  const answer = new Promise<Answer>((resolve, reject) => {
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () =>
        resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'], text }),
      );
    });
  });
  return { request, answer };
}

function send(who: string, body: string): Promise<Answer> {
  const { request, answer } = open(who);
  request.end(body);
  return answer;
}

const bodyOf = (bytes: number): string => JSON.stringify({ name: 'plain', free: { text: 'x'.repeat(bytes) } });

it('a body that is cheap to send and expensive to parse is refused before it is parsed', async () => {
  const body = `{"name":"plain","free":{"list":[${'[],'.repeat(5_000)}[]]}}`;
  const refused = await send('ten_1/a', body);
  expect(refused).toMatchObject({ status: 400, text: expect.stringContaining('too many values') });
  expect((await send('ten_1/a', bodyOf(40 * KIB))).status).toBe(201);
});

it('a body that arrives byte by byte is kept in few pieces, because each one costs memory', async () => {
  const joined = jest.spyOn(Buffer, 'concat');
  const { request, answer } = open('ten_1/a');
  const body = bodyOf(2 * KIB);
  // Chunks of one byte, as a client may send them in one packet.
  request.cork();
  for (const letter of body) request.write(letter);
  request.uncork();
  request.end();
  expect((await answer).status).toBe(201);
  const whole = joined.mock.calls.filter(([, size]) => size === body.length);
  expect(whole.map(([list]) => list.length < 50)).toEqual([true]);
  joined.mockRestore();
});

it('bodies are held up to a limit of bytes per token, tenant and process, until they are answered', async () => {
  const first = open('ten_1/a');
  const body = bodyOf(60 * KIB);
  await new Promise((resolve) => first.request.write(body.slice(0, -1), resolve));
  // The server may not have read the bytes yet, so repeat until they count.
  const deadline = Date.now() + 5_000;
  let beyond = await send('ten_1/a', bodyOf(45 * KIB));
  while (beyond.status !== 503 && Date.now() < deadline) beyond = await send('ten_1/a', bodyOf(45 * KIB));
  expect(beyond).toMatchObject({ status: 503, retryAfter: '1', text: expect.stringContaining('this token') });
  expect(beyond.text).toContain('"retryable":true');
  expect((await send('ten_1/b', bodyOf(95 * KIB))).text).toContain('this tenant');
  expect((await send('ten_2/c', bodyOf(30 * KIB))).status).toBe(201);
  first.request.end(body.slice(-1));
  expect((await first.answer).status).toBe(201);
  expect((await send('ten_1/a', body)).status).toBe(201);
  // When a client disconnects, its bytes are released.
  const gone = open('ten_1/a');
  gone.answer.catch(() => undefined);
  await new Promise((resolve) => gone.request.write(body.slice(0, -1), resolve));
  gone.request.destroy();
  let after = await send('ten_1/a', body);
  while (after.status !== 201 && Date.now() < deadline) after = await send('ten_1/a', body);
  expect(after.status).toBe(201);
});
