import { createServer, type Server } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { causeOf, HealthHistory, probeHealth } from './health.js';

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

it('a server is healthy for 2xx, and gets the credential as a bearer token', async () => {
  expect(await probe('/health', 'k-1')).toEqual({ isHealthy: true, status: 200 });
  expect(authorizations.at(-1)).toBe('Bearer k-1');
  await probe('/health');
  expect(authorizations.at(-1)).toBeUndefined();
});

it.each([
  ['/sick', { isHealthy: false, status: 503, message: 'the health probe returned 503' }],
  ['/redirect', { isHealthy: false, status: 301, message: 'the health probe returned 301' }],
  [
    '/hang',
    { isHealthy: false, cause: 'no response within 0.3 s', message: expect.stringContaining('no response within') },
  ],
  [
    '/trickle',
    { isHealthy: false, cause: 'no response within 0.3 s', message: expect.stringContaining('no response') },
  ],
])('a server is unhealthy for %s', async (path, expected) => {
  expect(await probe(path)).toEqual(expected);
});

it('a server is unhealthy if no process listens', async () => {
  const answer = await probeHealth({
    url: 'http://127.0.0.1:1/health',
    timeoutSeconds: 1,
    dispatcher,
    credential: 'k-1',
  });
  const cause = 'the connection was refused: nothing listens there';
  expect(answer).toEqual({ isHealthy: false, cause, message: `the health probe failed: ${cause}` });
});

it('the cause says in plain words why no answer arrived, for every failure', async () => {
  const causeAt = async (url: string) => (await probeHealth({ url, timeoutSeconds: 2, dispatcher })).cause;
  expect(await causeAt('http://no-such-host.invalid/health')).toMatch(/host name/);
  expect(await causeAt(base.replace('http:', 'https:'))).toMatch(/^TLS failed \((EPROTO|ERR_SSL_\w+)\)$/);
  const talker = createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
  await new Promise<void>((done) => talker.listen(0, '127.0.0.1', done));
  const { port } = talker.address() as AddressInfo;
  const notHttp = await causeAt(`http://127.0.0.1:${port}/`);
  talker.close();
  expect(notHttp).toBe('the response is not HTTP');
  for (const [code, cause] of [
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'TLS failed (DEPTH_ZERO_SELF_SIGNED_CERT)'],
    ['CERT_HAS_EXPIRED', 'TLS failed (CERT_HAS_EXPIRED)'],
    ['ECONNRESET', 'the connection was closed before a response arrived'],
    ['UND_ERR_CONNECT_TIMEOUT', 'no response within 5 s'],
    ['EXOTIC', 'EXOTIC'],
  ])
    expect(causeOf({ code, message: 'the words of somebody else' }, 5)).toBe(cause);
  for (const odd of [new Error('x'), {}, 'text']) expect(causeOf(odd, 5)).not.toBe('');
});

it('the history counts misses in a row per generation, and reports ready only after a healthy probe', () => {
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
