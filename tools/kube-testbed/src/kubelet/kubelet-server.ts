import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import type { ClusterAccess } from '../access.js';
import type { LogQuery } from './container-log.js';
import type { PodWorker } from './pod-worker.js';

/** The port of real kubelets. */
const PORT = 10_250;
const NETWORK = '127.77';
const MOST_NETWORKS = 254;

/**
 * Serves the requests of the API server to a node: `/containerLogs/…` over TLS. It listens on the first address of a
 * /24 of loopback, and so reserves that network for this process.
 */
export class KubeletServer {
  private constructor(
    private readonly server: https.Server,
    /** `127.77.9`. */
    readonly network: string,
  ) {}

  /** @throws Error if all networks are taken */
  static async start(
    tls: ClusterAccess['tls'],
    find: (namespace: string, pod: string) => PodWorker | undefined,
  ): Promise<KubeletServer> {
    const server = https.createServer({ cert: readFileSync(tls.cert), key: readFileSync(tls.key) }, (asked, answer) => {
      void serve(asked, answer, find).catch(() => answer.destroy());
    });
    const first = Math.floor(Math.random() * MOST_NETWORKS);
    for (let tried = 0; tried < MOST_NETWORKS; tried += 1) {
      const network = `${NETWORK}.${1 + ((first + tried) % MOST_NETWORKS)}`;
      if (await listens(server, `${network}.1`)) return new KubeletServer(server, network);
    }
    throw new Error(`no network of ${NETWORK}.0.0/16 is free: each has a process that listens on its .1:${PORT}`);
  }

  get address(): string {
    return `${this.network}.1`;
  }

  get port(): number {
    return PORT;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

function listens(server: https.Server, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    server.once('error', onError);
    server.listen(PORT, host, () => {
      server.off('error', onError);
      resolve(true);
    });
  });
}

async function serve(
  asked: IncomingMessage,
  answer: ServerResponse,
  find: (namespace: string, pod: string) => PodWorker | undefined,
): Promise<void> {
  const url = new URL(asked.url ?? '/', 'https://node');
  const [, what, namespace = '', pod = '', container = ''] = url.pathname.split('/').map(decodeURIComponent);
  const refuse = (status: number, why: string): void => void answer.writeHead(status).end(why);
  if (what !== 'containerLogs') return refuse(404, '404 page not found');
  const worker = find(namespace, pod);
  if (!worker) return refuse(404, `pod "${pod}" not found`);
  if (!worker.hasContainer(container)) return refuse(404, `container "${container}" not found in pod "${pod}"`);
  const isPrevious = url.searchParams.get('previous') === 'true';
  const run = worker.runOf(container, isPrevious);
  if (!run)
    return refuse(
      400,
      isPrevious
        ? `previous terminated container "${container}" in pod "${pod}" not found`
        : `container "${container}" in pod "${pod}" is waiting to start: ContainerCreating`,
    );
  const left = new AbortController();
  answer.once('close', () => left.abort());
  answer.writeHead(200, { 'content-type': 'text/plain' });
  answer.flushHeaders();
  await pipeline(Readable.from(run.log.read(queryOf(url.searchParams), left.signal)), answer);
}

function queryOf(asked: URLSearchParams): LogQuery {
  const number = (name: string): number | undefined => (asked.has(name) ? Number(asked.get(name)) : undefined);
  const sinceSeconds = number('sinceSeconds');
  const sinceTime = asked.get('sinceTime');
  return {
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
    since:
      sinceTime !== null
        ? new Date(sinceTime)
        : sinceSeconds === undefined
          ? undefined
          : new Date(Date.now() - sinceSeconds * 1_000),
    timestamps: asked.get('timestamps') === 'true',
    follow: asked.get('follow') === 'true',
    stream: asked.get('stream') ?? undefined,
  };
}
