import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { CollectedBytes, JsonRefused, type HeldBytes } from '@slipway/platform-bounds';
import { answerTooLarge, upstreamFailed, type GatewayError } from '../gateway.errors.js';
import { AnswerJudge, type AnswerJudgement } from './answer-judge.js';
import { cutShort, HEAD_AFTER_MS, sendGatewayError, type ClientAnswer } from './answer.js';
import { publishedError } from './error-answer.js';
import { isOfShape, shapeOf, textOf, type EventShape } from './event-shape.js';
import type { EventSink } from './event-stream.js';
import { bytesOf } from './held-text.js';
import { JsonFilter } from './json-filter.js';
import type { AnswerShape } from './published-shape.js';
import { StreamWriter } from './stream-writer.js';

/** Parts that both kinds of answers of a published product have. */
export interface PublishedParts {
  response: ServerResponse;
  own: OutgoingHttpHeaders;
  /** The memory of the request; an answer that waits for its end takes its part of it. */
  bytes: HeldBytes;
  path: string;
  shape: AnswerShape;
  /** Names of the top-level members of the request's body. */
  parameters: readonly string[];
}

/** The ceiling of an answer, and of an event, of a published product. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/**
 * Bounds what clients need to parse an answer, and an event: about 200 ms and 20 ms. A list of numbers of
 * `MAX_ANSWER_BYTES` fits.
 */
const ANSWER_WORK = 4_000_000;
const EVENT_WORK = 400_000;
/** An event with more bytes is read only while it can still be an answer. */
const MAX_ODD_EVENT_BYTES = 1024 * 1024;

const TEXT_MARK = `text-${randomUUID()}`;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Rebuilds a supplier's JSON answer from the allow-list, piece by piece, so that no answer blocks other requests.
 * Nothing is sent until the whole answer has proved to be valid.
 */
export class PublishedJsonAnswer implements ClientAnswer {
  private readonly pieces = new CollectedBytes();
  private size = 0;
  private headers: IncomingHttpHeaders = {};
  private judge: AnswerJudge | undefined;
  private readonly filter: JsonFilter;

  constructor(private readonly parts: PublishedParts) {
    this.filter = new JsonFilter(parts.shape.form, parts.shape.before, ANSWER_WORK);
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.headers = headers;
    this.judge = new AnswerJudge(this.parts.path, status, headers);
  }

  data(chunk: Buffer): boolean {
    const isStart = this.size === 0;
    this.size += chunk.length;
    if (this.size > MAX_ANSWER_BYTES) throw answerTooLarge();
    this.parts.bytes.take(chunk.length);
    this.judge?.push(chunk, 0);
    const hasMark = isStart && chunk.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
    this.keep(filtered(() => this.filter.push(hasMark ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk)));
    return true;
  }

  end(): void {
    const { response, own, parameters } = this.parts;
    const judgement = this.judge?.end();
    if (judgement?.fault) {
      sendGatewayError(response, own, publishedError(200, judgement, parameters, this.headers));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': this.pieces.size, ...own });
    // One copy of a long answer would block other requests.
    for (const piece of this.pieces.parts()) response.write(piece);
    response.end();
  }

  cut(error: GatewayError): void {
    sendGatewayError(this.parts.response, this.parts.own, error);
  }

  private keep(text: string): void {
    if (text !== '') this.pieces.push(Buffer.from(text, 'latin1'));
  }
}

/** Rebuilds a stream event by event. The supplier's texts of comments, event names, ids and all else are dropped. */
export class PublishedStreamAnswer implements ClientAnswer, EventSink {
  private readonly writer: StreamWriter;
  private judge: AnswerJudge | undefined;
  private headers: IncomingHttpHeaders = {};
  private hasBegun = false;
  private hasFailed = false;
  private headTimer: NodeJS.Timeout | undefined;
  private out = '';
  /** The event that arrives in pieces, its result so far, and the bytes taken for it. */
  private filter: JsonFilter | undefined;
  private long: string[] = [];
  private longSize = 0;
  private taken = 0;
  /** The event is no object. */
  private isOdd = false;
  /** The shape of the last event that was filtered. */
  private lastShape: EventShape | undefined;
  /** A shape that several events had, and what the filter makes of it. */
  private known: { shape: EventShape; before: string; after: string } | undefined;

  constructor(private readonly parts: PublishedParts) {
    this.writer = new StreamWriter(parts.response, 'latin1');
  }

