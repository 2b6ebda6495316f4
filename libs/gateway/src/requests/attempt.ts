import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import type { Meter } from '../answers/meter.js';
import { Stay, type AttemptLoad } from '../upstream/in-flight.js';
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
  private abortReason: Error | undefined;
  private discarded = 0;
  /** Runs while little is to be hoped for of the instance. */
  private silence: NodeJS.Timeout | undefined;
  private readonly stay: Stay;

  constructor(
    readonly instance: Instance,
    private readonly events: AttemptEvents,
  ) {
    this.stay = new Stay(instance.load, this.startedAt);
  }

  /** How loaded the instance was since this attempt began; asked before the attempt is settled, which it counts. */
  load(now: number): AttemptLoad {
    return this.stay.load(now);
  }

  abandon(): void {
    this.isSilent = true;
  }

  abort(reason: string): void {
    this.isSilent = true;
    this.abortReason = new Error(reason);
    this.controller?.abort(this.abortReason);
  }

  /**
   * The node of the instance says nothing to its cluster, and may serve all the same: the answer breaks once nothing has come of it for so long,
   * unless what may yet come is hoped for. Where the client is slow to read, silence says nothing.
   */
  doubt(silenceMs: number, isHopedFor: () => boolean): void {
    this.silence ??= setTimeout(() => {
      const isSilenceOurs = this.controller?.paused === true;
      if (!this.instance.isLost) this.silence = undefined;
      else if (isSilenceOurs || isHopedFor()) this.silence?.refresh();
      else this.controller?.abort(new Error('its instance is lost'));
    }, silenceMs);
  }

  pause(): void {
    this.controller?.pause();
  }

  resume(): void {
    this.silence?.refresh();
    this.controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // The client left while the connection was being made.
    if (this.abortReason) controller.abort(this.abortReason);
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200 || this.isSilent) return;
    this.status = status;
    this.events.onHead(this, status, headers);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.silence?.refresh();
    if (this.isSilent) {
      this.discarded += chunk.length;
      if (this.discarded > MAX_DISCARDED_BYTES) controller.abort(new Error('the answer is not wanted'));
      return;
    }
    if (this.meter) {
      const now = performance.now();
      if (this.meter.onChunk(chunk, now)) this.stay.noteFirstToken(now);
    }
    this.events.onData(this, chunk);
  }

  onResponseEnd(): void {
    clearTimeout(this.silence);
    if (!this.isSilent) this.events.onEnd(this);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.silence);
    if (!this.isSilent) this.events.onError(this, error);
  }
}
