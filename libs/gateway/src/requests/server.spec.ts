import http from 'node:http';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { missingToken, modelNotFound } from '../gateway.errors.js';
import { SILENT_LOG } from '../log.js';
import { DEFAULT_SETTINGS } from '../settings.js';
import { ClientGoneError } from './body-reader.js';
import { createGatewayServer, type Handlers } from './server.js';

let isReady: boolean;
let isDraining: boolean;
let infer: Handlers['infer'];
const inferred: string[] = [];
const models: (string | undefined)[] = [];
let errors: string[];
let server: http.Server;
let agent: http.Agent;

beforeEach(async () => {
  isReady = true;
  isDraining = false;
  inferred.length = models.length = 0;
  errors = [];
  infer = async (_request, response, path, requestId) => {
    inferred.push(`${path} ${requestId}`);
    response.writeHead(200, { 'x-request-id': requestId }).end('{}');
  };
  const handlers: Handlers = {
    infer: (...of) => infer(...of),
    models: async (_request, id) => {
      models.push(id);
      if (id === 'unknown') throw modelNotFound(id);
      return { id };
    },
    metrics: async (request) => {
      if (!request.headers.authorization) throw missingToken();
      return 'some metrics\n';
    },
    readiness: () => ({ isReady, status: { status: isReady ? 'ready' : 'not' } }),
  };
  const log = { ...SILENT_LOG, error: (_fields: object, message: string) => void errors.push(message) };
  server = createGatewayServer(handlers, { ...DEFAULT_SETTINGS, maxBodyBytes: 1_000 }, () => isDraining, log);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  agent = new http.Agent({ keepAlive: true });
});
afterEach(async () => {
  agent.destroy();
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});

interface ReceivedAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  text: string;
}

const port = (): number => (server.address() as AddressInfo).port;

