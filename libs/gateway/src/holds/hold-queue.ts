import type { BackendSleep, PublishedHold } from '@slipway/dataplane';
import type { Clock } from '../postgres/database-clock.js';
import { deploymentRestarting, GatewayError, startFailed } from '../gateway.errors.js';
import { ClientGoneError } from '../requests/body-reader.js';
import type { HoldShares, Waiter } from './hold-shares.js';
import type { HoldRefusal, HoldStats } from './hold-stats.js';

/** Requests released at once after a hold. Each that ends releases two more, and the total doubles at this pace. */
const FIRST_AT_ONCE = 8;
const DOUBLE_EVERY_MS = 500;
/** Clients ignore a longer `Retry-After`, and come back sooner than after a short one. */
const MOST_RETRY_AFTER_SECONDS = 60;

/** How long requests wait. For a sleeping revision, also how its starts ended. */
export type HoldTerms = PublishedHold & Partial<Pick<BackendSleep, 'failures' | 'failure'>>;

/** A request that waits. */
export interface HeldRequest extends Pick<Waiter, 'tenantId' | 'bytes'> {
  /** By `performance.now()`. */
  arrivedAt: number;
  /** Aborts when the client disconnects, or with the error that ends the request. */
  signal: AbortSignal;
}

/** Call it once when a released request has ended. */
export type EndCallback = () => void;

interface QueuedRequest {
  arrivedAt: number;
  timer: NodeJS.Timeout | null;
  go(): void;
  refuse(reason: HoldRefusal): void;
}

/**
 * The waiting requests of one deployment, first come, first served.
 *
 * States: holding → releasing → (holding | over). While it holds, each request waits at most `max_seconds` from its
 * arrival. Then all continue within seconds, a few at first, because a freshly started engine cannot take all of them.
 * A request that arrives meanwhile waits after them. When none waits, the queue is over, and requests pass without it
 * again.
 */
export class HoldQueue {
  private readonly queued = new Set<QueuedRequest>();
  private terms: HoldTerms | null = null;
  private doubling: NodeJS.Timeout | null = null;
  /** Number of requests that may continue now. */
  private allowance = 0;
  private gone = 0;
  private isClosed = false;

  constructor(
    private readonly deployment: Pick<Waiter, 'deploymentId' | 'ownerId'>,
    private readonly shares: HoldShares,
    private readonly stats: HoldStats,
    private readonly onOver: () => void,
    private readonly clock: Clock,
  ) {}

  get isHolding(): boolean {
    return this.terms !== null;
  }

  get size(): number {
    return this.queued.size;
  }

  /** Holds requests from now on. If it holds already, the new terms replace the old ones. */
  hold(terms: HoldTerms): void {
    const failures = this.terms?.failures ?? 0;
    this.terms = terms;
    this.stopDoubling();
    // Another start has failed: the requests that waited for it get its cause, and the next request waits for the next
    // start.
    if ((terms.failures ?? 0) > failures) for (const request of this.queued) request.refuse('start_failed');
    for (const request of this.queued) this.boundAge(request, terms);
  }

  letGo(): void {
    if (!this.terms) return;
    this.terms = null;
    for (const request of this.queued) if (request.timer) clearTimeout(request.timer);
    this.allowance = FIRST_AT_ONCE;
    this.gone = 0;
    this.doubling = setInterval(() => {
      this.allowance += Math.max(FIRST_AT_ONCE, this.gone);
      this.advance();
    }, DOUBLE_EVERY_MS);
    this.advance();
  }

  /** Resolves when the request may continue. @throws GatewayError 503 `deployment_restarting` or `start_failed`, ClientGoneError, the reason of `signal` */
  wait({ tenantId, bytes, arrivedAt, signal }: HeldRequest): Promise<EndCallback> {
    const { terms } = this;
    if (signal.aborted) throw errorOf(signal);
    if (this.isClosed) throw this.refusal('shutdown');
    const remaining = terms && remainingSeconds(terms, this.clock.now());
    if (terms && remaining !== null && remaining > terms.max_seconds) throw this.refusal('estimate');
    const giveBack = this.shares.take({ ...this.deployment, tenantId, bytes });
    if (!giveBack) throw this.refusal('full');
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.queued.delete(request);
        if (request.timer) clearTimeout(request.timer);
        signal.removeEventListener('abort', onGone);
        giveBack();
      };
      const onGone = (): void => {
        leave();
        reject(errorOf(signal));
        this.endIfOver();
      };
      const request: QueuedRequest = {
        arrivedAt,
        timer: null,
        go: () => {
          leave();
          this.stats.wentOn((performance.now() - arrivedAt) / 1000);
          resolve(this.endCallback());
        },
        refuse: (reason) => {
          leave();
          reject(this.refusal(reason));
        },
      };
      signal.addEventListener('abort', onGone);
      this.queued.add(request);
      if (terms) this.boundAge(request, terms);
      else this.advance();
    });
  }

  /** The process ends: waiting requests get an answer instead of a broken connection. */
  refuseAll(): void {
    this.isClosed = true;
    for (const request of this.queued) request.refuse('shutdown');
    this.stopDoubling();
  }

  private boundAge(request: QueuedRequest, { max_seconds: maxSeconds }: PublishedHold): void {
    if (request.timer) clearTimeout(request.timer);
    const left = request.arrivedAt + maxSeconds * 1000 - performance.now();
    request.timer = setTimeout(() => request.refuse('age'), Math.max(0, Math.ceil(left)));
  }

  private advance(): void {
    for (const request of this.queued) {
      if (this.allowance <= 0) return;
      this.allowance -= 1;
      this.gone += 1;
      request.go();
    }
    this.endIfOver();
  }

  private endCallback(): EndCallback {
    return () => {
      if (!this.doubling) return;
      this.allowance += 2;
      this.advance();
    };
  }

  private endIfOver(): void {
    if (this.terms || this.queued.size > 0) return;
    this.stopDoubling();
    this.onOver();
  }

  private stopDoubling(): void {
    if (this.doubling) clearInterval(this.doubling);
    this.doubling = null;
  }

  private refusal(reason: HoldRefusal): Error {
    this.stats.refused[reason] += 1;
    if (reason === 'start_failed') return startFailed(this.terms?.failure ?? 'unknown');
    const estimate = this.terms ? remainingSeconds(this.terms, this.clock.now()) : 0;
    const comeBackIn = estimate ?? this.terms?.max_seconds ?? 0;
    return deploymentRestarting(estimate, Math.min(MOST_RETRY_AFTER_SECONDS, Math.max(1, comeBackIn)));
  }
}

function errorOf({ reason }: AbortSignal): Error {
  return reason instanceof GatewayError ? reason : new ClientGoneError();
}

/** Returns the whole seconds left of the estimate, or null without one. */
function remainingSeconds({ estimated_seconds: estimated, since }: PublishedHold, now: number): number | null {
  if (estimated === null) return null;
  const elapsed = (now - Date.parse(since)) / 1000;
  return Math.ceil(Math.max(0, estimated - Math.max(0, elapsed)));
}
