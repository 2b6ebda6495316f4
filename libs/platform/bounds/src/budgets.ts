/** The decision of a bucket about one request. Times are in whole seconds, as in headers. */
export interface RateDecision {
  isAllowed: boolean;
  limit: number;
  remaining: number;
  /** Until the bucket is full again. */
  resetSeconds: number;
  /** Until one more request is allowed. */
  retrySeconds: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** Full buckets carry no information; they are removed at this interval. */
const SWEEP_EVERY_MS = 60_000;

/**
 * A token bucket per key. It allows a minute's worth of requests at once, then as many as flow in. In memory, per
 * process.
 * `rate-limiter-flexible` uses fixed windows instead: at the border of two windows twice as many requests pass, and the
 * values of the headers jump.
 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();
  private sweptAt = 0;

  /**
   * @param perMinute requests a minute, more than 0
   * @param now milliseconds of a clock that no one can set: a step of the wall clock would fill all buckets
   */
  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  take(key: string): RateDecision {
    const now = this.now();
    this.sweep(now);
    const bucket = this.buckets.get(key) ?? { tokens: this.perMinute, at: now };
    bucket.tokens = Math.min(this.perMinute, bucket.tokens + this.inflow(now - bucket.at));
    bucket.at = now;
    this.buckets.set(key, bucket);
    const isAllowed = bucket.tokens >= 1;
    if (isAllowed) bucket.tokens -= 1;
    return {
      isAllowed,
      limit: this.perMinute,
      remaining: Math.floor(bucket.tokens),
      resetSeconds: this.secondsFor(this.perMinute - bucket.tokens),
      retrySeconds: Math.max(1, this.secondsFor(1 - bucket.tokens)),
    };
  }

  /** The number of keys whose buckets are not full. */
  get size(): number {
    return this.buckets.size;
  }

  has(key: string): boolean {
    return this.buckets.has(key);
  }

  /** Gives back the token that `take` has just charged, for a request that was then refused elsewhere. */
  giveBack(key: string): void {
    const bucket = this.buckets.get(key);
    if (bucket) bucket.tokens += 1;
  }

  private inflow(elapsedMs: number): number {
    return (Math.max(0, elapsedMs) * this.perMinute) / 60_000;
  }

  private secondsFor(tokens: number): number {
    return Math.ceil((Math.max(0, tokens) * 60) / this.perMinute);
  }

  private sweep(now: number): void {
    if (now - this.sweptAt < SWEEP_EVERY_MS) return;
    this.sweptAt = now;
    for (const [key, bucket] of this.buckets) {
      if (bucket.tokens + this.inflow(now - bucket.at) >= this.perMinute) this.buckets.delete(key);
    }
  }
}

/** The most bytes that may be held at a time: in the process, for a tenant and for a token. */
export interface ByteBounds {
  process: number;
  tenant: number;
  token: number;
}

/**
 * The bytes that one request holds in memory: its own body, and the part of the response that is needed to rebuild it.
 */
export interface HeldBytes {
  /** @throws the error of `refusal` if no more bytes may be held */
  take(bytes: number): void;
  /** Releases some of the bytes. */
  give(bytes: number): void;
  /** Releases all bytes. May be called again. */
  release(): void;
}

/**
 * Limits the bytes held for requests in flight, for each token, for each tenant and for the process. Long bodies of one
 * client therefore leave capacity for all others. The bytes that have arrived count, not the announced length.
 */
export class ByteBudget {
  private inProcess = 0;
  private readonly byTenant = new Map<string, number>();
  private readonly byToken = new Map<string, number>();

  /**
   * @param refusal makes the error for requests that hold the most they may. Its argument says whose: `this token`,
   * `this tenant` or `all clients`
   */
  constructor(
    private readonly most: ByteBounds,
    private readonly refusal: (whose: string) => Error,
  ) {}

  /** The bytes of all requests. */
  get held(): number {
    return this.inProcess;
  }

  open(token: { id: string; tenantId: string }): HeldBytes {
    let taken = 0;
    const add = (bytes: number): void => {
      taken += bytes;
      this.inProcess += bytes;
      move(this.byTenant, token.tenantId, bytes);
      move(this.byToken, token.id, bytes);
    };
    return {
      take: (bytes) => {
        if ((this.byToken.get(token.id) ?? 0) + bytes > this.most.token) throw this.refusal('this token');
        if ((this.byTenant.get(token.tenantId) ?? 0) + bytes > this.most.tenant) throw this.refusal('this tenant');
        if (this.inProcess + bytes > this.most.process) throw this.refusal('all clients');
        add(bytes);
      },
      give: (bytes) => add(-bytes),
      release: () => add(-taken),
    };
  }
}

function move(held: Map<string, number>, key: string, bytes: number): void {
  const left = (held.get(key) ?? 0) + bytes;
  if (left === 0) held.delete(key);
  else held.set(key, left);
}
