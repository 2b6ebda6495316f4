import { idlest, InFlightCounter, type Stay } from '@slipway/gateway/telemetry';
import { DEFAULT_ITERATION, IterationScheduler, type Sequence } from '@slipway/inference-sim';
import type { Profile } from './profiles.js';
import type { Lengths } from './traffic.js';

export interface PoolRequest extends Lengths {
  readonly startedAt: number;
  readonly instance: PoolInstance;
  /** Whether its instance had just started when it came. */
  readonly isStarting: boolean;
  /** Null before its first token. */
  firstTokenAt: number | null;
  /** For the observer. */
  stay: Stay | null;
}

/** Called at the virtual times of a request, before the counter of its instance changes. */
export interface PoolObserver {
  onStart?(request: PoolRequest): void;
  onFirstToken?(request: PoolRequest, at: number): void;
  /** @param isAbandoned the client left before the first token */
  onEnd(request: PoolRequest, at: number, isAbandoned: boolean): void;
}

export interface PoolSettings {
  profile: Profile;
  replicas: number;
  /** Clients leave if they get no first token in this time. */
  patienceMs: number;
  startAt: number;
}

/** Gateways count an instance as starting for this long and for so many requests, until both have passed. */
const STARTING_MS = 60_000;
const STARTING_REQUESTS = 100;

/** One instance: its engine, and the counts of the gateway. */
export class PoolInstance {
  readonly counter: InFlightCounter;
  readonly engine: IterationScheduler<PoolRequest>;

  private requests = 0;

  constructor(
    { constants }: Profile,
    seed: number,
    private readonly startedAt: number,
  ) {
    this.counter = new InFlightCounter(startedAt);
    this.engine = new IterationScheduler<PoolRequest>({
      ...DEFAULT_ITERATION,
      maxNumSeqs: constants['max-num-seqs'],
      maxNumBatchedTokens: constants['max-num-batched-tokens'],
      stepMs: constants['step-ms'],
      tokenUs: constants['token-us'],
      kvTokenUs: constants['kv-token-us'],
      kvTokens: constants['kv-tokens'],
      seed,
    });
  }

  get inFlight(): number {
    return this.counter.count;
  }

  /** Counts a request, and returns whether it belongs to the start. */
  countStart(now: number): boolean {
    this.requests += 1;
    return this.requests <= STARTING_REQUESTS || now - this.startedAt < STARTING_MS;
  }
}

/** The instances of one revision. A gateway sends each request to the least loaded one. */
export class Pool {
  readonly instances: readonly PoolInstance[];
  readonly profile: Profile;
  /** Requests by the time when their clients lose patience; those before `impatient` have been dealt with. */
  private readonly waiting: Sequence<PoolRequest>[] = [];
  private impatient = 0;

  constructor(
    private readonly settings: PoolSettings,
    private readonly random: () => number,
    private readonly observer: PoolObserver,
  ) {
    const { profile, replicas, startAt } = settings;
    this.profile = profile;
    const newInstance = () => new PoolInstance(profile, Math.floor(random() * 2 ** 32), startAt);
    this.instances = Array.from({ length: replicas }, newInstance);
  }

  /** Starts a request. The time is not before that of an earlier call. */
  arrive(at: number, { inputTokens, outputTokens }: Lengths): void {
    this.runUntil(at);
    const instance = idlest(this.instances, this.random) as PoolInstance;
    const work = { promptTokens: inputTokens, tokens: outputTokens };
    // An engine refuses what its cache could never hold. Constants with many such requests make no sense.
    if (!instance.engine.fits(work)) return;
    const isStarting = instance.countStart(at);
    const request: PoolRequest = {
      inputTokens,
      outputTokens,
      startedAt: at,
      instance,
      isStarting,
      firstTokenAt: null,
      stay: null,
    };
    this.observer.onStart?.(request);
    instance.counter.enter(at);
    this.waiting.push(instance.engine.submit(at, request, work));
    instance.engine.advance(at, this.onToken);
  }

  /** Computes everything until then. */
  runUntil(until: number): void {
    for (;;) {
      let next = this.instances[0] as PoolInstance;
      for (const instance of this.instances) if (instance.engine.nextAt < next.engine.nextAt) next = instance;
      const at = next.engine.nextAt;
      this.leaveUntil(Math.min(at, until));
      if (at > until || at === Infinity) return;
      next.engine.advance(at, this.onToken);
    }
  }

  get kvUsage(): number {
    return Math.max(...this.instances.map(({ engine }) => engine.kvUsage));
  }

  get engineWaiting(): number {
    return Math.max(...this.instances.map(({ engine }) => engine.waiting));
  }

  private readonly onToken = ({ request, generated, tokens }: Sequence<PoolRequest>, at: number): void => {
    if (request.firstTokenAt === null) {
      request.firstTokenAt = at;
      this.observer.onFirstToken?.(request, at);
    }
    if (generated === tokens) this.end(request, at, false);
  };

  private leaveUntil(until: number): void {
    for (let next = this.waiting[this.impatient]; next; next = this.waiting[this.impatient]) {
      const { request } = next;
      const leavesAt = request.startedAt + this.settings.patienceMs;
      if (request.firstTokenAt === null) {
        if (leavesAt > until) return;
        request.instance.engine.abort(next);
        this.end(request, leavesAt, true);
      }
      this.impatient += 1;
      if (this.impatient < 10_000) continue;
      this.waiting.splice(0, this.impatient);
      this.impatient = 0;
    }
  }

  private end(request: PoolRequest, at: number, isAbandoned: boolean): void {
    this.observer.onEnd(request, at, isAbandoned);
    request.instance.counter.leave(at);
  }
}
