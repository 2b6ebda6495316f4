import type { IncomingHttpHeaders } from 'node:http';
import { headerText, isEventStream } from '../headers.js';
import { errorInText, errorInValue, errorKind, parsedJson, type EngineError } from '@slipway/contracts';
import { isOfShape, shapeOf, type EventShape } from './event-shape.js';
import { EventStream, type EventSink } from './event-stream.js';
import { bytesOf, HeldText, utf8Of } from './held-text.js';
import { JsonSummary } from './json-summary.js';
import { TokenClock, usageIn, type Metering, type TokenCounts } from './meter.js';

export type JudgedOutcome = 'ok' | 'client_error' | 'overloaded' | 'server_error';

/** Why an answer is not valid for the client, or whose fault it is. */
export type AnswerFault =
  | 'status'
  | 'redirect'
  | 'credential'
  | 'model_missing'
  | 'error_in_answer'
  | 'empty'
  | 'unreadable'
  | 'incomplete'
  | 'too_large'
  | 'silent';

export interface AnswerJudgement {
  outcome: JudgedOutcome;
  /** Null for `ok`, and for `client_error` and `overloaded` by status. */
  fault: AnswerFault | null;
  /** The engine itself reported this with a well-formed error. It is an answer of the engine, not a broken engine. */
  isEngineError: boolean;
  error: EngineError | null;
}

const OK: AnswerJudgement = { outcome: 'ok', fault: null, isEngineError: false, error: null };
const OVERLOADED: ReadonlySet<number> = new Set([408, 425, 429]);
/** A JSON answer of up to this size is parsed at its end. A longer one, or a longer error, is summarized or cut. */
const MAX_WHOLE = 64 * 1024;
/** No engine makes more choices for one request. */
const MAX_CHOICES = 1_024;
const MAX_WHOLE_EVENT = 16 * 1024;

/** Decides what the status and the headers decide alone; null if the body decides. */
export function judgeHead(status: number, headers: IncomingHttpHeaders): AnswerJudgement | null {
  if (status >= 500) return failed('status');
  if (status >= 300 && status < 400) return failed('redirect');
  if (status === 401 || status === 402) return failed('credential');
  if (OVERLOADED.has(status)) return { ...OK, outcome: 'overloaded' };
  if (status >= 400) return null;
  const hasNoBody = status === 204 || status === 205 || headerText(headers, 'content-length') === '0';
  return hasNoBody ? failed('empty') : null;
}

function failed(fault: AnswerFault, error: EngineError | null = null, isEngineError = false): AnswerJudgement {
  return { outcome: 'server_error', fault, isEngineError, error };
}

/** Judges an error by its status and its text. A text is an engine's error if it is JSON that carries one. */
export function judgeError(status: number, headers: IncomingHttpHeaders, text: string): AnswerJudgement {
  const error = text.trim() === '' ? null : errorInText(text);
  const isEngineError = isWellFormed(errorInValue(parsedJson(text), true));
  const head = judgeHead(status, headers);
  if (head) return { ...head, error, isEngineError };
  const kind = error && errorKind(error);
  if (status === 403 && kind !== 'content_filter') return failed('credential', error, isEngineError);
  // The path and the model's name are the gateway's: a client cannot correct either.
  if (status === 404) return failed(error && isAboutModel(error) ? 'model_missing' : 'status', error, isEngineError);
  if (kind === 'model_missing' || error?.param === 'model') return failed('model_missing', error, isEngineError);
  return { outcome: 'client_error', fault: null, isEngineError, error };
}

function isWellFormed(error: EngineError | undefined): boolean {
  return error !== undefined && (error.message !== '' || error.code !== null || error.type !== null);
}

function isAboutModel({ code, type, message, param }: EngineError): boolean {
  return param === 'model' || /model/i.test(`${code ?? ''} ${type ?? ''} ${message}`);
}

