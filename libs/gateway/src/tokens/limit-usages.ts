/** Usage that is idle for this long is removed, if nothing of its allowance is missing. */
const FORGET_AFTER_MS = 120_000;

/** The use that one token, tenant or binding makes of its limits. */
export interface LimitUsage {
  inFlight: number;
  /** Requests that may start now. */
  allowance: number;
  filledAt: number;
  /** The most that the allowance may be, and its growth, both from the last use. */
  burst: number;
  perMs: number;
}

/** Usage by key: a bucket of requests that refills evenly, and the number of requests in flight. */
export class LimitUsages {
  private readonly usages = new Map<string, LimitUsage>();
  private sweptAt = performance.now();

  get size(): number {
    return this.usages.size;
  }

  /** Returns the usage with its allowance of now. A new key has all of it. */
  filled(key: string, burst: number, perMs: number, now: number): LimitUsage {
    if (now - this.sweptAt > FORGET_AFTER_MS) this.sweep(now);
    let usage = this.usages.get(key);
    if (!usage) {
      usage = { inFlight: 0, allowance: burst, filledAt: now, burst, perMs };
      this.usages.set(key, usage);
    }
    // A clock that is set back adds nothing and takes nothing.
    usage.allowance = Math.min(burst, usage.allowance + Math.max(0, now - usage.filledAt) * perMs);
    usage.filledAt = now;
    usage.burst = burst;
    usage.perMs = perMs;
    return usage;
  }

  leave(key: string): void {
    const usage = this.usages.get(key);
    if (usage) usage.inFlight -= 1;
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    for (const [key, usage] of this.usages) if (isForgettable(usage, now)) this.usages.delete(key);
  }
}

/** A slow bucket is kept until it is full: a new one would be full at once. */
function isForgettable({ inFlight, allowance, filledAt, burst, perMs }: LimitUsage, now: number): boolean {
  const idleMs = now - filledAt;
  const isFull = perMs === 0 || allowance + idleMs * perMs >= burst;
  return inFlight === 0 && idleMs > FORGET_AFTER_MS && isFull;
}
