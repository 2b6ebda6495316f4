import type { JobsOptions } from 'bullmq';
import type { WakeUp, WakeUpHandler } from './operation-queue.js';

export const QUEUE_NAME = 'slipway-operations';

/** An idle worker polls this often by itself, so that a lost notification costs seconds. */
export const IDLE_POLL_SECONDS = 5;

/** Nothing reads BullMQ's event log; this limits its length. */
export const queueOptions = { streams: { events: { maxLen: 100 } } };

/**
 * Postgres decides the fate of a job, so BullMQ must never give up on one. A stalled job is delivered again without
 * limit, and a lost connection is retried at once instead of after the default of 15 s.
 */
export const workerOptions = { maxStalledCount: 1_000_000, runRetryDelay: 250, drainDelay: IDLE_POLL_SECONDS };

/**
 * From this many jobs at a time on, one call for all of them costs less than a call each: on Postgres it creates two
 * temporary tables.
 */
const BULK_FROM = 10;

const INSUFFICIENT_PRIVILEGE = '42501';

const jobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };

interface JobData {
  operationId: string;
}

/** The parts of BullMQ's Queue and Worker that we use. Their full types name their backend. */
interface AnyQueue {
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  add(name: string, data: JobData, options: JobsOptions): Promise<unknown>;
  addBulk(jobs: { name: string; data: JobData; opts: JobsOptions }[]): Promise<unknown>;
  close(): Promise<void>;
}
interface BackendWorker {
  on(event: 'error', listener: (error: Error) => void): unknown;
  waitUntilReady(): Promise<unknown>;
  isRunning(): boolean;
  pause(doNotWaitActive: boolean): Promise<void>;
  close(): Promise<void>;
  /**
   * Ends the timer that renews job locks. close() reaches that timer only after all jobs and connections have ended.
   */
  stopRenewals(): Promise<void>;
  getBackend(): { disconnectBlocking(wait?: boolean): Promise<void>; close(force?: boolean): Promise<void> };
}

/**
 * The parts that a backend provides: its connections, and the proof that its data is still the data this session
 * started with.
 */
export interface QueueBackend {
  openQueue(): AnyQueue;
  openWorker(process: (operationId: string) => Promise<void>, concurrency: number): Promise<BackendWorker>;
  /**
   * Changes when the backend's data was wiped and created again by any process. Rejects if it is missing or does not
   * answer.
   */
  identity(): Promise<string>;
  disconnect(): Promise<void>;
}

/**
 * BullMQ's Queue and Worker on connections that are known to work. A session is never repaired, because BullMQ objects
 * made while the backend was down stay broken. If a session fails its probe, its owner drops it and opens another one.
 */
export class QueueSession {
  private worker?: BackendWorker;
  /** The wake-ups that were added in this iteration of the event loop, which are sent together. */
  private gathered: WakeUp[] = [];
  private sending?: Promise<void>;
  /** The reject functions of the adds in flight. */
  private readonly refusals = new Set<(error: Error) => void>();
  private isClosing = false;
  private isBulkRefused = false;

  private constructor(
    private readonly backend: QueueBackend,
    private readonly queue: AnyQueue,
    private readonly identity: string,
    private readonly onError: (error: Error) => void,
  ) {}

  static async open(backend: QueueBackend, onError: (error: Error) => void): Promise<QueueSession> {
    const queue = backend.openQueue();
    queue.on('error', onError);
    await queue.waitUntilReady();
    return new QueueSession(backend, queue, await backend.identity(), onError);
  }

  get working(): boolean {
    return this.worker !== undefined;
  }

  async work(handler: WakeUpHandler, concurrency: number): Promise<void> {
    this.worker = await this.backend.openWorker(handler, concurrency);
    this.worker.on('error', this.onError);
    await this.worker.waitUntilReady();
  }

  /**
   * Adds a wake-up together with the others of this iteration of the event loop. The relay adds a batch at once:
   * gathered, it takes one statement instead of hundreds, and succeeds or fails as one.
   */
  add(job: WakeUp): Promise<void> {
    if (this.isClosing) return Promise.reject(closed());
    this.gathered.push(job);
    this.sending ??= new Promise((resolve, reject) => {
      this.refusals.add(reject);
      setImmediate(() => {
        const jobs = this.gathered;
        this.gathered = [];
        this.sending = undefined;
        void this.send(jobs)
          .then(resolve, reject)
          .finally(() => this.refusals.delete(reject));
      });
    });
    return this.sending;
  }

  /** Rejects if this session is no longer usable. */
  async probe(): Promise<void> {
    if ((await this.backend.identity()) !== this.identity) throw new Error('the data of the queue was wiped');
    if (this.worker && !this.worker.isRunning()) throw new Error('the worker of the queue has stopped');
  }

  private async send(jobs: readonly WakeUp[]): Promise<void> {
    const bullJobs = jobs.map(({ operationId, dispatch, delayMs }) => ({
      name: 'operation',
      data: { operationId },
      // BullMQ refuses ':' and all-digit ids, and ignores an id that it still keeps. So the dispatch number is part of
      // it.
      opts: { ...jobOptions, jobId: `${operationId}-${dispatch}`, delay: Math.ceil(delayMs ?? 0) },
    }));
    if (jobs.length >= BULK_FROM && !this.isBulkRefused) {
      try {
        await this.queue.addBulk(bullJobs);
        return;
      } catch (error) {
        // An operator may have revoked the right to temporary tables.
        if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) throw error;
        this.isBulkRefused = true;
      }
    }
    await Promise.all(bullJobs.map(({ name, data, opts }) => this.queue.add(name, data, opts)));
  }

  /**
   * Takes no more jobs and waits `graceMs` for the running ones; then it closes the connections even if some still run.
   */
  async close(graceMs: number): Promise<void> {
    this.isClosing = true;
    // BullMQ never settles a call once its close has begun, so callers of `add` would wait for their whole timeout.
    for (const refuse of this.refusals) refuse(closed());
    const worker = this.worker;
    if (worker) {
      const drained = worker.close().catch(() => undefined);
      if (!(await settles(drained, graceMs))) {
        // close() may now wait forever on a connection that is lost. Each of these calls ends a timer of the worker.
        await settles(worker.pause(true), 500);
        await worker.stopRenewals();
        await settles(worker.getBackend().disconnectBlocking(false), 500);
        await settles(worker.getBackend().close(true), 500);
      }
    }
    await settles(this.queue.close(), 500);
    await settles(this.backend.disconnect(), 500);
  }
}

function closed(): Error {
  return new Error('the session of the queue was closed');
}

/** Whether `work` settled within `ms`. A failure counts as settled, because this tears down what may be dead. */
export async function settles(work: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController();
  const late = new Promise<boolean>((resolve) => {
    const handle = setTimeout(() => resolve(false), ms);
    timer.signal.addEventListener('abort', () => clearTimeout(handle));
  });
  const settled = await Promise.race([
    work.then(
      () => true,
      () => true,
    ),
    late,
  ]);
  timer.abort();
  return settled;
}
