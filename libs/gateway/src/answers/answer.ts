import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { errorBody, upstreamFailed, type GatewayError } from '../gateway.errors.js';

/** How an upstream answer becomes the client's. Calls come in this order: `begin`, any number of `data`, then `end` or `cut`. */
export interface Answer {
  begin(status: number, headers: IncomingHttpHeaders): void;
  /** False when the client reads slower than upstream writes: pause until the response drains. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** Upstream stopped in the middle. */
  cut(error: GatewayError): void;
}

/** Of one connection, or replaced by the gateway's own; a cookie of a model server is nobody's business. */
const NOT_RETURNED = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'set-cookie',
  'x-request-id',
  'x-slipway-revision',
  'x-context-passport',
  'x-affinity',
]);

/** Up to this many bytes, joining a body with its head costs less than a second write. */
const SMALL = 8 * 1024;

/** Passes head and bytes on as they come. */
export class PassedAnswer implements Answer {
  private isEventStream = false;
  /** Bytes that are still to come, as upstream announced them. NaN if it did not. */
  private left = NaN;

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
  ) {}

  begin(status: number, headers: IncomingHttpHeaders): void {
    const head: OutgoingHttpHeaders = {};
    for (const name in headers) if (!NOT_RETURNED.has(name)) head[name] = headers[name];
    this.response.writeHead(status, Object.assign(head, this.own));
    this.isEventStream = isEventStream(headers);
    this.left = Number(headers['content-length'] ?? NaN);
    // A stream's client wants to know at once that it was accepted, the first token may take a while.
    if (this.isEventStream) this.response.flushHeaders();
  }

  data(chunk: Buffer): boolean {
    this.left -= chunk.length;
    if (this.left !== 0) return this.response.write(chunk);
    // Node sends head and body in one piece only if the body is text; Latin-1 is one character per byte.
    if (chunk.length <= SMALL) this.response.end(chunk.toString('latin1'), 'latin1');
    else this.response.end(chunk);
    return true;
  }

  end(): void {
    if (!this.response.writableEnded) this.response.end();
  }

  cut(error: GatewayError): void {
    cutShort(this.response, this.isEventStream, error);
  }
}

const MAX_ERROR_BYTES = 64 * 1024;

/** Passes an upstream's error on, and puts it into the shape the clients read if it has another one. */
export class ErrorAnswer implements Answer {
  private status = 502;
  private retryAfter: string | undefined;
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
  ) {}

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.retryAfter = headers['retry-after'];
  }

  data(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size <= MAX_ERROR_BYTES) this.chunks.push(chunk);
    return true;
  }

  end(): void {
    const head: OutgoingHttpHeaders = { 'content-type': 'application/json', ...this.own };
    if (this.retryAfter) head['retry-after'] = this.retryAfter;
    this.response.writeHead(this.status, head);
    this.response.end(openAiError(this.status, Buffer.concat(this.chunks).toString('utf8')));
  }

  cut(): void {
    this.end();
  }
}

export function isEventStream(headers: IncomingHttpHeaders): boolean {
  return headers['content-type']?.startsWith('text/event-stream') ?? false;
}

/** A stream can still say what happened; any other answer must break, so that it is not taken for a whole one. */
export function cutShort(response: ServerResponse, isStream: boolean, error: GatewayError): void {
  if (!isStream) {
    response.destroy();
    return;
  }
  response.write(`data: ${error.body()}\n\n`, () => response.destroy());
}

function openAiError(status: number, text: string): string {
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error';
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return errorBody(text.trim().slice(0, 2_000) || upstreamFailed().message, type, null, null);
  }
  const object = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  if (typeof object['error'] === 'object' && object['error'] !== null) return text;
  const message = [object['error'], object['message'], object['detail']].find(
    (one) => typeof one === 'string' && one !== '',
  ) as string | undefined;
  const code = typeof object['code'] === 'string' ? object['code'] : null;
  return errorBody(message ?? upstreamFailed().message, type, null, code);
}
