import { Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Database, type Tx, type TxScope } from '@slipway/platform-database';
import pLimit from 'p-limit';

/** Runs one transaction on one of the few connections that recurring work may have at a time. */
export type Transact = <T>(scope: TxScope, work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * Something that a worker does again and again, without being asked: it finds its due rows by itself. Every worker process
 * runs it; row locks keep two of them from doing the same thing. What a run does not get done, the next one finds again.
 */
export interface RecurringWork {
  /** For the log. */
  readonly name: string;
  /** Seconds from the end of one run to the start of the next. */
  readonly everySeconds: number;
  /** @param stopping fires when the process ends: work of many transactions begins no further one */
  run(transact: Transact, stopping?: AbortSignal): Promise<void>;
}

/** So soon after the start of a process every work runs once: one that is restarted often gets to what is seldom due. */
const FIRST_AFTER_SECONDS = 1;
/** Transactions that the recurring work of all areas may have open at a time, in one process. */
const AREA_PLACES = 3;

interface Entry {
  work: RecurringWork;
  transact: Transact;
  timer?: NodeJS.Timeout;
  running?: Promise<void>;
}

/**
 * The recurring work of a process. Each has a timer of its own, so that a slow one delays only itself, and together they use
 * only a few connections. Repairs of the platform have a connection beside those: nothing that an area does holds them up.
 * `@nestjs/schedule` has intervals, but neither waits for a run to end before it plans the next nor at a shutdown.
 */
export class Schedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('schedule');
  private readonly entries: Entry[] = [];
  private readonly areaPlaces = pLimit(AREA_PLACES);
  private readonly stopping = new AbortController();
  private isRunning = false;

  /** @param isWorker whether the work is done here; an API process only builds it */
  constructor(
    private readonly database: Database,
    private readonly isWorker: boolean,
  ) {}

  register(work: RecurringWork, { isRepair = false } = {}): void {
    const inPlace = isRepair ? pLimit(1) : this.areaPlaces;
    const entry: Entry = { work, transact: (scope, fn) => inPlace(() => this.database.tx(scope, fn)) };
    this.entries.push(entry);
    if (this.isRunning) this.plan(entry, FIRST_AFTER_SECONDS);
  }

  onApplicationBootstrap(): void {
    if (!this.isWorker) return;
    this.isRunning = true;
    for (const entry of this.entries) this.plan(entry, FIRST_AFTER_SECONDS);
  }

  /** Runs every work with this name now, and waits for it; all of them if no name is given. */
  async runNow(name?: string): Promise<void> {
    for (const { work, transact } of this.entries)
      if (name === undefined || work.name === name) await work.run(transact, this.stopping.signal);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isRunning = false;
    this.stopping.abort();
    for (const { timer } of this.entries) clearTimeout(timer);
    await Promise.all(this.entries.map(({ running }) => running));
  }

  private plan(entry: Entry, afterSeconds = entry.work.everySeconds): void {
    entry.timer = setTimeout(
      () => {
        entry.running = this.runOnce(entry).then(() => {
          entry.running = undefined;
          if (this.isRunning) this.plan(entry);
        });
      },
      Math.min(afterSeconds, entry.work.everySeconds) * 1_000,
    );
  }

  private async runOnce({ work, transact }: Entry): Promise<void> {
    try {
      await work.run(transact, this.stopping.signal);
    } catch (error) {
      this.logger.warn(`${work.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}
