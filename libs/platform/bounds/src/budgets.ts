/** What a bucket says about one request. Times in whole seconds, as headers carry them. */
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

/** Buckets that are full again carry no information; they are dropped this often. */
const SWEEP_EVERY_MS = 60_000;

/**
 * A token bucket per key: a minute's worth of requests at once, then as many as flow in. In memory, per process. The windows of
 * `rate-limiter-flexible` are fixed: at the border of two, twice as many pass, and what the headers promise jumps.
 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();
  private sweptAt = 0;

  /** @param perMinute requests a minute, more than 0 */
  constructor(
    private readonly perMinute: number,
    private readonly now: () => number = Date.now,
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

  /** How many keys have used something of theirs. */
  get size(): number {
    return this.buckets.size;
  }

  has(key: string): boolean {
    return this.buckets.has(key);
  }

  /** Takes back what `take` has just charged, for a request that somebody else refused. */
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

/** Bytes that may be held at a time, by whom. */
export interface ByteBounds {
  process: number;
  tenant: number;
  token: number;
}

/** What one request holds in memory: its own body, and what must be held of an answer to rebuild it. */
export interface HeldBytes {
  /** @throws what the budget was given, where no more may be held */
  take(bytes: number): void;
  /** Some of what was taken. */
  give(bytes: number): void;
  /** All that was taken. May be called again. */
  release(): void;
}

/**
 * Bytes held for requests in flight, bounded for each token, for each tenant and for the process: long bodies of one client leave
 * room for everybody else's. What has arrived counts, not what was announced.
 */
export class ByteBudget {
  private inProcess = 0;
  private readonly byTenant = new Map<string, number>();
  private readonly byToken = new Map<string, number>();

  /** @param refusal made for whose requests hold as much as they may: `this token`, `this tenant` or `all clients` */
  constructor(
    private readonly most: ByteBounds,
    private readonly refusal: (whose: string) => Error,
  ) {}

  /** Of all requests. */
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