/** Which member an answer of a path must have. */
const LISTS: Readonly<Record<string, 'choices' | 'data'>> = {
  '/v1/chat/completions': 'choices',
  '/v1/completions': 'choices',
  '/v1/embeddings': 'data',
};

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Reads an answer while it passes through, and decides at its end what the client got. It delays no byte, and its memory
 * does not grow with the answer.
 */
export class AnswerJudge implements EventSink {
  readonly isStream: boolean;
  private readonly list: 'choices' | 'data' | undefined;
  /** Only for a stream. */
  private clock: TokenClock | undefined;
  private readonly events: EventStream | null;
  private size = 0;
  private usage: TokenCounts = { tokensIn: null, tokensOut: null };
  private judgement: AnswerJudgement | undefined;

  /** The body, if it has arrived in one piece. */
  private single: Buffer | undefined;
  private held: HeldText | undefined;
  private summary: JsonSummary | undefined;

  /** The first fault of a stream. */
  private fault: AnswerJudgement | undefined;
  private tokensInChunk = 0;
  private hasUsageInChunk = false;
  private hasAnswer = false;
  private isDone = false;
  /** Whether each choice of a stream has its reason to stop. */
  private choices: Map<unknown, boolean> | undefined;
  private shape: EventShape | undefined;

  constructor(
    path: string,
    private readonly status: number,
    private readonly headers: IncomingHttpHeaders,
    /** Gets the events of a stream that carry no fault. */
    private readonly listener?: EventSink,
  ) {
    this.isStream = status < 300 && isEventStream(headers);
    this.events = this.isStream ? new EventStream(this, MAX_WHOLE_EVENT) : null;
    this.list = LISTS[path];
  }

  get heldBytes(): number {
    return (
      (this.events?.heldBytes ?? 0) +
      (this.single?.length ?? 0) +
      (this.held?.capacity ?? 0) +
      (this.summary?.heldBytes ?? 0)
    );
  }

  /** @returns whether this chunk brought the first token */
  push(chunk: Buffer, now: number): boolean {
    this.size += chunk.length;
    if (!this.events) {
      this.keep(chunk);
      return false;
    }
    this.tokensInChunk = 0;
    this.hasUsageInChunk = false;
    this.events.push(chunk);
    if (this.tokensInChunk === 0) return false;
    const clock = (this.clock ??= new TokenClock());
    const isFirst = clock.firstTokenAt === null;
    clock.note(this.tokensInChunk, now);
    return isFirst;
  }

  /** Call it after the last byte. */
  end(): AnswerJudgement {
    this.judgement ??= this.isStream ? this.judgeStream(true) : this.judgeBody();
    return this.judgement;
  }

  /** Call it if the connection broke. */
  cut(): AnswerJudgement {
    if (this.judgement) return this.judgement;
    if (this.isStream) this.judgement = this.judgeStream(false);
    else this.judgement = this.status < 300 ? failed('incomplete') : this.judgeBody();
    this.release();
    return this.judgement;
  }

  read(): Metering {
    if (this.isStream) return (this.clock ?? new TokenClock()).read(this.usage);
    const { tokensIn, tokensOut } = this.usage;
    return { tokensIn: tokensIn ?? 0, tokensOut: tokensOut ?? 0, firstTokenAt: null, itlMs: null, longestGapMs: null };
  }

  /** Whether a stream has brought an event or a comment. */
  hasBegun = false;

  /** The first fault of a stream so far. */
  get faultSoFar(): AnswerJudgement | undefined {
    return this.fault;
  }

  /** Whether the last chunk of a stream consists of whole events, none of which has usage. */
  get isWithoutUsage(): boolean {
    return !this.hasUsageInChunk && this.events?.isBetweenEvents === true;
  }

  /** Bytes of the current event of a stream that mean nothing. */
  get ignoredBytes(): number {
    return this.events?.ignoredBytes ?? 0;
  }

