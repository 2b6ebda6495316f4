import type { ServerResponse } from 'node:http';
import { durationMs, paced, pauseUntil, type Answer, type Pace } from './answer.js';
import type { BatchEngine } from './batch-engine.js';
import type { SimulatorOptions } from './flags.js';
import type { Work } from './iteration-scheduler.js';
import type { Metrics } from './metrics.js';

const PROCESS_MARK = `${process.pid.toString(36)}${Date.now().toString(36)}`;
let lastId = 0;

/** One request and its answer, with the parts of the process that the endpoints need. */
export class Exchange {
  /** A value of `performance.now()`. Every wait is counted from here, so that reading the body does not add to it. */
  readonly startedAt = performance.now();
  /** The pace of this answer. */
  pace: Pace;

  constructor(
    readonly response: ServerResponse,
    readonly options: SimulatorOptions,
    readonly metrics: Metrics,
    readonly answer: Answer,
    /** Undefined if answers follow the pace of the options. */
    private readonly engine?: BatchEngine,
  ) {
    this.pace = options;
  }

  /** @param others other requests in flight when this one arrived */
  slowDown(others: number): void {
    const { ttftMs, itlMs, slowdown } = this.options;
    const times = 1 + slowdown * others;
    this.pace = { ttftMs: ttftMs * times, itlMs: itlMs * times };
  }

  /**
   * Counts the tokens of the request.
   * @throws ApiError 400 if the engine cannot hold them
   */
  accept(work: Work, choices = 1): void {
    this.engine?.check(work);
    this.metrics.tokens(work.promptTokens, work.tokens * choices);
  }

  /** Calls `emit(from, to)` for tokens that are due, until the last one or until it returns false. */
  generate(work: Work, emit: (from: number, to: number) => Promise<boolean> | boolean): Promise<void> {
    if (this.engine) return this.engine.generate(this.response, work, emit);
    return paced(this.startedAt, this.pace, work.tokens, emit);
  }

  /** Resolves when all tokens are generated, or the client has left the engine. */
  generated(work: Work): Promise<void> {
    if (this.engine) return this.engine.generate(this.response, work, () => true);
    return pauseUntil(this.startedAt + durationMs(this.pace, work.tokens));
  }

  newId(prefix: string): string {
    return `${prefix}-${PROCESS_MARK}${(lastId += 1)}`;
  }

  send(status: number, value: unknown): void {
    this.sendText(status, JSON.stringify(value), 'application/json');
  }

  sendText(status: number, text: string, contentType: string, headers: Record<string, string> = {}): void {
    if (this.response.destroyed || this.response.headersSent) return;
    this.response.writeHead(status, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(text),
      ...headers,
    });
    this.response.end(text);
  }

  startStream(): void {
    this.response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  }
}
