import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

interface WakeableTaskOptions {
  /** Called with the error that `work` throws. The next wake runs the work again. */
  onError: (error: unknown) => void;
  /**
   * Minimum time from the start of one run to the start of the next, in milliseconds. A run after an idle time starts
   * at once.
   */
  gapMs?: number;
}

/**
 * Work that has several wake sources: notifications, timers, and its own results. It never runs twice at once. A wake
 * during a run is followed by one more run, so no wake is lost. All wakes of one iteration of the event loop cause one
 * run.
 */
export class WakeableTask {
  private running?: Promise<void>;
  private isWoken = false;
  private hasStopped = false;

  constructor(
    private readonly work: () => Promise<void>,
    private readonly options: WakeableTaskOptions,
  ) {}

  get isIdle(): boolean {
    return this.running === undefined;
  }

  /** Long work checks this between its parts. */
  get isStopped(): boolean {
    return this.hasStopped;
  }

  /** Resolves after a run that began after this call, and never rejects. Does nothing after `stop`. */
  wake(): Promise<void> {
    if (!this.hasStopped) {
      this.isWoken = true;
      this.running ??= this.run();
    }
    return this.running ?? Promise.resolve();
  }

  /** Waits for the run in progress. */
  async stop(): Promise<void> {
    this.hasStopped = true;
    await this.running;
  }

  private async run(): Promise<void> {
    const { onError, gapMs = 0 } = this.options;
    while (this.isWoken && !this.hasStopped) {
      await nextTurn();
      this.isWoken = false;
      const nextAt = performance.now() + gapMs;
      await this.work().catch(onError);
      if (this.isWoken && !this.hasStopped && gapMs > 0) await delay(Math.max(0, nextAt - performance.now()));
    }
    // In the same iteration as the check, so a wake from here on starts another run.
    this.running = undefined;
  }
}