  event(data: string, name: string): void {
    this.hasBegun = true;
    if (this.fault || this.isDone) return;
    this.readData(data, name);
    if (this.listener && !this.fault) this.listener.event(data, name);
  }

  comment(): void {
    this.hasBegun = true;
    if (!this.fault) this.listener?.comment?.();
  }

  private readData(data: string, name: string): void {
    if (name === '' && this.shape && isOfShape(data, this.shape)) {
      this.tokensInChunk += 1;
      return;
    }
    if (data.startsWith('[DONE]') && data.trim() === '[DONE]') {
      this.isDone = true;
      return;
    }
    // Only the text of an error needs to be decoded.
    const value = parsedJson(data);
    const error = name === 'error' ? errorInText(utf8Of(data)) : errorInValue(value, false);
    if (error) {
      this.fault = failed('error_in_answer', name === 'error' ? error : errorInText(utf8Of(data)), true);
      return;
    }
    const isToken = this.readEvent(value);
    if (isToken && name === '') this.shape = shapeOf(data) ?? this.shape;
  }

  piece(data: string): void {
    this.hasBegun = true;
    this.summary ??= new JsonSummary();
    this.summary.push(bytesOf(data));
    if (!this.fault) this.listener?.piece(data);
  }

  endOfPieces(name: string): void {
    const { summary } = this;
    this.summary = undefined;
    if (!summary || this.fault || this.isDone) return;
    const value = summary.end();
    const error = errorInValue(value, name === 'error');
    if (summary.isTooLarge) {
      this.hasAnswer = true;
      this.tokensInChunk += 1;
    } else if (error) this.fault = failed('error_in_answer', error, true);
    else this.readEvent(value);
    if (!this.fault) this.listener?.endOfPieces(name);
  }

  /** Returns whether the event carries text. */
  private readEvent(value: unknown): boolean {
    if (!isObject(value)) {
      this.fault = failed('unreadable');
      return false;
    }
    const counts = usageIn(value);
    if (counts) {
      this.hasUsageInChunk = true;
      this.usage = { ...this.usage, ...presentOf(counts) };
    }
    if (this.list === undefined) {
      this.hasAnswer = true;
      return false;
    }
    const list = value[this.list];
    if (!Array.isArray(list)) return false;
    this.hasAnswer = true;
    if (this.list === 'data') return false;
    const failure = failureIn(list);
    if (failure) {
      this.fault = failure;
      return false;
    }
    let isToken = false;
    const choices = (this.choices ??= new Map<unknown, boolean>());
    let isOpen = list.length === 1 && !counts;
    for (const [position, choice] of (list as JsonObject[]).entries()) {
      const index = choice['index'] ?? position;
      const isFinished = isReason(choice['finish_reason']);
      if (isFinished || !choices.has(index)) choices.set(index, isFinished);
      if (isFinished) isOpen = false;
      isToken ||= hasText(choice);
    }
    if (isToken) this.tokensInChunk += 1;
    if (choices.size > MAX_CHOICES) this.fault = failed('unreadable');
    return isToken && isOpen;
  }

  private judgeStream(isCleanEnd: boolean): AnswerJudgement {
    this.tokensInChunk = 0;
    if (isCleanEnd) this.events?.end();
    if (this.fault) return this.fault;
    if (this.size === 0) return failed(isCleanEnd ? 'empty' : 'incomplete');
    if (this.isDone) return this.hasAnswer ? OK : failed('empty');
    if (!isCleanEnd) return failed('incomplete');
    if (this.list !== 'choices') return this.hasAnswer ? OK : failed('incomplete');
    const ends = [...(this.choices?.values() ?? [])];
    const isComplete = ends.length > 0 && !ends.includes(false);
    return isComplete ? OK : failed('incomplete');
  }

