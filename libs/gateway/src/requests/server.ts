import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody, GatewayError, internalError, notReady, unknownPath, wrongMethod } from '../gateway.errors.js';
import type { Log } from '../log.js';
import type { GatewaySettings } from '../settings.js';
import { ClientGoneError } from './body-reader.js';

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

export const INFERENCE_PATHS = new Set(['/v1/chat/completions', '/v1/completions', '/v1/embeddings']);
export const READ_PATHS = new Set(['/v1/models', '/healthz', '/readyz', '/metrics']);
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;
/** A refused body of up to this many bytes is read to its end, so that the connection can be kept. */
const WORTH_READING = 1024 * 1024;
const LINGER_MS = 1_000;

export function createGatewayServer(
  handlers: Handlers,
  settings: GatewaySettings,
  isDraining: () => boolean,
  log: Log,
): Server {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const given = request.headers['x-request-id'];
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    if (isDraining()) response.shouldKeepAlive = false;
    answer(request, response, requestId).catch((error: unknown) => {
      if (error instanceof ClientGoneError) return;
      if (!(error instanceof GatewayError))
        log.error(
          { request_id: requestId, error: error instanceof Error ? error.stack : String(error) },
          'a request failed',
        );
      refuse(request, response, error instanceof GatewayError ? error : internalError(), requestId);
    });
  };

  const answer = async (request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> => {
    const path = pathOf(request.url as string);
    if (INFERENCE_PATHS.has(path)) {
      if (request.method !== 'POST') throw wrongMethod(request.method as string, path, 'POST');
      if (!handlers.readiness().isReady && !isDraining()) throw notReady();
      await handlers.infer(request, response, path, requestId);
      return;
    }
    const isModel = path.startsWith('/v1/models/') && path.length > '/v1/models/'.length;
    if (!isModel && !READ_PATHS.has(path)) throw unknownPath(request.method as string, path);
    if (request.method !== 'GET' && request.method !== 'HEAD')
      throw wrongMethod(request.method as string, path, 'GET, HEAD');
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
    } else sendJson(response, 200, await handlers.models(request, isModel ? modelIdOf(path) : undefined), requestId);
  };

  const server = createServer(
    {
      maxHeaderSize: settings.maxHeaderBytes,
      headersTimeout: 20_000,
      requestTimeout: 120_000,
      keepAliveTimeout: 75_000,
    },
    handle,
  );
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    if (Number(request.headers['content-length'] ?? 0) <= settings.maxBodyBytes) response.writeContinue();
    handle(request, response);
  });
  server.on('clientError', refuseRaw);
  return server;
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** A slug contains a slash, which clients send encoded or not. */
function modelIdOf(path: string): string {
  const raw = path.slice('/v1/models/'.length);
  try {
    return decodeURIComponent(raw);
  } catch {
    return raw;
  }
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
  const isLong =
    error.status === 413 || error.status === 408 || Number(request.headers['content-length'] ?? 0) > WORTH_READING;
  const isClosing = isLong && !request.complete;
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

const RAW_REFUSALS: Readonly<Record<string, [status: string, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'The request headers are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
};

/** Answers input that never became a request. */
function refuseRaw(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, code, message] = RAW_REFUSALS[error.code ?? ''] ?? [
    '400 Bad Request',
    'invalid_request',
    'The request is not valid HTTP.',
  ];
  const body = errorBody(message, 'invalid_request_error', null, code);
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\nx-request-id: ${randomUUID()}\r\n\r\n${body}`,
  );
}
