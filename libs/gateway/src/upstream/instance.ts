import { Pool, type Dispatcher } from 'undici';
import { KEEP_ALIVE, serverUrls, withinTime } from '@slipway/contracts';
import type { AddressGuard, PublishedInstance } from '@slipway/dataplane';
import type { GatewaySettings } from '../settings.js';
import { DecodedAnswer } from './decoded-answer.js';
import { PacedAnswer } from './paced-answer.js';
import { InFlightCounter } from './in-flight.js';
import { ServerDoubt } from './server-doubt.js';

export interface GuardedOptions {
  connectTimeoutMs: number;
  headersTimeout: number;
  bodyTimeout: number;
  keepAliveTimeout: number;
  /** A supplier may be outside of the operator's network, and is then called through its proxy. An engine never is. */
  isSupplier?: boolean;
}

/** Creates the dispatcher for addresses that a tenant named: it refuses what the allow list does not cover. */
export type GuardedDispatcher = (allow: readonly string[], options: GuardedOptions) => Dispatcher;

/**
 * How an attempt ended, as far as it concerns the instance. `fine`: it says nothing about the instance, like a client's
 * disconnect. `engine_error`: its engine reported an error of its own, which one odd request can cause.
 */
export type AttemptResult = 'fine' | 'failed' | 'engine_error';

/**
 * The use of an instance. `reserve`: only while no instance of the backend serves. An instance that the control
 * plane doubts serves or is a reserve by this gateway's own evidence.
 */
export type InstanceUse = 'serves' | 'reserve' | 'none';

/** An instance starts for this long, or for so many requests if that takes longer. */
const STARTING_MS = 60_000;
const STARTING_REQUESTS = 100;

/** Published states in which this gateway's own evidence decides. */
const DOUBTED: ReadonlySet<PublishedInstance['state']> = new Set(['doubted', 'unhealthy', 'ending']);

/** The rest of an answer to a probe closes its connection. */
const MAX_PROBE_BYTES = 1024 * 1024;

/** Errors of the engine itself count as failures of the instance once this many callers got one. */
const MIN_CALLERS = 3;

export interface BackendInstanceSpec extends PublishedInstance {
  /** The key of its own engine; null if it uses the revision's. */
  authorization: string | null;
}

/** One server that answers for a revision: its connections, its load, and whether it should get requests. */
export class Instance {
  readonly id: string;
  readonly baseUrl: string;
  readonly origin: string;
  private readonly apiPath: string;
  private state: PublishedInstance['state'] = 'draining';
  private doubt: ServerDoubt | null = null;
  private isClosed = false;
  /** Since it was last ready. An instance that is being ended may be on a lost node. */
  private isNodeDoubted = false;
  /** Called when new evidence may have changed its use. */
  onEvidence: () => void = () => undefined;
  authorization: string | null = null;
  /** By the clock of `performance.now()`. */
  readonly load = new InFlightCounter(performance.now());
  private consecutiveFailures = 0;
  /** Errors of the engine since the last good answer, and the first callers that got one. */
  private engineErrors = 0;
  private readonly errorCallers = new Set<number>();
  private ejections = 0;
  private ejectedUntil = 0;
  private isProbing = false;
  private readonly usableSince: number;
  /** Requests that were sent to it, counted only while it starts. */
  private firstRequests: number;
  private readonly dispatcher: Dispatcher;

  /** @param isNew whether it has just become usable; otherwise it counts as started long ago */
  constructor(
    published: BackendInstanceSpec,
    guard: AddressGuard,
    guarded: GuardedDispatcher,
    private readonly settings: GatewaySettings,
    isNew = false,
  ) {
    this.usableSince = isNew ? performance.now() : -Infinity;
    this.firstRequests = isNew ? 0 : STARTING_REQUESTS;
    const { origin, pathname } = new URL(serverUrls(published.base_url, published.api_path).api);
    this.id = published.id;
    this.baseUrl = published.base_url;
    this.origin = origin;
    this.apiPath = pathname.replace(/\/$/, '');
    this.follow(published);
    const timeouts = {
      headersTimeout: settings.headTimeoutMs,
      bodyTimeout: settings.silenceTimeoutMs,
      keepAliveTimeout: settings.idleTimeoutMs,
    };
    this.dispatcher = guard
      ? guarded(guard.allow, { connectTimeoutMs: settings.connectTimeoutMs, ...timeouts })
      : new Pool(this.origin, { connect: { ...KEEP_ALIVE, timeout: settings.connectTimeoutMs }, ...timeouts });
  }

  /** Applies what may change while the address stays. */
  follow({ state, authorization }: BackendInstanceSpec): void {
    this.authorization = authorization;
    this.state = state;
    this.isNodeDoubted = state === 'doubted' || (this.isNodeDoubted && state !== 'ready');
    const isDoubted = DOUBTED.has(state);
    if (isDoubted)
      this.doubt ??= new ServerDoubt(
        (limitMs) => this.answers(limitMs),
        () => this.onEvidence(),
      );
    else this.endDoubt();
  }

  private endDoubt(): void {
    this.doubt?.end();
    this.doubt = null;
  }

