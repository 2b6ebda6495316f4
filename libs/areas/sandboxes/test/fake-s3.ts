import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As much of S3 as small files need, over a real socket. It can stop answering requests of given methods. */
export interface FakeS3 {
  endpoint: string;
  /** Keys of all objects. */
  keys(): string[];
  /** The server accepts requests of these methods and does not answer them, until the next call. */
  silence(...methods: string[]): void;
  /** Number of requests that were accepted and not answered. */
  unanswered(): number;
  stop(): void;
}

export async function startFakeS3(): Promise<FakeS3> {
  process.env['AWS_ACCESS_KEY_ID'] = 'S3RVER';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'S3RVER';
  const objects = new Map<string, Buffer>();
  let silent: string[] = [];
  let unanswered = 0;
  const server = createServer(async (request, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (silent.includes(request.method!)) return void (unanswered += 1);
    const { pathname, searchParams } = new URL(request.url!, 'http://s3');
    const key = decodeURIComponent(pathname);
    if (searchParams.has('uploads')) return void response.writeHead(501).end();
    if (request.method === 'PUT') objects.set(key, Buffer.concat(chunks));
    if (request.method === 'DELETE') {
      objects.delete(key);
      return void response.writeHead(204).end();
    }
    const content = objects.get(key);
    if (!content) return void response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
    response.setHeader('etag', '"x"');
    response.end(request.method === 'GET' ? content : '');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys: () => [...objects.keys()],
    silence: (...methods) => void ([silent, unanswered] = [methods, 0]),
    unanswered: () => unanswered,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
