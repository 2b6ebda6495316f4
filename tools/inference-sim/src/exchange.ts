import type { ServerResponse } from 'node:http';
import type { Answer, Pace } from './answer.js';
import type { SimulatorOptions } from './flags.js';
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
  ) {
    this.pace = options;
  }

  /** @param others other requests in flight when this one arrived */
  slowDown(others: number): void {
    const { ttftMs, itlMs, slowdown } = this.options;
    const times = 1 + slowdown * others;
    this.pace = { ttftMs: ttftMs * times, itlMs: itlMs * times };
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
