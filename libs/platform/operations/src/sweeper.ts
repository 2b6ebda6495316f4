import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { SWEEP } from './operation.query.js';
import { Retention } from './retention.js';

/** Recurring work of an area: called about once a second per worker process, in a system transaction; it must find its own due rows. */
export interface DueWork {
  readonly name: string;
  sweep(tx: Tx): Promise<void>;
}

const INTERVAL_MS = 1_000;

/**
 * Repairs without any input: puts live operations that nobody works on back into the outbox, and lets areas do the same
 * with their due rows. Every worker runs one; row locks keep them from doing the same thing twice.
 */
@Injectable()
export class Sweeper {
  private readonly logger = new Logger('sweeper');
  private readonly work: DueWork[] = [];
  private readonly graceSeconds: number;
  private timer?: NodeJS.Timeout;
  private running?: Promise<void>;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'leaseSeconds'>,
    private readonly database: Database,
  ) {
    // Long enough for a queue that works to deliver first, short against the lease.
    this.graceSeconds = Math.max(1, Math.min(5, config.leaseSeconds / 4));
    this.work.push(
      { name: 'operations', sweep: async (tx) => void (await tx.query(SWEEP, [this.graceSeconds])) },
      new Retention(),
    );
  }

  register(work: DueWork): void {
    this.work.push(work);
  }

  start(): void {
    this.timer = setInterval(
      () => (this.running ??= this.sweep().finally(() => (this.running = undefined))),
      INTERVAL_MS,
    );
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  async sweep(): Promise<void> {
    for (const work of this.work) {
      await this.database
        .tx('system', (tx) => work.sweep(tx))
        .catch((error) => this.logger.warn(`${work.name}: ${error.message}`));
    }
  }
}
