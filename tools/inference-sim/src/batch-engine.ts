import type { ServerResponse } from 'node:http';
import { IterationScheduler, type Sequence, type Work } from './iteration-scheduler.js';
import type { IterationSettings } from './iteration-settings.js';
import { contextTooLong } from './openai.errors.js';

/** The longest time that a timer of Node can wait. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The tokens of one request, for the response that sends them. */
class Generation {
  generated = 0;
  private isOver = false;
  private notify: () => void = () => undefined;

  /** @param generated tokens so far */
  reached(generated: number): void {
    this.generated = generated;
    this.notify();
  }

  end(): void {
    this.isOver = true;
    this.notify();
  }

  /** Resolves when there are more than `sent` tokens, or no further ones will come. */
  async beyond(sent: number): Promise<void> {
    if (this.generated === sent && !this.isOver) await new Promise<void>((resolve) => (this.notify = resolve));
  }
}

/** Runs an `IterationScheduler` in real time, and passes its tokens on to the responses. */
export class BatchEngine {
  private readonly scheduler: IterationScheduler<Generation>;
  private timer?: NodeJS.Timeout;

  constructor(private readonly settings: IterationSettings) {
    this.scheduler = new IterationScheduler(settings);
  }

  get running(): number {
    return this.scheduler.running;
  }

  get waiting(): number {
    return this.scheduler.waiting;
  }

  get preemptions(): number {
    return this.scheduler.preemptions;
  }

  /** 0..1; undefined if the KV cache has no limit. */
  get kvUsage(): number | undefined {
    return this.settings.kvTokens === Infinity ? undefined : this.scheduler.kvUsage;
  }

  /** @throws ApiError 400 if the KV cache cannot hold the request even alone */
  check(work: Work): void {
    if (!this.scheduler.fits(work)) throw contextTooLong(work.promptTokens, work.tokens, this.settings.kvTokens);
  }

  /**
   * Calls `emit(from, to)` for tokens as they are generated, and resolves after the last one. Like a real engine, it
   * generates at its own speed if the reader is slower. Ends early if `emit` returns false or the response closes; the
   * request then leaves the batch.
   */
  async generate(
    response: ServerResponse,
    work: Work,
    emit: (from: number, to: number) => Promise<boolean> | boolean,
  ): Promise<void> {
    if (response.destroyed) return;
    const generation = new Generation();
    const sequence = this.submit(generation, work);
    const leave = (): void => {
      this.scheduler.abort(sequence);
      generation.end();
    };
    response.once('close', leave);
    try {
      let sent = 0;
      while (sent < work.tokens) {
        await generation.beyond(sent);
        const { generated } = generation;
        if (generated === sent || !(await emit(sent, generated))) return;
        sent = generated;
      }
    } finally {
      response.off('close', leave);
      leave();
    }
  }

  private submit(generation: Generation, work: Work): Sequence<Generation> {
    const sequence = this.scheduler.submit(performance.now(), generation, work);
    this.advance();
    return sequence;
  }

  /** A timer may fire early or late: the scheduler gets the real time, and counts iterations from their due times. */
  private advance(): void {
    clearTimeout(this.timer);
    this.scheduler.advance(performance.now(), ({ request, generated }) => request.reached(generated));
    const { nextAt } = this.scheduler;
    if (nextAt === Infinity) return;
    const waitMs = Math.min(Math.max(Math.ceil(nextAt - performance.now()), 0), MAX_TIMER_MS);
    // A client that waits keeps the process running; an iteration without one does not.
    this.timer = setTimeout(() => this.advance(), waitMs).unref();
  }
}
