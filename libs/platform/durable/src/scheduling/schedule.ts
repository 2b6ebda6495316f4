import { setTimeout as delay } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryService, type MetadataScanner } from '@nestjs/core';
import pLimit from 'p-limit';
import { Database, type Tx, type TxScope } from '@slipway/platform-database';
import { counter } from '@slipway/platform-observability';

/** Runs one transaction on one of the few connections that recurring work may have at a time. */
export type Transact = <T>(scope: TxScope, work: (tx: Tx) => Promise<T>) => Promise<T>;

export interface RecurringOptions {
  /** For the log, and for `runNow`. */
  name: string;
  /** Seconds from the end of one run to the start of the next. */
  everySeconds: number;
  /** A repair of the platform has a connection of its own, so that the work of an area cannot delay it. */
  isRepair?: boolean;
}

/** @param stopping is aborted when the process ends; work of many transactions then begins no further one */
export type RecurringWork = (transact: Transact, stopping: AbortSignal) => Promise<void>;

/**
 * Marks a method of a provider as recurring work. Every worker process runs it; row locks keep two of them from doing
 * the same thing. Work that one run leaves unfinished is found by the next one.
 */
export const Recurring = DiscoveryService.createDecorator<RecurringOptions>();

/**
 * All work runs once this soon after the start of a process, so that a process that restarts often also runs what is
 * seldom due.
 */
const FIRST_AFTER_SECONDS = 1;
/** Transactions that the recurring work of all areas may have open at a time, in one process. */
const AREA_TRANSACTIONS = 3;

const failures = counter('slipway_recurring_failures_total', 'Failed runs of recurring work, by task', ['task']);

interface ScheduleEntry extends RecurringOptions {
  work: RecurringWork;
  transact: Transact;
  timer?: NodeJS.Timeout;
  running?: Promise<void>;
}

/**
 * The recurring work of a process. Each entry has a timer of its own, so that slow work delays only itself, and
 * together they use only a few connections. Repairs of the platform have another connection, so that the work of an
 * area cannot delay them. `@nestjs/schedule` has intervals, but it waits for the end of a run neither before it plans
 * the next one nor at shutdown.
 */
export class Schedule implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('schedule');
  private readonly entries: ScheduleEntry[] = [];
  private readonly areaLimit = pLimit(AREA_TRANSACTIONS);
  private readonly stopping = new AbortController();
  private isRunning = false;

  /** @param isWorker whether the work runs here; an API process only builds it */
  constructor(
    private readonly database: Database,
    private readonly isWorker: boolean,
    private readonly discovery: DiscoveryService,
    private readonly methods: MetadataScanner,
  ) {}

  add(options: RecurringOptions, work: RecurringWork): void {
    const limit = options.isRepair ? pLimit(1) : this.areaLimit;
    const transact: Transact = (scope, fn) => limit(() => this.database.tx(scope, fn));
    this.entries.push({ ...options, work, transact });
  }

  onApplicationBootstrap(): void {
    this.findWork();
    if (!this.isWorker) return;
    this.isRunning = true;
    for (const entry of this.entries) {
      // Counted from 0, because Prometheus sees no increase in a counter that begins at 1.
      failures.inc({ task: entry.name }, 0);
      this.plan(entry, FIRST_AFTER_SECONDS);
    }
  }

  private findWork(): void {
    for (const provider of this.discovery.getProviders()) {
      const instance = provider.instance as Record<string, RecurringWork> | undefined;
      if (!instance || typeof instance !== 'object') continue;
      for (const method of this.methods.getAllMethodNames(Object.getPrototypeOf(instance) as object)) {
        const options = this.discovery.getMetadataByDecorator(Recurring, provider, method);
        if (options) this.add(options, (transact, stopping) => instance[method]!(transact, stopping));
      }
    }
  }

  /** Runs all work with this name now, and waits for it; without a name, all work. */
  async runNow(name?: string): Promise<void> {
    for (const { name: own, work, transact } of this.entries)
      if (name === undefined || own === name) await work(transact, this.stopping.signal);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isRunning = false;
    this.stopping.abort();
    for (const { timer } of this.entries) clearTimeout(timer);
    await Promise.all(this.entries.map(({ running }) => running));
  }

  private plan(entry: ScheduleEntry, afterSeconds = entry.everySeconds): void {
    entry.timer = setTimeout(
      () => {
        entry.running = this.runOnce(entry).then(() => {
          entry.running = undefined;
          if (this.isRunning) this.plan(entry);
        });
      },
      Math.min(afterSeconds, entry.everySeconds) * 1_000,
    );
  }

  private async runOnce({ name, work, transact }: ScheduleEntry): Promise<void> {
    try {
      await work(transact, this.stopping.signal);
    } catch (error) {
      failures.inc({ task: name });
      this.logger.warn(`recurring task ${name} failed: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

/** Time that a batch may take, because a transaction that is open for longer keeps dead rows of others. */
const BATCH_MS = 200;
const FIRST_ROWS = 500;
/** If even fewer rows take as long, the rows are not the cause. */
const LEAST_ROWS = 200;
const MOST_ROWS = 5_000;

/**
 * Does a lot of work in small transactions, until nothing is left or the process stops. Each batch is as large as fits
 * into a fifth of a second. After each batch it pauses for as long as the batch took, so that it uses at most half of
 * one connection.
 * @param batch does at most so many rows in a transaction of its own; resolves to whether there may be more
 */
export async function inBatches(batch: (rows: number) => Promise<boolean>, stopping?: AbortSignal): Promise<void> {
  for (let rows = FIRST_ROWS; !stopping?.aborted;) {
    const began = performance.now();
    if (!(await batch(rows))) return;
    const tookMs = performance.now() - began;
    // It changes by a factor of two at most, because one batch that met a checkpoint says little about the next.
    const factor = Math.min(2, Math.max(0.5, BATCH_MS / tookMs));
    rows = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, Math.round(rows * factor)));
    await delay(tookMs, undefined, { signal: stopping }).catch(() => undefined);
  }
}
