import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { Egress } from './egress.js';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

let server: Server;
let egress: Egress;
/** The connections that were accepted. */
let sockets: Socket[];

afterEach(async () => {
  await egress.onApplicationShutdown();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** @param onData called with each request, by the number of its connection and of the request within it, from 0 */
async function start(onData: (socket: Socket, connection: number, request: number, text: string) => void) {
  sockets = [];
  server = createServer((socket) => {
    const connection = sockets.push(socket) - 1;
    let requests = 0;
    socket.on('error', () => undefined).on('data', (data) => onData(socket, connection, requests++, data.toString()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  egress = new Egress(() => ['http://127.0.0.1:*']);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?a=1`;
}

const send = async (url: string, signal = new AbortController().signal) => {
  const answer = await egress
    .post(egress.patterns('acme'))
    .send(url, { headers: { 'x-one': '1' }, body: '{}', signal });
  let text = '';
  for await (const chunk of answer.body) text += String(chunk);
  return { status: answer.status, text };
};

it('a request has the path, the host and the length, and its connection is used again', async () => {
  const requests: string[] = [];
  const url = await start((socket, _connection, _request, text) => {
    requests.push(text);
    socket.write(OK);
  });
  expect([await send(url), await send(url)]).toEqual(Array(2).fill({ status: 200, text: 'ok' }));
  expect(sockets).toHaveLength(1);
  expect(requests[0]).toMatch(/^POST \/hook\?a=1 HTTP\/1\.1\r\n/);
  for (const header of [`host: ${new URL(url).host}`, 'x-one: 1', 'content-length: 2'])
    expect(requests[0]!.toLowerCase()).toContain(`\r\n${header}\r\n`);
});

it('interim answers are accepted, and a switch of protocols is not', async () => {
  const url = await start((socket) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${OK}`),
  );
  expect(await send(url)).toEqual({ status: 200, text: 'ok' });
  server.close();
  sockets.forEach((socket) => socket.destroy());
  await egress.onApplicationShutdown();
  const other = await start((socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
  );
  await expect(send(other)).rejects.toMatchObject({ code: 'HPE_UPGRADE' });
});

it('a request on a connection that was closed in the meantime is sent once more, on a new one', async () => {
  const url = await start((socket, connection, request) => {
    if (connection === 0 && request > 0) socket.resetAndDestroy();
    else socket.write(OK);
  });
  expect([await send(url), await send(url)]).toEqual(Array(2).fill({ status: 200, text: 'ok' }));
  expect(sockets).toHaveLength(2);
});

it('a request that a new connection loses is not sent again', async () => {
  const url = await start((socket) => void socket.resetAndDestroy());
  await expect(send(url)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(sockets).toHaveLength(1);
});

it('a host that the patterns do not permit is not called', async () => {
  const url = await start((socket) => socket.write(OK));
  await expect(send(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
  await expect(send(url.replace('http:', 'https:'))).rejects.toMatchObject({ code: 'EGRESS_REFUSED' });
  expect(sockets).toHaveLength(0);
});

it('an abort ends a request that waits for its answer, and closes the connection', async () => {
  const ended = new AbortController();
  let closed: Promise<unknown> | undefined;
  const url = await start((socket) => {
    closed = new Promise((resolve) => socket.once('close', resolve));
    ended.abort();
  });
  await expect(send(url, ended.signal)).rejects.toMatchObject({ name: 'AbortError' });
  await closed;
});
