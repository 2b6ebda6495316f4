import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { KEEP_ALIVE } from '@slipway/contracts';
import { GatewayError, internalError, notReady } from '../gateway.errors.js';
import type { Log } from '../log.js';
import type { GatewaySettings } from '../settings.js';
import { ClientGoneError } from './body-reader.js';
import { CorsPolicy } from './cors.js';
import { allowOf, EVERY_METHOD, INFERENCE_PATHS, kindOf, methodsOf, modelIdOf, refusalOf, serves } from './paths.js';
import {
  assertWellFormed,
  isOnlyContinue,
  LINGER_MS,
  pathOf,
  refuseConnect,
  refuseRaw,
  requestIdOf,
} from './request-form.js';

/** The handlers that serve the paths. */
export interface Handlers {
  /** Resolves once the request is sent upstream; rejects with the error to answer instead. */
  infer(request: IncomingMessage, response: ServerResponse, path: string, requestId: string): Promise<void>;
  /** Returns all models, or the one named. Checks the token itself. */
  models(request: IncomingMessage, id: string | undefined): Promise<unknown>;
  /** @throws GatewayError 401 if the caller may not read metrics */
  metrics(request: IncomingMessage): Promise<string>;
  readiness(): { isReady: boolean; status: Record<string, unknown> };
}

/** A refused body of up to this many bytes is read to its end, so that the connection can be kept. */
const WORTH_READING = 1024 * 1024;

export function createGatewayServer(
  handlers: Handlers,
  settings: GatewaySettings,
  isDraining: () => boolean,
  log: Log,
  onRefusal: (error: GatewayError) => void = () => undefined,
): Server {
  const cors = new CorsPolicy(settings.corsOrigins);
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const requestId = requestIdOf(request);
    cors.mark(request, response);
    if (isDraining()) response.shouldKeepAlive = false;
    answer(request, response, requestId).catch((error: unknown) => {
      if (error instanceof ClientGoneError) return;
      // It may have been admitted before. The client's next request must reach another process.
      if (isDraining()) response.shouldKeepAlive = false;
      if (!(error instanceof GatewayError))
        log.error(
          { request_id: requestId, error: error instanceof Error ? error.stack : String(error) },
          'a request failed',
        );
      const refusal = error instanceof GatewayError ? error : internalError();
      onRefusal(refusal);
      refuse(request, response, refusal, requestId);
    });
  };

  const answer = async (request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> => {
    assertWellFormed(request);
    const path = pathOf(request.url as string);
    if (path === '*' && request.method === 'OPTIONS') {
      response.writeHead(204, { allow: EVERY_METHOD, 'x-request-id': requestId }).end();
      return;
    }
    const method = request.method as string;
    const kind = kindOf(path);
    if (!kind) throw refusalOf(method, path);
    if (cors.isPreflight(request)) {
      cors.permit(request, response, methodsOf(kind), requestId);
      return;
    }
    if (method === 'OPTIONS') {
      response.writeHead(204, { allow: allowOf(kind), 'x-request-id': requestId }).end();
      return;
    }
    if (!serves(kind, method)) throw refusalOf(method, path);
    if (kind === 'inference') {
      if (!handlers.readiness().isReady && !isDraining()) throw notReady();
      await handlers.infer(request, response, path, requestId);
      return;
    }
    if (path === '/healthz') sendJson(response, 200, { status: 'ok' }, requestId);
    else if (path === '/readyz') {
      const { isReady, status } = handlers.readiness();
      sendJson(response, isReady ? 200 : 503, status, requestId);
    } else if (path === '/metrics') {
      const text = await handlers.metrics(request);
      response.writeHead(200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'x-request-id': requestId,
      });
      response.end(text);
    } else
      sendJson(
        response,
        200,
        await handlers.models(request, kind === 'model' ? modelIdOf(path) : undefined),
        requestId,
      );
  };

  const server = createServer(
    {
      maxHeaderSize: settings.maxHeaderBytes,
      headersTimeout: 20_000,
      requestTimeout: 120_000,
      // Longer than load balancers keep an idle connection: if they close first, no request meets a closed one.
      keepAliveTimeout: 620_000,
      // A client that has disappeared must not keep an engine busy until its answer is complete.
      ...KEEP_ALIVE,
      // Node would refuse the request without an envelope.
      requireHostHeader: false,
    },
    handle,
  );
  // Node drops headers beyond the two thousandth silently. Their bytes are bounded.
  server.maxHeadersCount = 0;
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (isWorthContinuing(request, settings.maxBodyBytes)) response.writeContinue();
    handle(request, response);
  });
  server.on('checkExpectation', handle);
  server.on('connect', refuseConnect);
  server.on('clientError', refuseRaw);
  return server;
}

function isWorthContinuing({ headers, url, method }: IncomingMessage, maxBodyBytes: number): boolean {
  return (
    isOnlyContinue(headers.expect as string) &&
    Number(headers['content-length'] ?? 0) <= maxBodyBytes &&
    method === 'POST' &&
    INFERENCE_PATHS.has(pathOf(url as string))
  );
}

function sendJson(response: ServerResponse, status: number, value: unknown, requestId: string): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
  });
  response.end(body);
}

function refuse(request: IncomingMessage, response: ServerResponse, error: GatewayError, requestId: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = error.body();
  const { 'content-length': length, expect } = request.headers;
  const isLong = error.status === 413 || error.status === 408 || Number(length ?? 0) > WORTH_READING;
  // Without `100 Continue` the client may never send the body, and its next request would be read as one.
  const isClosing = (isLong || expect !== undefined) && !request.complete;
  if (isClosing) response.shouldKeepAlive = false;
  response.writeHead(error.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    ...error.headers,
  });
  if (!isClosing) {
    response.end(body);
    return;
  }
  // Closing while the client still sends would reset the connection, and the answer could be lost with it.
  response.write(body);
  request.resume();
  const timer = setTimeout(() => response.end(), LINGER_MS);
  request.once('end', () => {
    clearTimeout(timer);
    response.end();
  });
  response.once('close', () => clearTimeout(timer));
}
