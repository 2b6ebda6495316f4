import type { Logger } from '@nestjs/common';
import type { Target } from './target-catalog.js';

/** Looks again and again, a while after the end of each look, until it is stopped. */
export class RepeatedCheck {
  private timer?: NodeJS.Timeout;
  private looking?: Promise<void>;
  private isStopping = false;

  /** @param look must not fail: nobody would be told */
  constructor(
    private readonly look: () => Promise<void>,
    private readonly everyMs: number,
  ) {}

  start(): void {
    this.timer = setTimeout(() => {
      this.looking = this.look().finally(() => {
        if (!this.isStopping) this.start();
      });
    }, this.everyMs);
  }

  /** Waits for a look that is under way. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.looking;
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

  /** Tells of a look that failed; one that did not is the end of what was wrong. Never fails. */
  during(look: Promise<void>): Promise<void> {
    return look.then(
      () => this.isOver(),
      (error: unknown) => this.tell(error),
    );
  }

  isOver(): void {
    this.last = '';
  }
}
