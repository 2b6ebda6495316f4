import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { errorBody, quotaExceeded, upstreamFailed, type GatewayError } from '../gateway.errors.js';
import { cutShort, type Answer } from './answer.js';
import type { Disguise } from './published-shape.js';

export type Rebuild = (value: Record<string, unknown>, disguise: Disguise) => Record<string, unknown>;

/** A longer answer, or event, is refused: it must be held whole to be rebuilt. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/** Rebuilds a JSON answer of a supplier from the allow-list. */
export class PublishedJsonAnswer implements Answer {
  private chunks: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly disguise: Disguise,
    private readonly rebuild: Rebuild,
  ) {}

  begin(): void {
    // Nothing is sent before the whole answer is known to be one.
  }

  data(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size <= MAX_HELD_BYTES) this.chunks.push(chunk);
    return true;
  }

  end(): void {
    const value = this.size <= MAX_HELD_BYTES ? parsedObject(Buffer.concat(this.chunks).toString('utf8')) : undefined;
    if (!value || 'error' in value) {
      sendError(this.response, this.own, upstreamFailed());
      return;
    }
    const body = Buffer.from(JSON.stringify(this.rebuild(value, this.disguise)), 'utf8');
    this.response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, ...this.own });
    this.response.end(body);
  }

  cut(error: GatewayError): void {
    sendError(this.response, this.own, error);
  }
}

/** Rebuilds a stream event by event. Comments, event names and ids of the supplier are dropped with everything else. */
export class PublishedStreamAnswer implements Answer {
  private rest = Buffer.alloc(0);

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly disguise: Disguise,
    private readonly rebuild: Rebuild,
  ) {}

  begin(): void {
    this.response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      ...this.own,
    });
    this.response.flushHeaders();
  }

  data(chunk: Buffer): boolean {
    const bytes = this.rest.length > 0 ? Buffer.concat([this.rest, chunk]) : chunk;
    let out = '';
    let start = 0;
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      out += this.line(bytes.toString('utf8', start, end));
      start = end + 1;
    }
    this.rest = bytes.length - start > MAX_HELD_BYTES ? Buffer.alloc(0) : Buffer.from(bytes.subarray(start));
    return out === '' || this.response.write(out);
  }

  end(): void {
    const last = this.line(this.rest.toString('utf8'));
    this.response.end(last);
  }

  cut(error: GatewayError): void {
    cutShort(this.response, true, error);
  }

  private line(line: string): string {
    if (!line.startsWith('data:')) return '';
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') return 'data: [DONE]\n\n';
    const value = parsedObject(data);
    if (!value) return '';
    if ('error' in value) return `data: ${upstreamFailed().body()}\n\n`;
    return `data: ${JSON.stringify(this.rebuild(value, this.disguise))}\n\n`;
  }
}

/** The codes that say something about the client's own request, and nothing about who answered. */
const TOLD_CODES = new Set([
  'context_length_exceeded',
  'invalid_value',
  'missing_required_parameter',
  'unsupported_parameter',
  'content_filter',
  'invalid_json',
]);

/** Replaces a supplier's error: its text could name anybody. Says which parameter was wrong if the client itself sent it. */
export class PublishedErrorAnswer implements Answer {
  private status = 502;
  private readonly chunks: Buffer[] = [];
  private size = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly sentParameters: ReadonlySet<string>,
  ) {}

  begin(status: number, _headers: IncomingHttpHeaders): void {
    this.status = status;
  }

  data(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size <= 64 * 1024) this.chunks.push(chunk);
    return true;
  }

  end(): void {
    if (this.status === 429) {
      sendError(this.response, this.own, quotaExceeded());
      return;
    }
    // 401, 403 and 404 speak of our credential or of the binding's URL: the client did nothing wrong.
    if (![400, 413, 422].includes(this.status)) {
      sendError(this.response, this.own, upstreamFailed());
      return;
    }
    const error = parsedObject(Buffer.concat(this.chunks).toString('utf8'))?.['error'] as
      Record<string, unknown> | undefined;
    const param =
      typeof error?.['param'] === 'string' && this.sentParameters.has(error['param']) ? error['param'] : null;
    const code = typeof error?.['code'] === 'string' && TOLD_CODES.has(error['code']) ? error['code'] : null;
    const reason =
      code === 'context_length_exceeded'
        ? 'The request is longer than the model’s context.'
        : 'The model refused the request as invalid.';
    this.response.writeHead(this.status, { 'content-type': 'application/json', ...this.own });
    this.response.end(errorBody(reason, 'invalid_request_error', param, code));
  }

  cut(): void {
    this.end();
  }
}

function sendError(response: ServerResponse, own: OutgoingHttpHeaders, error: GatewayError): void {
  response.writeHead(error.status, { 'content-type': 'application/json', ...error.headers, ...own });
  response.end(error.body());
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
