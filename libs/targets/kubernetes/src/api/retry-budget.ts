import { UnreachableError } from './errors.js';

/** After this many failures without an answer in between, the server itself is in trouble. */
const FAILURES_OF_A_SERVER = 5;
/** Tries a second that may follow a failure, by all targets of one server together. */
const TRIES_PER_SECOND = 1;
const MOST_SAVED = 5;
/** A try that worked permits two more, so that a recovered server is in full use within seconds. */
const FOR_A_SUCCESS = 2;
const MOST_AFTER_SUCCESSES = 20;
/** Callers that can wait leave this many tries to those that cannot. */
const KEPT_FOR_URGENT = 1;
/** A server cannot silence us for longer, whatever `Retry-After` says. */
export const LONGEST_RETRY_AFTER_MS = 30_000;

/** No connection was made, so no call of any kind can succeed. */
const NOT_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/**
 * The number of calls that may follow failures at one API server. All targets of a process that use the server share
 * it, with any number of namespaces, kinds and instances. Calls that never failed are not counted.
 */
export class RetryBudget {
  private static readonly shared = new Map<string, { budget: RetryBudget; users: number }>();
  private tokens = MOST_SAVED;
  private filledAt = 0;
  private failures = 0;
  private isSlow = false;
  private closedUntil = 0;
  private answeredAt = -Infinity;
  private failure = '';

  /** @param shorter divides all times, for tests */
  constructor(
    readonly now: () => number = () => performance.now(),
    readonly shorter = 1,
  ) {}

  /** The budget of a server. `release` it when the caller no longer uses the server. */
  static share(server: string, shorter?: number): RetryBudget {
    const known = RetryBudget.shared.get(server) ?? { budget: new RetryBudget(undefined, shorter), users: 0 };
    known.users += 1;
    RetryBudget.shared.set(server, known);
    return known.budget;
  }

  static release(server: string): void {
    const known = RetryBudget.shared.get(server);
    if (!known) return;
    known.users -= 1;
    if (known.users === 0) RetryBudget.shared.delete(server);
  }

  /** Calls of all kinds fail, so each call needs a try of this budget. */
  get isServerInTrouble(): boolean {
    return this.isSlow;
  }

  /** The message of the server's last failure. */
  get lastFailure(): string {
    return this.failure;
  }

  /** By `now()`. When the server last answered anything but an error of its own. */
  get lastAnswerAt(): number {
    return this.answeredAt;
  }

  /** Milliseconds for which the server asked all of us to wait. */
  get closedForMs(): number {
    return Math.max(0, this.closedUntil - this.now());
  }

  /** Takes one try. Returns false if there is none. */
  take(isPatient: boolean): boolean {
    this.refill();
    if (this.closedForMs > 0 || this.tokens < (isPatient ? 1 + KEPT_FOR_URGENT : 1)) return false;
    this.tokens -= 1;
    return true;
  }

  /** About when a try is there again. */
  get nextTryMs(): number {
    return Math.max(this.closedForMs, 1_000 / TRIES_PER_SECOND / this.shorter);
  }

  /** @param isRetry whether the call took a try */
  succeeded(isRetry: boolean): void {
    this.answeredAt = this.now();
    this.failures = 0;
    this.isSlow = false;
    this.closedUntil = 0;
    if (isRetry) this.tokens = Math.min(MOST_AFTER_SUCCESSES, this.tokens + FOR_A_SUCCESS);
  }

  /** The server does not answer, or answers with an error of its own. */
  failed(error: unknown, retryAfterMs = 0): void {
    this.failures += 1;
    this.failure = error instanceof Error ? error.message : String(error);
    if (isNotConnected(error) || this.failures >= FAILURES_OF_A_SERVER) this.isSlow = true;
    if (this.isSlow && retryAfterMs > 0)
      this.closedUntil = this.now() + Math.min(retryAfterMs, LONGEST_RETRY_AFTER_MS) / this.shorter;
  }

  private refill(): void {
    const now = this.now();
    const more = ((now - this.filledAt) / 1_000) * TRIES_PER_SECOND * this.shorter;
    this.filledAt = now;
    if (this.tokens < MOST_SAVED) this.tokens = Math.min(MOST_SAVED, this.tokens + more);
  }
}

const isNotConnected = (error: unknown): boolean => error instanceof UnreachableError && NOT_CONNECTED.has(error.code);