function ask(
  method: string,
  path: string,
  headers: http.OutgoingHttpHeaders = {},
  body?: string,
): Promise<ReceivedAnswer> {
  return new Promise((resolve, reject) => {
    const request = http.request({ port: port(), host: '127.0.0.1', agent, method, path, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode as number, headers: response.headers, text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

const codeOf = ({ text }: ReceivedAnswer): string => (JSON.parse(text) as { error: { code: string } }).error.code;

it('routes each path to its handler, whatever its query, and refuses all others', async () => {
  for (const path of ['/v1/chat/completions', '/v1/completions?x=1', '/v1/embeddings']) {
    expect((await ask('POST', path)).status).toBe(200);
    const refused = await ask('GET', path);
    expect([refused.status, refused.headers.allow, codeOf(refused)]).toEqual([
      405,
      'POST, OPTIONS',
      'method_not_allowed',
    ]);
  }
  expect(inferred.map((one) => one.split(' ')[0])).toEqual([
    '/v1/chat/completions',
    '/v1/completions',
    '/v1/embeddings',
  ]);
  for (const path of ['/v1/models', '/healthz', '/readyz', '/v1/models/x']) {
    expect((await ask('GET', path)).status).toBe(200);
    expect((await ask('HEAD', path)).status).toBe(200);
    const refused = await ask('POST', path);
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
  }
  const long = await ask('POST', `/v1/models/${'a'.repeat(5_000)}`);
  expect([long.status, long.text.length < 1_000]).toEqual([405, true]);
  for (const path of ['/', '/v1', '/v1/chat', '/v1/chat/completions/', '/v1/models/', '/metricsx']) {
    const refused = await ask('GET', path);
    expect([path, refused.status, codeOf(refused)]).toEqual([path, 404, 'unknown_url']);
  }
});

it.each([
  ['/v1/chat/completions', 405, 'POST, OPTIONS'],
  ['/v1/models/acme/chat?x', 405, 'GET, HEAD, OPTIONS'],
  ['/healthz', 405, 'GET, HEAD, OPTIONS'],
  ['/nowhere', 404, undefined],
])('refuses unusual methods of %s before it reads a token or a body', async (path, status, allow) => {
  for (const method of ['PROPFIND', 'TRACE', 'QUERY', 'DELETE', 'FROBNICATE', 'get', 'Post']) {
    const answer = await raw(
      `${method} ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n\r\n{`,
    );
    const shown = [Number(answer.split(' ')[1]), /^allow: (.*)\r$/im.exec(answer)?.[1]];
    expect([method, ...shown]).toEqual([method, status, allow]);
    expect(answer).toContain(`"code":"${status === 404 ? 'unknown_url' : 'method_not_allowed'}"`);
  }
});

it('HEAD has the head of GET', async () => {
  for (const path of ['/v1/models', '/v1/models/x', '/healthz', '/readyz', '/v1/models/unknown']) {
    const [get, head] = [await ask('GET', path), await ask('HEAD', path)];
    expect([head.status, head.text]).toEqual([get.status, '']);
    for (const name of ['content-type', 'content-length']) expect(head.headers[name]).toBe(get.headers[name]);
  }
});

it('OPTIONS needs no token and reads no body', async () => {
  const answer = await ask('OPTIONS', '/v1/completions', { 'content-type': 'text/plain', 'content-length': 1 }, 'x');
  expect([answer.status, answer.headers.allow, answer.text]).toEqual([204, 'POST, OPTIONS', '']);
  expect((await ask('OPTIONS', '/nowhere')).status).toBe(404);
});

it('reads the name of a model with or without its slash encoded', async () => {
  for (const path of ['', '/chat', '/acme%2Fchat', '/acme/chat', '/100%']) await ask('GET', `/v1/models${path}`);
  expect(models).toEqual([undefined, 'chat', 'acme/chat', 'acme/chat', '100%']);
  expect(codeOf(await ask('GET', '/v1/models/unknown'))).toBe('model_not_found');
});

it('serves no inference before it is ready, but continues to serve it while it drains', async () => {
  isReady = false;
  const early = await ask('POST', '/v1/completions');
  expect([early.status, codeOf(early), early.headers['retry-after']]).toEqual([503, 'unavailable', '1']);
  expect((await ask('GET', '/readyz')).status).toBe(503);
  expect((await ask('GET', '/healthz')).status).toBe(200);
  isDraining = true;
  const late = await ask('POST', '/v1/completions');
  // Sent on a connection that was open; the next connection must lead to another process.
  expect([late.status, late.headers.connection]).toEqual([200, 'close']);
  expect((await ask('GET', '/readyz')).status).toBe(503);
});

it('keeps an idle connection for longer than load balancers do', () => {
  expect(server.keepAliveTimeout).toBeGreaterThan(600_000);
});

it('notices a client that disappears: each connection asks an idle one after 15 s', () => {
  expect(server).toMatchObject({ keepAlive: true, keepAliveInitialDelay: 15 });
});

it('keeps a harmless request id, and creates one otherwise', async () => {
  for (const id of ['req-1', 'x'.repeat(128)])
    expect((await ask('POST', '/v1/completions', { 'x-request-id': id })).headers['x-request-id']).toBe(id);
  for (const id of ['', 'x'.repeat(129), 'a b', 'é']) {
    const given = (await ask('POST', '/v1/completions', { 'x-request-id': id })).headers['x-request-id'];
    expect([id, given]).toEqual([id, expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  }
  expect((await ask('GET', '/nothing', { 'x-request-id': 'req-2' })).headers['x-request-id']).toBe('req-2');
});

it('shows metrics only to callers that the handler accepts', async () => {
  const shown = await ask('GET', '/metrics', { authorization: 'x' });
  expect([shown.status, shown.text, shown.headers['content-type']]).toEqual([
    200,
    'some metrics\n',
    'text/plain; version=0.0.4; charset=utf-8',
  ]);
  const refused = await ask('GET', '/metrics');
  expect([refused.status, refused.headers['www-authenticate'], codeOf(refused)]).toEqual([
    401,
    'Bearer',
    'invalid_api_key',
  ]);
});

it('answers 500 without details if its own code fails, and breaks off an answer that has begun', async () => {
  infer = () => Promise.reject(new Error('the secret of the house'));
  const failed = await ask('POST', '/v1/completions');
  expect([failed.status, codeOf(failed), failed.text.includes('secret')]).toEqual([500, 'internal', false]);
  expect(errors).toEqual(['a request failed']);
  infer = (_request, response) => {
    response.writeHead(200, { 'content-length': 10 }).write('half');
    return Promise.reject(new Error('later'));
  };
  await expect(ask('POST', '/v1/completions')).rejects.toThrow();
});

it('sends nothing to a client that has disconnected', async () => {
  let gone: () => void = () => undefined;
  const hasGone = new Promise<void>((resolve) => (gone = resolve));
  infer = async (request) => {
    await new Promise((resolve) => request.once('close', resolve));
    gone();
    throw new ClientGoneError();
  };
  const socket = net.connect(port(), '127.0.0.1', () => {
    socket.write('POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf', () => socket.destroy());
  });
  await hasGone;
  expect((await ask('GET', '/healthz')).status).toBe(200);
  expect(errors).toEqual([]);
});

/** Resolves with the bytes received on a separate connection, until the server closes it or `isWhole` accepts them. */
function raw(text: string, isWhole: (answer: string) => boolean = () => false): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = net.connect(port(), '127.0.0.1', () => socket.write(text));
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
    socket.on('data', (chunk) => {
      answer += String(chunk);
      if (isWhole(answer)) socket.destroy();
    });
  });
}

it('sends 100 Continue only for a body that it will read', async () => {
  infer = async (_request, response) => void response.writeHead(200, { 'content-length': 4 }).end('done');
  const head = (length: number): string =>
    `POST /v1/completions HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: ${length}\r\n\r\n`;
  const isAnswered = (answer: string): boolean => answer.includes('200 OK') && answer.endsWith('done');
  expect(await raw(head(1_000), isAnswered)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
  expect(await raw(head(1_001), isAnswered)).toMatch(/^HTTP\/1.1 200 OK/);
});

it('closes the connection of a refused request with a long body, and keeps that of a short one', async () => {
  infer = () => Promise.reject(missingToken());
  const kept = await ask('POST', '/v1/completions', {}, 'x'.repeat(900));
  expect([kept.status, kept.headers.connection]).toEqual([401, 'keep-alive']);
  const answer = await raw(
    `POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${2 * 1024 * 1024}\r\n\r\nonly the beginning`,
  );
  // It waits briefly for the rest, so that the client reads the refusal; then it closes.
  expect(answer).toMatch(/^HTTP\/1.1 401 [^]*connection: close[^]*invalid_api_key/i);
});
