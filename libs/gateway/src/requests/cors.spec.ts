import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { missingToken } from '../gateway.errors.js';
import { SILENT_LOG } from '../log.js';
import { DEFAULT_SETTINGS } from '../settings.js';
import { createGatewayServer, type Handlers } from './server.js';

const APP = 'https://app.example';
const PATH = '/v1/chat/completions';
const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,x-a' };
const handlers: Handlers = {
  infer: async (request, response) => {
    if (!request.headers.authorization) throw missingToken();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  },
  models: async () => ({}),
  metrics: async () => '',
  readiness: () => ({ isReady: true, status: {} }),
};
let server: http.Server;

async function start(corsOrigins: string[]): Promise<void> {
  server = createGatewayServer(handlers, { ...DEFAULT_SETTINGS, corsOrigins }, () => false, SILENT_LOG);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
}
afterEach(async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
}
function ask(method: string, path: string, headers: OutgoingHttpHeaders): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const request = http.request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode as number, headers: response.headers }));
    });
    request.on('error', reject);
    request.end();
  });
}
const corsOf = ({ headers }: Answer): string[] =>
  Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'vary');

it('shows no origin anything by default', async () => {
  await start([]);
  expect(corsOf(await ask('POST', PATH, { origin: APP, authorization: 'x' }))).toEqual([]);
  const preflight = await ask('OPTIONS', PATH, { origin: APP, ...PREFLIGHT });
  expect([preflight.status, corsOf(preflight)]).toEqual([204, []]);
});

it('lets pages of a named origin read answers and errors, with the headers of the gateway', async () => {
  await start(['https://other.example', APP]);
  for (const [headers, path, status] of [
    [{ authorization: 'x' }, PATH, 200],
    [{}, PATH, 401],
    [{}, '/nowhere', 404],
  ] as const) {
    const answer = await ask('POST', path, { origin: APP, ...headers });
    expect([answer.status, answer.headers['access-control-allow-origin'], answer.headers.vary]).toEqual([
      status,
      APP,
      'origin',
    ]);
    expect(answer.headers['access-control-expose-headers']).toMatch(/x-request-id.*x-slipway-revision.*retry-after/);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  }
});

it('answers the preflight of a named origin with the methods of the path', async () => {
  await start([APP]);
  const answer = await ask('OPTIONS', PATH, { origin: APP, ...PREFLIGHT });
  expect(answer).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization,x-a',
      'access-control-max-age': '600',
      vary: expect.stringContaining('origin'),
      'x-request-id': expect.any(String),
    },
  });
  const read = await ask('OPTIONS', '/v1/models', { origin: APP, 'access-control-request-method': 'GET' });
  expect([read.status, read.headers['access-control-allow-methods']]).toEqual([204, 'GET, HEAD']);
  const odd = await ask('OPTIONS', PATH, { origin: APP, ...PREFLIGHT, 'access-control-request-headers': 'a:b' });
  expect(odd.headers['access-control-allow-headers']).toBeUndefined();
  const plain = await ask('OPTIONS', PATH, { origin: APP });
  expect([plain.status, plain.headers.allow]).toEqual([204, 'POST, OPTIONS']);
  expect(plain.headers['access-control-allow-methods']).toBeUndefined();
});

it.each(['https://evil.example', 'null', 'https://app.example.evil', 'https://APP.example', 'http://app.example', ''])(
  'shows nothing to a page of %j',
  async (origin) => {
    await start([APP]);
    const answer = await ask('POST', PATH, { origin, authorization: 'x' });
    expect([answer.status, corsOf(answer)]).toEqual([200, ['vary']]);
    const preflight = await ask('OPTIONS', PATH, { origin, ...PREFLIGHT });
    expect([preflight.status, corsOf(preflight)]).toEqual([204, ['vary']]);
  },
);
