import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { bootApi, type TestApi } from '../harness/boot-api.js';
import { ask, codeIn, signInAt, type BrowserSession } from './console-browser.js';

/** Replaces the gateway: it reports the requests that reach it, and sends headers that our gateway never sends. */
let upstream: Server;
let api: TestApi;
let session: BrowserSession;
const seen: { url?: string; headers: IncomingHttpHeaders; body: string }[] = [];

beforeAll(async () => {
  upstream = createServer((request, response) => {
    if (request.url?.endsWith('/silence')) return void request.socket.once('close', () => upstream.emit('left'));
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      seen.push({ url: request.url, headers: request.headers, body });
      response.writeHead(200, {
        'content-type': 'text/html',
        'x-slipway-revision': 'chat-00001',
        'x-context-passport': 'cp_1',
        'x-affinity': 'hit',
        'x-request-id': String(request.headers['x-request-id']),
        'set-cookie': 'slipway_console_session=theirs',
        'access-control-allow-origin': '*',
        'content-security-policy': "default-src 'self'",
        location: 'https://evil.example/',
      });
      response.end('<script>alert(1)</script>');
    });
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const { port } = upstream.address() as AddressInfo;
  api = await bootApi({ SLIPWAY_CONSOLE_GATEWAY_URL: `http://127.0.0.1:${port}/inference/` });
  session = await signInAt(api.url, api.token);
});
afterAll(async () => {
  await api?.close();
  upstream.closeAllConnections();
  upstream.close();
});

const post = (path: string, headers: Record<string, string> = {}) =>
  ask(api.url, 'POST', `/console/gateway${path}`, {
    headers: { cookie: session.cookie, 'x-csrf-token': session.csrf, ...headers },
    body: { model: 'chat' },
  });

it('sends the gateway the token instead of the headers that identify the browser', async () => {
  await post('/v1/chat/completions?a=1', {
    authorization: 'Bearer slw_mine',
    origin: api.url,
    referer: `${api.url}/playground`,
    'sec-fetch-site': 'same-origin',
    'sec-ch-ua': 'x',
    'user-agent': 'browser',
    'x-forwarded-for': '10.0.0.1',
    forwarded: 'for=10.0.0.1',
    'x-request-id': 'mine-2',
    'x-session-id': 's-1',
    accept: 'text/event-stream',
  });
  const { url, headers, body } = seen.at(-1)!;
  expect([url, body]).toEqual(['/inference/v1/chat/completions?a=1', '{"model":"chat"}']);
  const { host: _host, connection: _connection, ...said } = headers;
  expect(said).toEqual({
    accept: 'text/event-stream',
    authorization: `Bearer ${api.token}`,
    'content-length': '16',
    'content-type': 'application/json',
    'x-request-id': 'mine-2',
    'x-session-id': 's-1',
  });
});

it('returns the headers that a playground shows, and none that makes a browser act', async () => {
  const { status, headers, text } = await post('/v1/chat/completions', { 'x-request-id': 'mine-3' });
  expect([status, text]).toEqual([200, '<script>alert(1)</script>']);
  for (const [name, value] of Object.entries({
    'x-slipway-revision': 'chat-00001',
    'x-context-passport': 'cp_1',
    'x-affinity': 'hit',
    'x-request-id': 'mine-3',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'set-cookie': null,
    location: null,
    'access-control-allow-origin': null,
  }))
    expect([name, headers.get(name)]).toEqual([name, value]);
});

it('aborts the request of a client that leaves before the answer begins', async () => {
  const { hostname, port } = new URL(api.url);
  const sent = httpRequest({
    hostname,
    port,
    method: 'GET',
    path: '/console/gateway/v1/silence',
    agent: false,
    headers: { cookie: session.cookie },
  });
  sent.on('error', () => undefined);
  const arrived = once(upstream, 'request');
  const left = once(upstream, 'left', { signal: AbortSignal.timeout(10_000) });
  sent.end();
  await arrived;
  sent.destroy();
  await left;
});

it('sends the gateway nothing for a token that was revoked', async () => {
  const { token, id } = await api.slipway().tokens.create({ name: 'gone', scopes: ['viewer'] });
  const other = await signInAt(api.url, token!);
  await api.slipway().tokens.revoke(id);
  const before = seen.length;
  const answer = await ask(api.url, 'GET', '/console/gateway/v1/models', { headers: { cookie: other.cookie } });
  expect([codeIn(answer), seen.length]).toEqual(['401 unauthenticated', before]);
});
