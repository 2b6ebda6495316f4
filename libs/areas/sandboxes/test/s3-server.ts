import type { Server as HttpServer } from 'node:http';
import { createRequire } from 'node:module';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';

interface Server {
  httpServer?: HttpServer;
  run(): Promise<AddressInfo>;
  close(): Promise<void>;
}

// The package is CommonJS without types.
const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => Server;

export interface S3Server {
  endpoint: string;
  /** Names of all objects in the bucket. */
  contents(): Promise<string[]>;
  stop(): Promise<void>;
}

/**
 * Starts s3rver, an S3-compatible server from npm, with one bucket named `workspaces`. Sets the credentials it knows.
 */
export async function startS3(): Promise<S3Server> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: 'workspaces' }],
  });
  const { port } = await server.run();
  process.env['AWS_ACCESS_KEY_ID'] = 'S3RVER';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'S3RVER';
  return {
    endpoint: `http://127.0.0.1:${port}`,
    contents: async () =>
      (await readdir(path.join(directory, 'workspaces'), { recursive: true })).filter((name) =>
        name.endsWith('_object'),
      ),
    stop: async () => {
      // An aborted upload may have left a connection open, and the server would wait for it.
      server.httpServer?.closeAllConnections();
      await server.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
