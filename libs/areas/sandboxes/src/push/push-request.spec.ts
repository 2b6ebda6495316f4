import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, expect, it } from '@jest/globals';
import { Agent } from 'undici';
import { type PushAnswer, type PushDestination, pushRequest, type SendBounds, sendFile } from './push-request.js';

const destination = (change: Partial<PushDestination>): PushDestination => ({
  provider: 'e2b',
  baseUrl: 'https://box.example.com/',
  externalId: 'box-1',
  credential: 'secret',
  ...change,
});
const file = (path = 'a/b c.txt') => ({
  path,
  sizeBytes: 5,
  content: Readable.from([Buffer.from('he'), Buffer.from('llo')], { objectMode: false }),
});

async function bodyOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

it.each([
  ['e2b', 'POST', 'https://box.example.com/files?path=a%2Fb%20c.txt', { 'x-access-token': 'secret' }],
  [
    'daytona',
    'POST',
    'https://box.example.com/toolbox/box-1/toolbox/files/upload?path=a%2Fb%20c.txt',
    { authorization: 'Bearer secret' },
  ],
  [
    'custom',
    'PUT',
    'https://box.example.com/box-1/files?path=a%2Fb%20c.txt',
    { authorization: 'Bearer secret', 'content-type': 'application/octet-stream', 'content-length': '5' },
  ],
] as const)('%s gets the request that it expects', (provider, method, url, headers) => {
  expect(pushRequest(destination({ provider }), file())).toMatchObject({ method, url, headers });
});

it('a multipart body has the declared length, and any parser reads it', async () => {
  const request = pushRequest(destination({}), file('x/"quo"ted\u00fc'));
  const body = await bodyOf(request.body);
  expect(request.headers['content-length']).toBe(String(body.length));
  const form = await new Response(body, { headers: { 'content-type': request.headers['content-type']! } }).formData();
  expect(await (form.get('file') as File).text()).toBe('hello');
});

it.each(['e2b', 'daytona', 'custom'] as const)('%s gets no empty credential', (provider) => {
  const { headers } = pushRequest(destination({ provider, credential: undefined }), file());
  expect(Object.keys(headers).filter((name) => ['authorization', 'x-access-token'].includes(name))).toEqual([]);
});

it('an external id cannot lead to another path', () => {
  expect(pushRequest(destination({ provider: 'daytona', externalId: '../admin?x=' }), file()).url).toContain(
    '/toolbox/..%2Fadmin%3Fx%3D/toolbox/',
  );
});

const IDLE_MS = 400;
const LARGE = 64 * 2 ** 20;

const dispatcher = new Agent();
let server: Server | undefined;
let sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  server?.close();
});

/** Sends that many bytes to a server that handles a connection with `serve`. */
async function send(
  serve: (socket: Socket) => void,
  size: number,
  bounds: Partial<SendBounds> = {},
): Promise<PushAnswer> {
  sockets = [];
  const started = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    serve(socket);
  });
  server = started;
  await new Promise<void>((listening) => started.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(started.address() as AddressInfo).port}/`;
  function* content() {
    for (let left = size; left > 0; left -= 65_536) yield Buffer.alloc(Math.min(left, 65_536));
  }
  const body = Readable.from(content(), { objectMode: false });
  const headers = { 'content-length': String(size) };
  const { signal } = new AbortController();
  return sendFile(
    { url, method: 'PUT', headers, body },
    { dispatcher, signal, limitMs: 60_000, idleTimeoutMs: IDLE_MS, ...bounds },
  );
}

it.each<[string, number, (socket: Socket) => void]>([
  ['accepts and never answers', 10, (socket) => void socket.resume()],
  ['accepts and never reads', LARGE, (socket) => void socket.pause()],
  ['drips a byte and falls silent', 10, (socket) => void socket.resume().once('data', () => socket.write('H'))],
])('a server that %s is given up after the idle time-out', async (_what, size, serve) => {
  const from = performance.now();
  await expect(send(serve, size)).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
  expect(performance.now() - from).toBeLessThan(4 * IDLE_MS);
});

it('a server that takes a little now and then is given up after the whole time', async () => {
  const slowly = (socket: Socket): void => {
    const sip = setInterval(() => socket.resume().once('data', () => socket.pause()), 50);
    socket.once('close', () => clearInterval(sip));
  };
  const bounds = { limitMs: IDLE_MS, idleTimeoutMs: 60_000 };
  await expect(send(slowly, LARGE, bounds)).rejects.toMatchObject({ name: 'TimeoutError' });
});

it('an answer that does not end counts by its status', async () => {
  const answer = (socket: Socket): void =>
    void socket.resume().once('data', () => socket.write('HTTP/1.1 201 Created\r\nContent-Length: 9\r\n\r\nx'));
  expect(await send(answer, 10)).toEqual({ status: 201 });
});

it.each([
  ['Retry-After: 7', 7_000],
  ['Retry-After: 1\r\nRetry-After: 3', 3_000],
  ['Date: Sun, 29 Nov 2020 12:00:00 GMT\r\nRetry-After: Sun, 29 Nov 2020 12:00:45 GMT', 45_000],
  ['Retry-After: -5', undefined],
  ['Retry-After: soon', undefined],
])('an answer with "%s" requests a wait of %s ms', async (headers, retryAfterMs) => {
  const answer = (socket: Socket): void =>
    void socket
      .resume()
      .once('data', () => socket.write(`HTTP/1.1 429 Too Many Requests\r\n${headers}\r\nContent-Length: 0\r\n\r\n`));
  expect(await send(answer, 10)).toEqual({ status: 429, retryAfterMs });
});

it('a push stops at once when the signal aborts', async () => {
  const stop = new AbortController();
  let accepted = performance.now();
  const sending = send(
    (socket) => {
      socket.resume().once('data', () => {
        accepted = performance.now();
        stop.abort(new Error('enough'));
      });
    },
    LARGE,
    { signal: stop.signal, limitMs: 60_000, idleTimeoutMs: 60_000 },
  );
  await expect(sending).rejects.toThrow('enough');
  if (!sockets[0]!.closed) await once(sockets[0]!, 'close');
  expect(performance.now() - accepted).toBeLessThan(30_000);
});
