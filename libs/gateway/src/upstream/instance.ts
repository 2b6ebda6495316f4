import { Pool, type Dispatcher } from 'undici';
import { serverRoot } from '@slipway/contracts';
import type { AddressGuard, PublishedInstance } from '@slipway/dataplane';
import type { GatewaySettings } from '../settings.js';
import { DecodedAnswer } from './decoded-answer.js';
import { InFlightCounter } from './in-flight.js';

/** Creates the dispatcher for addresses that a tenant named: it refuses what the allow list does not cover. */
export type GuardedDispatcher = (
  allow: readonly string[],
  options: { connectTimeoutMs: number; headersTimeout: number; bodyTimeout: number; keepAliveTimeout: number },
) => Dispatcher;

/** How an attempt ended, as far as it concerns the instance: a client's own mistake or disconnect counts as fine. */
export type AttemptResult = 'fine' | 'failed';

export interface BackendInstanceSpec extends PublishedInstance {
  /** The key of its own engine; null if it uses the revision's. */
  authorization: string | null;
}

/** One server that answers for a revision: its connections, its load, and whether it should get requests. */
export class Instance {
  readonly id: string;
  readonly baseUrl: string;
  readonly origin: string;
  /** Path before `/v1/…`. */
  readonly prefix: string;
  isDraining = false;
  /** Its node does not respond. */
  isLost = false;
  authorization: string | null = null;
  /** By the clock of `performance.now()`. */
  readonly load = new InFlightCounter(performance.now());
  private consecutiveFailures = 0;
  private ejections = 0;
  private ejectedUntil = 0;
  private isProbing = false;
  private readonly dispatcher: Dispatcher;

  constructor(
    published: BackendInstanceSpec,
    guard: AddressGuard,
    guarded: GuardedDispatcher,
    private readonly settings: GatewaySettings,
  ) {
    const url = new URL(published.base_url);
    this.id = published.id;
    this.baseUrl = published.base_url;
    this.origin = url.origin;
    this.prefix = serverRoot(url.pathname);
    this.follow(published);
    const timeouts = {
      headersTimeout: settings.headTimeoutMs,
      bodyTimeout: settings.silenceTimeoutMs,
      keepAliveTimeout: settings.idleTimeoutMs,
    };
    this.dispatcher = guard
      ? guarded(guard.allow, { connectTimeoutMs: settings.connectTimeoutMs, ...timeouts })
      : new Pool(this.origin, { connect: { timeout: settings.connectTimeoutMs }, ...timeouts });
  }

  /** Applies what may change while the address stays. */
  follow({ state, authorization }: BackendInstanceSpec): void {
    this.isDraining = state !== 'ready';
    this.isLost = state === 'lost';
    this.authorization = authorization;
  }

  /** Whether it gets no requests for now because it kept failing. `now` is `performance.now()` here and below. */
  isEjected(now: number): boolean {
    return this.ejectedUntil > 0 && (now < this.ejectedUntil || this.isProbing);
  }

  /** Whether its last request failed. */
  get isFailing(): boolean {
    return this.consecutiveFailures > 0;
  }

  get inFlight(): number {
    return this.load.count;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.load.enter(performance.now());
    // The first request after an ejection is a lone trial; its outcome decides for the others.
    if (this.ejectedUntil > 0) this.isProbing = true;
    this.dispatcher.dispatch(options, new DecodedAnswer(handler));
  }

  /** A good answer has begun. Its end may be minutes away, so the instance counts as healthy from now on. */
  answered(): void {
    this.consecutiveFailures = 0;
    this.ejections = 0;
    this.ejectedUntil = 0;
    this.isProbing = false;
  }

  /**
   * Another server has its address. Call it before `settle`. It counts as a row of failures, because a stranger would
   * see each request.
   */
  noteTaken(): void {
    this.consecutiveFailures += this.settings.ejection.failures;
  }

  /** Each `dispatch` is followed by one `settle`. */
  settle(result: AttemptResult, now: number): void {
    this.load.leave(performance.now());
    this.isProbing = false;
    if (result !== 'failed') return;
    this.consecutiveFailures += 1;
    const { failures, baseMs, mostMs } = this.settings.ejection;
    const isTrialLost = this.ejectedUntil > 0 && now >= this.ejectedUntil;
    const isOutlier = this.ejectedUntil === 0 && this.consecutiveFailures >= failures;
    if (!isTrialLost && !isOutlier) return;
    this.ejectedUntil = now + Math.min(mostMs, baseMs * 2 ** this.ejections);
    this.ejections += 1;
  }

  /** Lets requests in flight finish. */
  close(): void {
    this.dispatcher.close().catch(() => undefined);
  }

  async destroy(): Promise<void> {
    await this.dispatcher.destroy();
  }
}
