import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { HealthHistory, probeHealth } from './health.js';

let server: Server;
let base: string;
const dispatcher = new Agent();
const authorizations: (string | undefined)[] = [];
beforeAll(async () => {
  server = createServer((incoming, outgoing) => {
    authorizations.push(incoming.headers.authorization);
    if (incoming.url === '/hang') return;
    if (incoming.url === '/trickle') {
      outgoing.write('x');
      return;
    }
    if (incoming.url === '/redirect') outgoing.setHeader('location', '/health');
    outgoing.statusCode = incoming.url === '/redirect' ? 301 : incoming.url === '/sick' ? 503 : 200;
    outgoing.end('{}');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await dispatcher.destroy();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const probe = (path: string, credential?: string) =>
  probeHealth({ url: base + path, timeoutSeconds: 0.3, dispatcher, credential });

it('is healthy for 2xx, and sends the credential as a bearer token', async () => {
  expect(await probe('/health', 'k-1')).toEqual({ healthy: true, status: 200 });
  expect(authorizations.at(-1)).toBe('Bearer k-1');
  await probe('/health');
  expect(authorizations.at(-1)).toBeUndefined();
});

it.each([
  ['/sick', { healthy: false, status: 503, message: 'the health probe answered 503' }],
  ['/redirect', { healthy: false, status: 301, message: 'the health probe answered 301' }],
  ['/hang', { healthy: false, message: 'the health probe failed: no answer within 0.3 s' }],
  ['/trickle', { healthy: false, message: 'the health probe failed: no answer within 0.3 s' }],
])('is unhealthy for %s', async (path, expected) => {
  expect(await probe(path)).toEqual(expected);
});

it('is unhealthy when nobody listens', async () => {
  const answer = await probeHealth({
    url: 'http://127.0.0.1:1/health',
    timeoutSeconds: 1,
    dispatcher,
    credential: 'k-1',
  });
  expect(answer).toEqual({ healthy: false, message: 'the health probe failed: ECONNREFUSED' });
});

it('counts misses in a row per generation and says ready only after evidence', () => {
  const history = new HealthHistory();
  expect(history.note('a', 1, false, 2)).toBe('undecided');
  expect(history.note('a', 1, true, 2)).toBe('ready');
  expect(history.note('a', 1, false, 2)).toBe('ready');
  expect(history.note('a', 1, false, 2)).toBe('unhealthy');
  expect(history.note('a', 1, false, 2)).toBe('unhealthy');
  expect(history.note('a', 1, true, 2)).toBe('ready');
  expect(history.note('a', 2, false, 2)).toBe('undecided');
  expect(history.note('b', 1, false, 1)).toBe('unhealthy');
  history.forget('b');
  expect(history.note('b', 1, false, 2)).toBe('undecided');
});
