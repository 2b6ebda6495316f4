import type { Logger } from '@nestjs/common';
import type { Target } from './target-catalog.js';

/** Runs a check again and again, a while after the end of each one, until it is stopped. */
export class RepeatedCheck {
  private timer?: NodeJS.Timeout;
  private running?: Promise<void>;
  private isStopping = false;

  /** @param check must not fail: nothing would report it */
  constructor(
    private readonly check: () => Promise<void>,
    private readonly everyMs: number,
  ) {}

  start(): void {
    this.timer = setTimeout(() => {
      this.running = this.check().finally(() => {
        if (!this.isStopping) this.start();
      });
    }, this.everyMs);
  }

  /** Waits for a check that is running. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.running;
  }
}

/** Warns of what is wrong with a target, once for as long as it stays the same. */
export class TroubleLog {
  private last = '';

  constructor(
    private readonly target: Target,
    private readonly logger: Logger,
  ) {}

  tell(error: unknown): void {
    const trouble = error instanceof Error ? error.message : String(error);
    if (trouble !== this.last) this.logger.warn(`target ${this.target.config.name}: ${trouble}`);
    this.last = trouble;
  }

  /** Reports a check that failed; one that did not ends the trouble. Never fails. */
  during(check: Promise<void>): Promise<void> {
    return check.then(
      () => this.isOver(),
      (error: unknown) => this.tell(error),
    );
  }

  isOver(): void {
    this.last = '';
  }
}
