import { Logger } from '@nestjs/common';
import { QueueUnavailableError, type OperationQueue, type WakeUp, type WakeUpHandler } from './operation-queue.js';
import { QueueSession, settles, type QueueBackend } from './queue-session.js';

/** Durations in milliseconds. */
export interface SupervisionTimes {
  /** Between two probes of a working session. */
  probeEvery: number;
  /** How long a probe, or the opening of a session, may take. */
  answerWithin: number;
  /** How long `add` may take in total. */
  addWithin: number;
  /** How long `close` waits for running handlers. */
  drainWithin: number;
}

const DEFAULT_TIMES: SupervisionTimes = { probeEvery: 1000, answerWithin: 5000, addWithin: 3000, drainWithin: 10_000 };
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2000;
const SAME_ERROR_EVERY_MS = 5000;

/**
 * Keeps one session open for as long as the process lives.
 *
 *   away --(backend connects, BullMQ ready)--> open --(probe fails, data wiped, worker stopped)--> away
 *
 * While the session is open, it is probed every second, and at once after any error. While it is away, the queue
 * retries with growing pauses up to 2 s, and `add` rejects. A lost session is closed in the background. The handlers
 * that it started continue. Their wake-up may be delivered again, which Postgres handles; they keep their slots, so
 * that `concurrency` holds across sessions.
 */
export class SupervisedQueue implements OperationQueue {
  private readonly log = new Logger('OperationQueue');
  private readonly times: SupervisionTimes;
  private session?: QueueSession;
  private consumer?: { handler: WakeUpHandler; concurrency: number };
  private running = 0;
  private readonly waitingForSlot: Array<() => void> = [];
  private closing?: Promise<void>;
  private supervision?: Promise<void>;
  private wake: () => void = () => undefined;
  private awaySince = Date.now();
  private readonly opened = new Set<() => void>();
  private errorLoggedAt = 0;

  constructor(
    private readonly openBackend: (onError: (error: Error) => void) => Promise<QueueBackend>,
    times: Partial<SupervisionTimes> = {},
  ) {
    this.times = { ...DEFAULT_TIMES, ...times };
  }

  /** Begins to connect, without waiting, so that the process also starts while the backend is down. */
  start(): void {
    this.supervision ??= this.supervise();
  }

  async add(job: WakeUp): Promise<void> {
    const deadline = Date.now() + this.times.addWithin;
    const session =
      this.session ?? (await this.sessionBefore(Math.min(deadline, this.awaySince + this.times.addWithin)));
    if (!session) throw new QueueUnavailableError('the queue backend is unavailable');
    try {
      await within(session.add(job), deadline - Date.now(), 'the queue took too long to add a job');
    } catch (error) {
      this.wake();
      throw new QueueUnavailableError(`the queue did not accept the job: ${messageOf(error)}`, { cause: error });
    }
  }

  async consume(handler: WakeUpHandler, concurrency: number): Promise<void> {
    if (this.consumer) throw new Error('consume may be called only once');
    this.consumer = { handler, concurrency };
    this.wake();
  }

  ready(): boolean {
    return !this.closing && this.session !== undefined && (!this.consumer || this.session.working);
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  /** Called by Nest. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }

  private async supervise(): Promise<void> {
    let retryMs = FIRST_RETRY_MS;
    while (!this.closing) {
      try {
        if (this.session)
          await within(this.session.probe(), this.times.answerWithin, 'the backend did not respond to the probe');
        this.session ??= await this.open();
        if (this.consumer && !this.session.working) await this.startWork(this.session);
        retryMs = FIRST_RETRY_MS;
        await this.sleep(this.times.probeEvery, FIRST_RETRY_MS);
      } catch (error) {
        this.lose(error);
        await this.sleep(retryMs, retryMs);
        retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
      }
    }
  }

  private async open(): Promise<QueueSession> {
    const onError = (error: Error) => this.note(error);
    const opening = (async () => {
      const backend = await this.openBackend(onError);
      try {
        return await QueueSession.open(backend, onError);
      } catch (error) {
        await settles(backend.disconnect(), 500);
        throw error;
      }
    })();
    try {
      const session = await within(opening, this.times.answerWithin, 'the backend did not respond');
      this.log.log('the queue is connected');
      this.session = session;
      for (const notify of this.opened) notify();
      return session;
    } catch (error) {
      // It may still open after we stopped waiting.
      void opening.then(
        (late) => late.close(0),
        () => undefined,
      );
      throw error;
    }
  }

  private async startWork(session: QueueSession): Promise<void> {
    const { concurrency } = this.consumer!;
    await within(
      session.work((operationId) => this.handle(operationId), concurrency),
      this.times.answerWithin,
      'the worker did not start',
    );
  }

  private lose(error: unknown): void {
    const session = this.session;
    this.session = undefined;
    if (session) {
      this.awaySince = Date.now();
      void session.close(0);
    }
    this.note(error);
  }

  /** Runs the handler in a slot of its own; never rejects, so that BullMQ sees a completed job. */
  private async handle(operationId: string): Promise<void> {
    const { handler, concurrency } = this.consumer!;
    while (this.running >= concurrency) await new Promise<void>((resolve) => this.waitingForSlot.push(resolve));
    this.running += 1;
    try {
      await handler(operationId);
    } catch (error) {
      this.log.error(
        `the wake-up handler of ${operationId} failed: ${messageOf(error)}`,
        error instanceof Error ? error.stack : undefined,
      );
    } finally {
      this.running -= 1;
      this.waitingForSlot.shift()?.();
    }
  }

  private async shutDown(): Promise<void> {
    const deadline = Date.now() + this.times.drainWithin;
    this.wake();
    for (const notify of this.opened) notify();
    await this.supervision;
    await this.session?.close(this.times.drainWithin);
    this.session = undefined;
    // These are handlers of sessions that were lost earlier.
    while (this.running > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
    if (this.running > 0) this.log.warn(`the queue closed while ${this.running} handlers were running`);
  }

  private async sessionBefore(deadline: number): Promise<QueueSession | undefined> {
    if (this.closing || deadline <= Date.now()) return undefined;
    let notify: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (notify = resolve));
    this.opened.add(notify);
    await settles(opened, deadline - Date.now());
    this.opened.delete(notify);
    return this.session;
  }

  /** Waits `ms`, or less if woken, but at least `leastMs`, so that many errors do not cause as many probes. */
  private async sleep(ms: number, leastMs: number): Promise<void> {
    if (this.closing) return;
    const woken = new Promise<void>((resolve) => (this.wake = resolve));
    const least = new Promise<void>((resolve) => setTimeout(resolve, Math.min(leastMs, ms)));
    await settles(woken, ms);
    if (!this.closing) await least;
  }

  /** Every error causes a probe; of many errors in a row, only the first is logged. */
  private note(error: unknown): void {
    this.wake();
    if (this.closing || Date.now() - this.errorLoggedAt < SAME_ERROR_EVERY_MS) return;
    this.errorLoggedAt = Date.now();
    this.log.warn(
      `${this.session ? 'the queue reported an error' : 'the queue is unavailable, retrying'}: ${messageOf(error)}`,
    );
  }
}

async function within<T>(work: Promise<T>, ms: number, complaint: string): Promise<T> {
  if (await settles(work, Math.max(ms, 0))) return work;
  throw new Error(complaint);
}

/** An AggregateError (several addresses were tried) has an empty message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ');
  return error instanceof Error ? error.message : String(error);
}
