import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { newBlob, StoreStalledError } from '../src/storage/blob-store.js';
import { BoundedStore, createBlobStore } from '../src/storage/bounded-store.js';
import { S3Store } from '../src/storage/s3-store.js';
import { describeBlobStore } from './blob-store-conformance.js';
import { startS3 } from './s3-server.js';
import { eventually } from './tenants.js';

describeBlobStore(async () => {
  const server = await startS3();
  const store = await createBlobStore({
    upload: {
      maxBytes: 1,
      workspaceStore: 's3://workspaces/some/prefix',
      s3: { endpoint: server.endpoint, region: 'us-east-1' },
    },
  });
  return { store, contents: server.contents, stop: server.stop };
});

it('the S3 store lists and aborts the leftover parts of a killed writer', async () => {
  const blob = newBlob('sbx_killed');
  const calls: string[] = [];
  // s3rver has neither call, so this stub answers as the S3 reference says.
  const stub = createServer((request, response) => {
    calls.push(`${request.method} ${decodeURIComponent(request.url!).replace(/&?x-id=\w+/, '')}`);
    if (!request.url!.includes('uploads=')) return response.writeHead(204).end();
    const upload = `<Upload><Key>p/${blob}</Key><UploadId>u1</UploadId></Upload>`;
    return response.end(
      `<?xml version="1.0"?><ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${upload}</ListMultipartUploadsResult>`,
    );
  });
  await new Promise<void>((resolve) => stub.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(stub.address() as AddressInfo).port}`;
  const store = await createBlobStore({
    upload: { maxBytes: 1, workspaceStore: 's3://bucket/p', s3: { endpoint, region: 'us-east-1' } },
  });
  await store.remove(blob);
  await store.close();
  stub.close();
  expect(calls[0]).toMatch(new RegExp(`^DELETE /bucket/p/${blob}`));
  expect(calls[1]).toMatch(new RegExp(`^GET /bucket/\\?.*prefix=p/${blob}.*uploads=`));
  expect(calls[2]).toMatch(new RegExp(`^DELETE /bucket/p/${blob}\\?.*uploadId=u1`));
});

const IDLE_MS = 400;
const bytes = (size: number) => Readable.from([Buffer.alloc(size)], { objectMode: false });

/** Longer than the store takes to find a stall on a busy machine. */
const LONG_MS = 50 * IDLE_MS;

/** A store whose server handles a connection with `serve`. */
async function storeOf(serve: (socket: Socket) => void, withinMs = 5 * IDLE_MS) {
  const sockets: Socket[] = [];
  const server = createSocketServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    serve(socket);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const s3 = new S3Store({ bucket: 'b', prefix: '', region: 'us-east-1', endpoint, idleTimeoutMs: IDLE_MS });
  return {
    store: new BoundedStore(s3, withinMs),
    sockets,
    stop: async () => {
      await s3.close();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const accepting: [string, (socket: Socket) => void][] = [
  ['accepts and never answers', (socket) => void socket.resume()],
  ['accepts and never reads', (socket) => void socket.pause()],
  ['drips a byte and falls silent', (socket) => void socket.resume().once('data', () => socket.write('H'))],
];

it.each(accepting)(
  'a server that %s is given up after the idle time-out, and gets no second request',
  async (_what, serve) => {
    const { store, sockets, stop } = await storeOf(serve, LONG_MS);
    const blob = newBlob('sbx_silent');
    for (const call of [
      () => store.read(blob),
      () => store.remove(blob),
      () => store.write(blob, bytes(10), { bytes: 10 }),
      () => store.write(blob, bytes(25 * 2 ** 20), { bytes: 25 * 2 ** 20 }),
    ]) {
      const [from, connections] = [performance.now(), sockets.length];
      await expect(call()).rejects.toThrow(StoreStalledError);
      expect(performance.now() - from).toBeLessThan(LONG_MS / 2);
      expect(sockets.length - connections).toBe(1);
    }
    await stop();
  },
);

it('a server that falls silent in the middle of an upload gets no request to abort it', async () => {
  const requests: string[] = [];
  const started = '<InitiateMultipartUploadResult><UploadId>u1</UploadId></InitiateMultipartUploadResult>';
  const http = createServer((request, response) => {
    requests.push(request.method!);
    request.resume();
    if (request.method === 'POST') response.end(started);
  });
  const { store, stop } = await storeOf((socket) => void http.emit('connection', socket), LONG_MS);
  const from = performance.now();
  const size = 25 * 2 ** 20;
  await expect(store.write(newBlob('sbx_silent'), bytes(size), { bytes: size })).rejects.toThrow(StoreStalledError);
  expect(performance.now() - from).toBeLessThan(LONG_MS / 2);
  expect(requests).toEqual(['POST', 'PUT', 'PUT']);
  await stop();
});

it('content that arrives slowly is read, content that stops breaks off', async () => {
  const { store, stop } = await storeOf((socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
      let dripped = 0;
      const drip = setInterval(() => {
        socket.write('x');
        if ((dripped += 1) === 20) clearInterval(drip);
      }, IDLE_MS / 2);
    }),
  );
  const content = await store.read(newBlob('sbx_drips'));
  let seen = 0;
  const reading = (async () => {
    for await (const chunk of content) seen += (chunk as Buffer).length;
  })();
  await expect(reading).rejects.toThrow();
  expect(seen).toBe(20);
  await stop();
});

it('every call to a silent server stops at once when its signal aborts', async () => {
  const { store, sockets, stop } = await storeOf((socket) => void socket.resume());
  const blob = newBlob('sbx_silent');
  for (const call of [
    (signal: AbortSignal) => store.read(blob, signal),
    (signal: AbortSignal) => store.remove(blob, signal),
    (signal: AbortSignal) => store.write(blob, bytes(25 * 2 ** 20), { bytes: 25 * 2 ** 20, signal }),
  ]) {
    const [stopping, reason, connections] = [new AbortController(), new Error('enough'), sockets.length];
    const calling = call(stopping.signal);
    await eventually(async () => sockets.length > connections, 'the server is asked');
    const [from, closed] = [performance.now(), once(sockets.at(-1)!, 'close')];
    stopping.abort(reason);
    await expect(calling).rejects.toBe(reason);
    await closed;
    expect(performance.now() - from).toBeLessThan(IDLE_MS / 2);
  }
  await stop();
});