  /**
   * Whether requests in flight are lost with its node. A removed instance is not probed: if its node was doubted, it
   * counts as lost unless it answered before.
   */
  get isLost(): boolean {
    if (this.state === 'lost') return true;
    const evidence = this.doubt?.evidence;
    return this.isNodeDoubted && (evidence === 'dead' || (this.isClosed && evidence !== 'alive'));
  }

  /** @param isMinority whether less than half of its backend's instances would serve without the unhealthy ones */
  useOf(isMinority: boolean): InstanceUse {
    const evidence = this.doubt?.evidence;
    if (this.state === 'ready') return 'serves';
    if (this.state === 'draining' || this.state === 'lost' || evidence === 'dead') return 'none';
    const isAlive = evidence === 'alive';
    if (this.state === 'doubted') return isAlive ? 'serves' : 'reserve';
    if (this.state === 'ending') return 'reserve';
    // It missed the probes of another observer, which is evidence too.
    if (!isAlive) return 'none';
    return isMinority ? 'serves' : 'reserve';
  }

  /** Whether it is another address of an instance, which ends there while its replacement starts. */
  get isEnding(): boolean {
    return this.state === 'ending';
  }

  /** Whether the server answers a request that costs it nothing. With its key, a stranger at its address does not. */
  private async answers(limitMs: number): Promise<boolean> {
    const headers = this.authorization === null ? {} : { authorization: this.authorization };
    try {
      return await withinTime(limitMs, undefined, async (signal) => {
        const options = {
          origin: this.origin,
          path: this.pathOf('/v1/models'),
          method: 'GET',
          headers,
          signal,
        } as const;
        const { statusCode, body } = await this.dispatcher.request(options);
        await body.dump({ limit: MAX_PROBE_BYTES, signal });
        return statusCode < 500 && !(statusCode === 401 && this.authorization !== null);
      });
    } catch {
      return false;
    }
  }

  /** The server's own path for a path of the gateway, `/v1/…`. */
  pathOf(path: string): string {
    return `${this.apiPath}${path.slice('/v1'.length)}`;
  }

  /** Whether it gets no requests for now because it kept failing. `now` is `performance.now()` here and below. */
  isEjected(now: number): boolean {
    return this.ejectedUntil > 0 && (now < this.ejectedUntil || this.isProbing);
  }

  /** Whether a request that is sent now belongs to its start: caches are cold, and kernels not compiled. */
  isStarting(now: number): boolean {
    return this.firstRequests < STARTING_REQUESTS || now - this.usableSince < STARTING_MS;
  }

  /** Whether its last request failed. */
  get isFailing(): boolean {
    return this.consecutiveFailures > 0;
  }

  /** How long a request may wait for the head of its answer. */
  get headTimeoutMs(): number {
    return this.settings.headTimeoutMs;
  }

  get inFlight(): number {
    return this.load.count;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.load.enter(performance.now());
    if (this.firstRequests < STARTING_REQUESTS) this.firstRequests += 1;
    // The first request after an ejection is a lone trial; its outcome decides for the others.
    if (this.ejectedUntil > 0) this.isProbing = true;
    this.dispatcher.dispatch(options, new DecodedAnswer(new PacedAnswer(handler)));
  }

  /** An answer proved good. A stream's end may be minutes away, so the instance counts as healthy from now on. */
  answered(): void {
    this.doubt?.confirm();
    this.consecutiveFailures = 0;
    this.engineErrors = 0;
    this.errorCallers.clear();
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

  /**
   * Each `dispatch` is followed by one `settle`.
   * @param caller whose request it was, see `callerOf`
   */
  settle(result: AttemptResult, now: number, caller: number): void {
    this.load.leave(performance.now());
    this.isProbing = false;
    if (result === 'fine') return;
    if (result === 'failed') this.consecutiveFailures += 1;
    else if (!this.isSharedError(caller)) return;
    const { failures, baseMs, mostMs } = this.settings.ejection;
    const isTrialLost = this.ejectedUntil > 0 && now >= this.ejectedUntil;
    const isOutlier = this.ejectedUntil === 0 && this.consecutiveFailures >= failures;
    if (!isTrialLost && !isOutlier) return;
    this.ejectedUntil = now + Math.min(mostMs, baseMs * 2 ** this.ejections);
    this.ejections += 1;
  }

  /** Eight pictures that the engine cannot read, all of one client, must not move the sessions of all others. */
  private isSharedError(caller: number): boolean {
    this.engineErrors += 1;
    if (this.errorCallers.size < MIN_CALLERS) {
      this.errorCallers.add(caller);
      if (this.errorCallers.size < MIN_CALLERS) return false;
    }
    // From the third caller on, those before count too.
    this.consecutiveFailures += this.engineErrors;
    this.engineErrors = 0;
    return true;
  }

  /** Lets requests in flight finish. */
  close(): void {
    this.isClosed = true;
    this.doubt?.end();
    this.dispatcher.close().catch(() => undefined);
  }

  async destroy(): Promise<void> {
    this.doubt?.end();
    await this.dispatcher.destroy();
  }
}
