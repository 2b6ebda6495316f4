import type { Logger } from '@nestjs/common';
import { counter } from '@slipway/platform-observability';
import type { Target } from './target-catalog.js';

/** Repeats a check until it is stopped, with a pause after the end of each run. */
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

  /** Waits for a running check. */
  async stop(): Promise<void> {
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.running;
  }
}

const errors = counter(
  'slipway_target_errors_total',
  'Checks and changes of instances that failed for a reason that is not the instance, by target',
  ['target'],
);

/** Counts every failure, also those that the log does not repeat. */
export function countTargetError(target: string): void {
  errors.inc({ target });
}

/** Starts the count of a target at 0, because Prometheus sees no increase in a counter that begins at 1. */
export function countTargetErrorsOf(target: string): void {
  errors.inc({ target }, 0);
}

/** Warns of a problem with a target, once for as long as the problem stays the same. */
export class TroubleLog {
  private last = '';

  constructor(
    private readonly target: Target,
    private readonly logger: Logger,
  ) {}

  tell(error: unknown): void {
    countTargetError(this.target.config.name);
    const trouble = error instanceof Error ? error.message : String(error);
    if (trouble !== this.last) this.logger.warn(`target ${this.target.config.name}: ${trouble}`);
    this.last = trouble;
  }

  /** Reports a failed check. A successful check ends the problem. Never fails. */
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