  private keep(chunk: Buffer): void {
    if (this.status >= 300) {
      this.held ??= new HeldText(MAX_WHOLE);
      if (!this.held.add(chunk)) this.held.add(chunk.subarray(0, Math.max(0, MAX_WHOLE - this.held.length)));
      return;
    }
    if (this.summary) return this.summary.push(chunk);
    if (!this.single && !this.held && chunk.length <= MAX_WHOLE) {
      this.single = chunk;
      return;
    }
    this.held ??= new HeldText(MAX_WHOLE);
    if (this.single) this.held.add(this.single);
    this.single = undefined;
    if (this.held.add(chunk)) return;
    this.summary = new JsonSummary();
    this.summary.push(Buffer.from(this.held.take(), 'latin1'));
    this.held = undefined;
    this.summary.push(chunk);
  }

  private judgeBody(): AnswerJudgement {
    const judgement = this.status < 300 ? this.judgeJson() : this.judgeErrorBody();
    this.release();
    return judgement;
  }

  private judgeErrorBody(): AnswerJudgement {
    return judgeError(this.status, this.headers, utf8Of(this.held?.take() ?? ''));
  }

  private judgeJson(): AnswerJudgement {
    if (this.size === 0) return failed('empty');
    const value = this.summary ? this.summary.end() : parsedJson(this.wholeText());
    if (this.summary?.isTooLarge) return OK;
    if (value === undefined) return failed('unreadable');
    const error = errorInValue(value, false);
    if (error) return failed('error_in_answer', error, true);
    const counts = usageIn(value);
    if (counts) this.usage = counts;
    if (this.list === undefined) return typeof value === 'object' && value !== null ? OK : failed('unreadable');
    const list = isObject(value) ? value[this.list] : undefined;
    if (!Array.isArray(list)) return failed('unreadable');
    return (this.list === 'choices' ? failureIn(list) : undefined) ?? OK;
  }

  private wholeText(): string {
    const text = this.single ? this.single.toString('utf8') : utf8Of(this.held?.take() ?? '');
    // Clients skip a byte order mark; `JSON.parse` does not.
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
  }

  private release(): void {
    this.single = undefined;
    this.held = undefined;
    this.summary = undefined;
  }
}

/** Returns the failure that a list of choices carries. */
function failureIn(choices: readonly unknown[]): AnswerJudgement | undefined {
  for (const choice of choices) {
    if (!isObject(choice)) return failed('unreadable');
    if (choice['error'] !== undefined && choice['error'] !== null) {
      const error = errorInValue({ error: choice['error'] }, true);
      if (error) return failed('error_in_answer', error, true);
    }
    if (isFailedReason(choice['finish_reason'])) return failed('error_in_answer', null, true);
  }
  return undefined;
}

function isReason(reason: unknown): boolean {
  return typeof reason === 'string' ? reason !== '' : isObject(reason);
}

/** Engines end an answer with such a reason if they could not finish it. */
export function isFailedReason(reason: unknown): boolean {
  const name = isObject(reason) ? reason['type'] : reason;
  return typeof name === 'string' && /^(error|abort)/i.test(name);
}

/** Whether a choice carries text. The first event of a chat names only the role, the last only the reason to stop. */
function hasText(choice: JsonObject): boolean {
  if (isText(choice['text'])) return true;
  const delta = choice['delta'] ?? choice['message'];
  if (!isObject(delta)) return false;
  if (['content', 'reasoning_content', 'reasoning', 'refusal'].some((name) => isText(delta[name]))) return true;
  const calls = [
    delta['function_call'],
    ...(Array.isArray(delta['tool_calls']) ? (delta['tool_calls'] as unknown[]) : []),
  ];
  return calls.some((call) => {
    if (!isObject(call)) return false;
    const called = isObject(call['function']) ? call['function'] : call;
    return isText(called['arguments']);
  });
}

function isText(value: unknown): boolean {
  return (typeof value === 'string' || Array.isArray(value)) && value.length > 0;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function presentOf(counts: TokenCounts): Partial<TokenCounts> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== null)) as Partial<TokenCounts>;
}
