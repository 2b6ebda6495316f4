import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Meter } from '../answers/meter.js';
import type { Instance } from '../upstream/instance.js';

export interface AttemptEvents {
  onHead(attempt: Attempt, status: number, headers: IncomingHttpHeaders): void;
  onData(attempt: Attempt, chunk: Buffer): void;
  onEnd(attempt: Attempt): void;
  onError(attempt: Attempt, error: Error): void;
}

/** The rest of an abandoned answer is read, so that its connection can be used again, unless it is long. */
const MAX_DISCARDED_BYTES = 64 * 1024;

/** One try on one instance. Abandoned or aborted, it reports nothing any more. */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly startedAt = performance.now();
  status = 0;
  meter: Meter | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private isSilent = false;
  private isAborted = false;
  private discarded = 0;

  constructor(
    readonly instance: Instance,
    private readonly events: AttemptEvents,
  ) {}

  abandon(): void {
    this.isSilent = true;
  }

  abort(): void {
    this.isSilent = true;
    this.isAborted = true;
    this.controller?.abort(new Error('the client left'));
  }

  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // The client left while the connection was being made.
    if (this.isAborted) controller.abort(new Error('the client left'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.isSilent) return;
    this.status = status;
    this.events.onHead(this, status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSilent) {
      this.discarded += chunk.length;
      if (this.discarded > MAX_DISCARDED_BYTES) controller.abort(new Error('the answer is not wanted'));
      return;
    }
    this.meter?.onChunk(chunk, performance.now());
    this.events.onData(this, chunk);
  }

  onResponseEnd(): void {
    if (!this.isSilent) this.events.onEnd(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (!this.isSilent) this.events.onError(this, error);
  }
}