  begin(status: number, headers: IncomingHttpHeaders): void {
    this.headers = headers;
    this.judge = new AnswerJudge(this.parts.path, status, headers, this);
    this.headTimer = setTimeout(() => this.sendHead(), HEAD_AFTER_MS);
    this.headTimer.unref();
    this.parts.response.once('close', () => clearTimeout(this.headTimer));
  }

  data(chunk: Buffer): boolean {
    this.out = '';
    this.judge?.push(chunk, 0);
    const fault = this.judge?.faultSoFar;
    const isTaken = this.write();
    if ((this.judge?.ignoredBytes ?? 0) > MAX_ODD_EVENT_BYTES) throw answerTooLarge();
    if (fault) throw this.fail(fault);
    return isTaken;
  }

  end(): void {
    this.out = '';
    const judgement = this.judge?.end();
    this.write();
    if (judgement?.fault) {
      this.fail(judgement);
      return;
    }
    this.sendHead();
    this.writer.end('');
  }

  /** The connection to upstream is sound, so the client's ends in order. */
  private fail(judgement: AnswerJudgement): GatewayError {
    const { response, own, parameters } = this.parts;
    const error = publishedError(200, judgement, parameters, this.headers);
    clearTimeout(this.headTimer);
    this.hasFailed = true;
    if (this.hasBegun) this.writer.end(`data: ${Buffer.from(error.body()).toString('latin1')}\n\n`);
    else sendGatewayError(response, own, error);
    return error;
  }

  cut(error: GatewayError): void {
    if (this.hasFailed) return;
    clearTimeout(this.headTimer);
    const { response, own } = this.parts;
    if (!this.hasBegun) return sendGatewayError(response, own, error);
    this.writer.flush();
    cutShort(response, true, error);
  }

  event(data: string): void {
    if (data.startsWith('[DONE]')) {
      this.out += 'data: [DONE]\n\n';
      return;
    }
    const { known } = this;
    if (known && isOfShape(data, known.shape)) {
      this.out += known.before + textOf(data, known.shape) + known.after;
      return;
    }
    if (this.lastShape && isOfShape(data, this.lastShape)) this.learn(this.lastShape);
    else this.lastShape = shapeOf(data);
    this.out += this.rebuilt(data);
  }

  /** The filter copies a text unchanged, so its result for a mark in place of the text serves for all of them. */
  private learn(shape: EventShape): void {
    const [before, after, ...more] = this.rebuilt(shape.before + TEXT_MARK + shape.after).split(TEXT_MARK);
    this.known = before === undefined || after === undefined || more.length > 0 ? undefined : { shape, before, after };
    this.lastShape = undefined;
  }

  private rebuilt(data: string): string {
    const { form, before } = this.parts.shape;
    const filter = new JsonFilter(form, before, EVENT_WORK);
    return `data: ${filtered(() => filter.push(bytesOf(data)) + filter.end())}\n\n`;
  }

  comment(): void {
    this.out += ':\n\n';
  }

  piece(data: string): void {
    this.longSize += data.length;
    if (this.longSize > MAX_ANSWER_BYTES) throw answerTooLarge();
    if (this.long.length === 0 && !data.trimStart().startsWith('{')) this.isOdd = true;
    if (this.isOdd && this.longSize > MAX_ODD_EVENT_BYTES) throw answerTooLarge();
    this.filter ??= new JsonFilter(this.parts.shape.form, this.parts.shape.before, EVENT_WORK);
    const { filter } = this;
    const text = filtered(() => filter.push(bytesOf(data)));
    this.parts.bytes.take(text.length);
    this.taken += text.length;
    this.long.push(text);
  }

  endOfPieces(): void {
    this.parts.bytes.give(this.taken);
    this.out += `data: ${this.long.join('')}\n\n`;
    this.filter = undefined;
    this.long = [];
    this.longSize = 0;
    this.taken = 0;
    this.isOdd = false;
  }

  private write(): boolean {
    if (this.out === '') return true;
    this.sendHead();
    return this.writer.write(this.out);
  }

  private sendHead(): void {
    clearTimeout(this.headTimer);
    const { response, own } = this.parts;
    if (this.hasBegun || response.destroyed) return;
    this.hasBegun = true;
    this.writer.begin(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...own,
    });
  }
}

/** @throws GatewayError 502 for a text that is not JSON, or exceeds a bound */
function filtered(run: () => string): string {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    throw error.fault === 'malformed' ? upstreamFailed() : answerTooLarge();
  }
}
