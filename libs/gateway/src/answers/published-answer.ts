import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { JsonRefused, JsonScanner, type JsonBounds } from '@slipway/platform-bounds';
import { answerTooLarge, errorBody, modelQuotaExceeded, upstreamFailed, type GatewayError } from '../gateway.errors.js';
import type { HeldBytes } from '@slipway/platform-bounds';
import { cutShort, sendGatewayError, type ClientAnswer } from './answer.js';
import { ErrorText } from './error-answer.js';
import type { Disguise } from './published-shape.js';
import { StreamWriter } from './stream-writer.js';

export type AnswerRebuilder = (value: Record<string, unknown>, disguise: Disguise) => Record<string, unknown>;

/**
 * Most bytes of an answer that is kept whole to be rebuilt. Clients that embed thousands of texts at once request
 * base64, as the official ones do.
 */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Most bytes of a line of an event stream. */
const MAX_EVENT_BYTES = 1024 * 1024;
/** Limits parsing, so that no supplier blocks the requests of others: 200 ms for an answer, 20 ms for an event. */
const ANSWER_BOUNDS: JsonBounds = { maxDepth: 64, maxWork: 4_000_000 };
const EVENT_BOUNDS: JsonBounds = { maxDepth: 64, maxWork: 400_000 };
/** An event of up to this many bytes is cheap to parse, whatever it contains. */
const SMALL_EVENT = 4 * 1024;
const LINE_END = 0x0a;

/** Rebuilds a supplier's JSON answer from the allow-list. */
export class PublishedJsonAnswer implements ClientAnswer {
  private chunks: Buffer[] = [];
  private size = 0;
  private readonly scanner = new JsonScanner(ANSWER_BOUNDS);

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly bytes: HeldBytes,
    private readonly disguise: Disguise,
    private readonly rebuild: AnswerRebuilder,
  ) {}

  begin(): void {
    // Nothing is sent until the whole answer has proved to be valid.
  }

  data(chunk: Buffer): boolean {
    this.size += chunk.length;
    if (this.size > MAX_ANSWER_BYTES) throw answerTooLarge();
    if (!isJson(() => this.scanner.push(chunk))) throw upstreamFailed();
    this.bytes.take(chunk.length);
    this.chunks.push(chunk);
    return true;
  }

  end(): void {
    const value = parsedObject(Buffer.concat(this.chunks).toString('utf8'));
    if (!value || 'error' in value) {
      sendGatewayError(this.response, this.own, upstreamFailed());
      return;
    }
    const body = Buffer.from(JSON.stringify(this.rebuild(value, this.disguise)), 'utf8');
    this.response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length, ...this.own });
    this.response.end(body);
  }

  cut(error: GatewayError): void {
    sendGatewayError(this.response, this.own, error);
  }
}

/** Rebuilds a stream event by event. The supplier's comments, event names, ids and everything else are dropped. */
export class PublishedStreamAnswer implements ClientAnswer {
  private readonly writer: StreamWriter;
  /** The beginning of a line whose end has not arrived. */
  private rest: Buffer[] = [];
  private restSize = 0;

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly bytes: HeldBytes,
    private readonly disguise: Disguise,
    private readonly rebuild: AnswerRebuilder,
  ) {
    this.writer = new StreamWriter(response, 'utf8');
  }

  begin(): void {
    this.writer.begin(200, { 'content-type': 'text/event-stream; charset=utf-8', ...this.own });
  }

  data(chunk: Buffer): boolean {
    let out = '';
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, start)) {
      out += this.line(this.withRest(chunk.subarray(start, end)));
      start = end + 1;
    }
    this.keep(chunk.subarray(start));
    return this.writer.write(out);
  }

  end(): void {
    this.writer.end(this.line(this.withRest(Buffer.alloc(0))));
  }

  cut(error: GatewayError): void {
    this.writer.flush();
    cutShort(this.response, true, error);
  }

  private keep(piece: Buffer): void {
    if (piece.length === 0) return;
    if (this.restSize + piece.length > MAX_EVENT_BYTES) throw answerTooLarge();
    this.bytes.take(piece.length);
    this.rest.push(piece);
    this.restSize += piece.length;
  }

  private withRest(piece: Buffer): string {
    if (this.restSize === 0) return piece.toString('utf8');
    const whole = Buffer.concat([...this.rest, piece]);
    this.bytes.give(this.restSize);
    this.rest = [];
    this.restSize = 0;
    return whole.toString('utf8');
  }

  private line(line: string): string {
    if (!line.startsWith('data:')) return '';
    const data = line.slice('data:'.length).trim();
    if (data === '[DONE]') return 'data: [DONE]\n\n';
    const isCheap = data.length <= SMALL_EVENT || isJson(() => new JsonScanner(EVENT_BOUNDS).push(Buffer.from(data)));
    if (!isCheap) return '';
    const value = parsedObject(data);
    if (!value) return '';
    if ('error' in value) return `data: ${upstreamFailed().body()}\n\n`;
    return `data: ${JSON.stringify(this.rebuild(value, this.disguise))}\n\n`;
  }
}

/** Codes that describe the client's own request and do not reveal the supplier. */
const DISCLOSED_CODES = new Set([
  'context_length_exceeded',
  'invalid_value',
  'missing_required_parameter',
  'unsupported_parameter',
  'content_filter',
  'invalid_json',
]);

/** Replaces a supplier's error: its text could name anyone. Names the wrong parameter if the client itself sent it. */
export class PublishedErrorAnswer implements ClientAnswer {
  private status = 502;
  private readonly text = new ErrorText();

  constructor(
    private readonly response: ServerResponse,
    private readonly own: OutgoingHttpHeaders,
    private readonly sentParameters: readonly string[],
  ) {}

  begin(status: number, _headers: IncomingHttpHeaders): void {
    this.status = status;
  }

  data(chunk: Buffer): boolean {
    this.text.add(chunk);
    return true;
  }

  end(): void {
    if (this.status === 429) {
      sendGatewayError(this.response, this.own, modelQuotaExceeded());
      return;
    }
    // 401, 403 and 404 are about our credential or the binding's URL: the client did nothing wrong.
    if (![400, 413, 422].includes(this.status)) {
      sendGatewayError(this.response, this.own, upstreamFailed());
      return;
    }
    const error = parsedObject(this.text.toString())?.['error'] as Record<string, unknown> | undefined;
    const param =
      typeof error?.['param'] === 'string' && this.sentParameters.includes(error['param']) ? error['param'] : null;
    const code = typeof error?.['code'] === 'string' && DISCLOSED_CODES.has(error['code']) ? error['code'] : null;
    const reason =
      code === 'context_length_exceeded'
        ? 'The request is longer than the model’s context.'
        : 'The model rejected the request as invalid.';
    this.response.writeHead(this.status, { 'content-type': 'application/json', ...this.own });
    this.response.end(errorBody(reason, 'invalid_request_error', param, code));
  }

  cut(): void {
    this.end();
  }
}

/** @throws GatewayError 502 for JSON that would cost too much to parse */
function isJson(push: () => void): boolean {
  try {
    push();
    return true;
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    if (error.fault !== 'malformed') throw answerTooLarge();
    return false;
  }
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
