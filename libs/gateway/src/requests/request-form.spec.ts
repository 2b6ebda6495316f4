import type { Server } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { SILENT_LOG } from '../log.js';
import { DEFAULT_SETTINGS } from '../settings.js';
import { readBody } from './body-reader.js';
import { isOnlyContinue, pathOf } from './request-form.js';
import { createGatewayServer, type Handlers } from './server.js';

const PATH = '/v1/chat/completions';
const BODY = '{"model":"m"}';
const HELD = { take: () => undefined, give: () => undefined, release: () => undefined };

let server: Server;
let infer: Handlers['infer'];

beforeEach(async () => {
  infer = async (request, response, path, requestId) => {
    const { text } = await readBody(request, 1_000, HELD);
    response.writeHead(200, { 'x-request-id': requestId, 'x-path': path }).end(text);
  };
  const handlers: Handlers = {
    infer: (...of) => infer(...of),
    models: async (_request, id) => ({ id }),
    metrics: async () => '',
    readiness: () => ({ isReady: true, status: {} }),
  };
  server = createGatewayServer(handlers, DEFAULT_SETTINGS, () => false, SILENT_LOG);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
});

/** Resolves with everything that the server sends on one connection. The client ends its side after its bytes. */
function sent(bytes: string | Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const { port } = server.address() as AddressInfo;
    const socket = net.connect({ port, host: '127.0.0.1' }, () => socket.end(bytes));
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

/** Returns status and code of the last answer, and whether it has a request id. */
function outcomeOf(answer: string): unknown[] {
  const last = answer.slice(answer.lastIndexOf('HTTP/1.1 '));
  return [Number(last.split(' ')[1]), /"code":"(\w+)"/.exec(last)?.[1], /^x-request-id: \S+\r$/im.test(last)];
}
const head = (line: string, ...lines: string[]): string => [line, 'host: a', ...lines, '', ''].join('\r\n');
const post = (target: string, ...lines: string[]): string =>
  head(`POST ${target} HTTP/1.1`, `content-length: ${BODY.length}`, ...lines) + BODY;

it.each([
  ['a path', post(PATH)],
  ['a query', post(`${PATH}?a=/v1/models&b`)],
  ['a whole URL', post(`http://gateway.example:80${PATH}`)],
  ['a whole URL in capitals with a query', post(`HTTPS://gateway.example${PATH}?a`)],
  ['escaped letters', post('/v1/%63hat/%63omple%74ions')],
  ['100-continue', post(PATH, 'expect: 100-Continue')],
  ['an upgrade that need not happen', post(PATH, 'connection: upgrade, http2-settings', 'upgrade: h2c')],
  ['HTTP/1.0 without a host', `POST ${PATH} HTTP/1.0\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`],
  ['HTTP/1.0 with an expectation', post(PATH, 'expect: x').replace('HTTP/1.1', 'HTTP/1.0')],
  [
    'chunks',
    `${head(`POST ${PATH} HTTP/1.1`, 'transfer-encoding: Chunked')}d;x=y\r\n${BODY}\r\n0\r\nx-trailer: a\r\n\r\n`,
  ],
  ['an empty host', post(PATH).replace('host: a', 'host:')],
  ['thousands of headers', post(PATH, ...Array.from({ length: 2_200 }, () => 'a:'))],
])('serves a request with %s', async (_what, bytes) => {
  const answer = await sent(bytes);
  expect([outcomeOf(answer), answer.includes(BODY)]).toEqual([[200, undefined, true], true]);
  expect(answer).toMatch(new RegExp(`^x-path: ${PATH}\r$`, 'm'));
});

it.each([
  ['no host', post(PATH).replace('host: a\r\n', ''), 400, 'invalid_request'],
  ['two hosts', post(PATH, 'Host: a'), 400, 'invalid_request'],
  ['two hosts after two thousand headers', post(PATH, ...Array(2_100).fill('a:'), 'hOst: b'), 400, 'invalid_request'],
  ['a host that is none', post(PATH).replace('host: a', 'host: a/b'), 400, 'invalid_request'],
  ['an unknown expectation', post(PATH, 'expect: teapot'), 417, 'expectation_failed'],
  ['a further expectation', post(PATH, 'expect: 100-continue, teapot'), 417, 'expectation_failed'],
  [
    'another transfer coding',
    `${head(`POST ${PATH} HTTP/1.1`, 'transfer-encoding: gzip, chunked')}0\r\n\r\n`,
    501,
    'unsupported_transfer_coding',
  ],
  ['only another transfer coding', head(`POST ${PATH} HTTP/1.1`, 'transfer-encoding: gzip'), 400, 'invalid_request'],
  [
    'chunks in HTTP/1.0',
    `${head(`POST ${PATH} HTTP/1.0`, 'transfer-encoding: chunked')}0\r\n\r\n`,
    400,
    'invalid_request',
  ],
  [
    'two lengths of a body',
    `${head(`POST ${PATH} HTTP/1.1`, 'content-length: 1', 'transfer-encoding: chunked')}0\r\n\r\n`,
    400,
    'invalid_request',
  ],
  ['a repeated length', post(PATH, 'content-length: 2'), 400, 'invalid_request'],
  ['a negative length', post(PATH).replace(/(?<=length: )\d+/, '-1'), 400, 'invalid_request'],
  ['a broken chunk', `${head(`POST ${PATH} HTTP/1.1`, 'transfer-encoding: chunked')}x\r\n`, 400, 'invalid_request'],
  ['a zero byte in a header', post(PATH, 'x: a\0b'), 400, 'invalid_request'],
  ['a name with a blank', post(PATH, 'x : a'), 400, 'invalid_request'],
  ['a line that goes on', post(PATH, 'x: a', ' b'), 400, 'invalid_request'],
  ['a bare line feed', 'GET /healthz HTTP/1.1\nhost: a\n\n', 400, 'invalid_request'],
  ['a version of the future', head('GET /healthz HTTP/3.0'), 400, 'invalid_request'],
  ['no version', 'GET /healthz\r\n\r\n', 400, 'invalid_request'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_request'],
  ['TLS', Buffer.from('16030100a5010000a1', 'hex'), 400, 'invalid_request'],
  ['an unknown method', head(`FETCH ${PATH} HTTP/1.1`), 405, 'method_not_allowed'],
  ['a method in lower case', head(`post ${PATH} HTTP/1.1`), 405, 'method_not_allowed'],
  ['an unknown method of an unknown path', head('FETCH /nowhere HTTP/1.1'), 404, 'unknown_url'],
  ['a method of another kind', head(`TRACE ${PATH} HTTP/1.1`), 405, 'method_not_allowed'],
  ['a tunnel', 'CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n', 405, 'method_not_allowed'],
  ['a tunnel without a host', 'CONNECT a:443 HTTP/1.1\r\n\r\n', 405, 'method_not_allowed'],
  ['a target without a slash', head('GET healthz HTTP/1.1'), 400, 'invalid_request'],
  ['a target with a blank', head('GET /health z HTTP/1.1'), 400, 'invalid_request'],
  ['a target of another scheme', head('GET ftp://a/healthz HTTP/1.1'), 404, 'unknown_url'],
  ['an asterisk', head('GET * HTTP/1.1'), 404, 'unknown_url'],
  ['a URL without a path', head('GET http://a HTTP/1.1'), 404, 'unknown_url'],
  ['a slash at the end', post(`${PATH}/`), 404, 'unknown_url'],
  ['two slashes', post('//v1/chat/completions'), 404, 'unknown_url'],
  ['an escaped slash', post('/v1%2Fchat%2Fcompletions'), 404, 'unknown_url'],
  ['a long target', head(`GET /${'a'.repeat(20_000)} HTTP/1.1`), 431, 'headers_too_large'],
  ['a megabyte of headers', head('GET /healthz HTTP/1.1', `x: ${'a'.repeat(1_000_000)}`), 431, 'headers_too_large'],
])('answers a request with %s in its own envelope', async (_what, bytes, status, code) => {
  expect(outcomeOf(await sent(bytes))).toEqual([status, code, true]);
});

it('has the methods of the whole server', async () => {
  const answer = await sent(head('OPTIONS * HTTP/1.1'));
  expect([outcomeOf(answer), /^allow: (.*)\r$/m.exec(answer)?.[1]]).toEqual([
    [204, undefined, true],
    'GET, HEAD, POST, OPTIONS',
  ]);
  expect(await sent('CONNECT a:443 HTTP/1.1\r\nx-request-id: mine\r\n\r\n')).toMatch(
    /^allow: .*\r\nx-request-id: mine\r$/m,
  );
});

it('sends 100 Continue only for a request that may have a body, and closes if it did not', async () => {
  const expecting = (line: string, ...lines: string[]): string => head(line, 'expect: 100-continue', ...lines);
  for (const line of [`PUT ${PATH} HTTP/1.1`, 'POST /nowhere HTTP/1.1', 'POST /v1/models HTTP/1.1']) {
    const answer = await sent(expecting(line, 'content-length: 5'));
    expect(answer).toMatch(/^HTTP\/1.1 40[45] [^]*^connection: close\r$/im);
  }
  const refused = await sent(post(PATH, 'expect: teapot').slice(0, -BODY.length));
  expect(refused).toMatch(/^HTTP\/1.1 417 [^]*^connection: close\r$/im);
});

it('writes no refusal into an answer that has begun', async () => {
  infer = async (_request, response) => void response.writeHead(200, { 'x-request-id': 'a' }).write('begun');
  const answer = await sent(`${post(PATH)}nonsense\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 200 /);
  expect(answer).not.toContain('HTTP/1.1 400');
});

it.each([
  ['/v1/models?x', '/v1/models'],
  ['http://a?x=/b', '/'],
  ['http://a/b?c', '/b'],
  ['/v1/models/%61%2Fb%2525%zz', '/v1/models/a%2Fb%2525%zz'],
  ['/%2e%2E/~%7e', '/../~~'],
  ['//a/b', '//a/b'],
])('reads the path of %s', (target, path) => expect(pathOf(target)).toBe(path));

it.each([
  ['100-continue', true],
  [' , 100-Continue,\u00a0', true],
  ['100-continue teapot', false],
  [`${'\u00a0'.repeat(16_000)}x`, false],
])('finds out in linear time whether a client only expects 100 Continue', (header, isOnly) => {
  const before = process.cpuUsage();
  expect(isOnlyContinue(header)).toBe(isOnly);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(100);
});
