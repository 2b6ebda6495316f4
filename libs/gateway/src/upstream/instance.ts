import { Pool, type Dispatcher } from 'undici';
import { serverRoot } from '@slipway/contracts';
import type { AddressGuard, PublishedInstance } from '@slipway/dataplane';
import type { GatewaySettings } from '../settings.js';
import { InFlightCounter } from './in-flight.js';

/** Makes the dispatcher for addresses a tenant named: it refuses what the allow list does not cover. */
export type GuardedDispatcher = (
  allow: readonly string[],
  options: { connectTimeoutMs: number; headersTimeout: number; bodyTimeout: number; keepAliveTimeout: number },
) => Dispatcher;

/** How an attempt ended, as far as it tells about the instance: a client's own mistake, or its leaving, is fine. */
export type AttemptResult = 'fine' | 'failed';

export interface BackendInstanceSpec extends PublishedInstance {
  /** Its engine's own; null for one that takes the revision's. */
  authorization: string | null;
}

/** One server that answers for a revision: its connections, its load, and whether it deserves requests. */
export class Instance {
  readonly id: string;
  readonly baseUrl: string;
  readonly origin: string;
  /** Path before `/v1/…`. */
  readonly prefix: string;
  isDraining = false;
  /** Its node does not answer. */
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

  /** What may change while its address stays. */
  follow({ state, authorization }: BackendInstanceSpec): void {
    this.isDraining = state !== 'ready';
    this.isLost = state === 'lost';
    this.authorization = authorization;
  }

  /** Whether it stands aside because it kept failing. */
  isEjected(now: number): boolean {
    return this.ejectedUntil > 0 && (now < this.ejectedUntil || this.isProbing);
  }

  /** Whether what it was sent last came to nothing. */
  get isFailing(): boolean {
    return this.consecutiveFailures > 0;
  }

  get inFlight(): number {
    return this.load.count;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.load.enter(performance.now());
    // The first request after an ejection tries alone; its outcome decides for the others.
    if (this.ejectedUntil > 0) this.isProbing = true;
    this.dispatcher.dispatch(options, handler);
  }

  /** A good answer has begun. Its end may be minutes away, so this is when the instance is well again. */
  answered(): void {
    this.consecutiveFailures = 0;
    this.ejections = 0;
    this.ejectedUntil = 0;
    this.isProbing = false;
  }

  /** Another server has its address. Told before `settle`, this is as bad as a row of failures: each request would be shown to a stranger. */
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

  /** Lets what is in flight finish. */
  close(): void {
    this.dispatcher.close().catch(() => undefined);
  }

  async destroy(): Promise<void> {
    await this.dispatcher.destroy();
  }
}
