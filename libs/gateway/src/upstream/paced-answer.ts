import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { isEventStream } from '../headers.js';
import { RelayedAnswer } from './relayed-answer.js';

/** An answer may use the event loop this long at a time, before all others get theirs. */
const MAX_RUN_MS = 10;
/** Chunks that follow each other this closely arrived together. */
const SAME_RUN_MS = 1;
/** A stream is read in pieces of this size: one with tiny events takes about 10 ms. */
const PIECE_BYTES = 16 * 1024;

/**
 * Hands an answer that is costly to read on in several runs of the event loop, so that it delays no other request. A
 * cheap answer passes at once. To the handler it is the controller of the request.
 */
export class PacedAnswer extends RelayedAnswer implements Dispatcher.DispatchHandler {
  private headers: IncomingHttpHeaders = {};
  /** The rest of the chunks that have arrived, and what came after them. */
  private waiting: Buffer[] = [];
  private afterwards: (() => void) | undefined;
  private next: NodeJS.Immediate | undefined;
  private isHeld = false;
  private isOver = false;
  private spentMs = 0;
  private lastAt = 0;

  constructor(
    handler: Dispatcher.DispatchHandler,
    private readonly now: () => number = () => performance.now(),
  ) {
    super(handler);
  }

  get paused(): boolean {
    return this.isHeld;
  }

  abort(reason: Error): void {
    this.drop();
    this.controller.abort(reason);
  }

  pause(): void {
    this.isHeld = true;
    this.controller.pause();
  }

  resume(): void {
    this.isHeld = false;
    if (this.hasMore) this.plan();
    else this.controller.resume();
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
    text?: string,
  ): void {
    this.headers = headers;
    this.handler.onResponseStart?.(this, status, headers, text);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.hasMore) this.waiting.push(chunk);
    else this.read(chunk);
  }

  onResponseEnd(_controller: Dispatcher.DispatchController, trailers: IncomingHttpHeaders): void {
    this.after(() => this.handler.onResponseEnd?.(this, trailers));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // No client waits for the rest: this one reads too slowly.
    if (this.isHeld) this.drop();
    this.after(() => this.handler.onResponseError?.(this, error));
  }

  private get hasMore(): boolean {
    return this.waiting.length > 0 || this.next !== undefined || this.afterwards !== undefined;
  }

  private after(call: () => void): void {
    if (this.isOver) return;
    if (this.hasMore) {
      this.afterwards ??= call;
      return;
    }
    this.isOver = true;
    call();
  }

  /** Reads a chunk until its run is over, and keeps the rest. */
  private read(chunk: Buffer): void {
    const begunAt = this.now();
    if (begunAt - this.lastAt > SAME_RUN_MS) this.spentMs = 0;
    const size = chunk.length > PIECE_BYTES && isEventStream(this.headers) ? PIECE_BYTES : chunk.length;
    for (let at = 0; at < chunk.length && !this.isOver; at += size) {
      const piece = at === 0 && size >= chunk.length ? chunk : chunk.subarray(at, at + size);
      this.handler.onResponseData?.(this, piece);
      this.lastAt = this.now();
      if (!this.isHeld && this.spentMs + this.lastAt - begunAt < MAX_RUN_MS) continue;
      const rest = chunk.subarray(at + size);
      if (rest.length > 0) this.waiting.unshift(rest);
      this.plan();
      return;
    }
    this.spentMs += this.lastAt - begunAt;
  }

  private plan(): void {
    if (this.isOver || this.isHeld || this.next) return;
    this.controller.pause();
    this.next = setImmediate(() => this.continue());
  }

  private continue(): void {
    this.next = undefined;
    this.spentMs = 0;
    if (this.isHeld || this.isOver) return;
    try {
      for (let chunk = this.waiting.shift(); chunk; chunk = this.waiting.shift()) {
        this.read(chunk);
        if (this.isHeld || this.next) return;
      }
    } catch (error) {
      // Inside of a call by undici, it would do the same.
      this.abort(error as Error);
      return;
    }
    const { afterwards } = this;
    this.afterwards = undefined;
    if (afterwards) this.after(afterwards);
    else this.controller.resume();
  }

  private drop(): void {
    this.waiting = [];
    this.afterwards = undefined;
    clearImmediate(this.next);
    this.next = undefined;
  }
}
