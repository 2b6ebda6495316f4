import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inTime } from './in-time.js';
import { renderMetrics } from './metrics.js';

export interface ProbeServerOptions {
  /** 0 = any free port. */
  port: number;
  host: string;
  /** Resolves if the process can do its work. If it rejects, its message becomes the reason of a 503. */
  ready(): Promise<void>;
  /** If set, /metrics requires it as a bearer token. */
  metricsToken?: string;
  /** Renders the response of /metrics; by default, the metrics registered in this library. */
  render?: () => Promise<{ contentType: string; body: string }>;
}

export interface ProbeServer {
  port: number;
  close(): Promise<void>;
}

const PATHS = new Set(['/healthz', '/readyz', '/metrics']);
const ALLOW = { allow: 'GET, HEAD, OPTIONS' };

/** A readiness check that takes longer counts as not ready. Shorter than the usual probe timeout of orchestrators. */
const READY_TIMEOUT_MS = 2_000;

/**
 * Serves /healthz (the process is alive), /readyz and /metrics on a port of their own, for processes that serve no
 * other HTTP. It does not use `@nestjs/terminus`, which needs Nest's HTTP and whose answers differ in shape from the
 * contract's.
 */
export async function startProbeServer(options: ProbeServerOptions): Promise<ProbeServer> {
  const server = createServer((request, response) => {
    answer(request, response, options).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, options: ProbeServerOptions): Promise<void> {
  const path = request.url?.split('?', 1)[0];
  if (path === undefined || !PATHS.has(path)) return json(response, 404, { status: 'not_found' });
  if (request.method === 'OPTIONS') return void response.writeHead(204, ALLOW).end();
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return json(response, 405, { status: 'method_not_allowed' }, ALLOW);
  if (path === '/healthz') return json(response, 200, { status: 'ok' });
  if (path === '/readyz') {
    const reason = await whyNotReady(options.ready);
    return reason === undefined
      ? json(response, 200, { status: 'ready' })
      : json(response, 503, { status: 'unavailable', reason });
  }
  if (options.metricsToken && !holds(request, options.metricsToken))
    return json(response, 401, { status: 'unauthenticated' }, { 'www-authenticate': 'Bearer' });
  const { contentType, body } = await (options.render ?? renderMetrics)();
  response.writeHead(200, { 'content-type': contentType }).end(body);
}

async function whyNotReady(ready: () => Promise<void>): Promise<string | undefined> {
  try {
    await inTime(ready(), READY_TIMEOUT_MS, () => new Error('the readiness check took too long'));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function holds(request: IncomingMessage, token: string): boolean {
  const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
    .end(JSON.stringify(body));
}
