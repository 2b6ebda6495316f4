import { rateLimited, tooManyAtOnce } from '../gateway.errors.js';

/** Buckets of tokens not seen for this long are full again and need not be kept. */
const FORGET_AFTER_MS = 120_000;

interface Usage {
  /** Requests that may start now. */
  allowance: number;
  filledAt: number;
  inFlight: number;
}

/** Per token: a bucket of requests that refills evenly, and a cap on requests in flight. A library's promise per request is too dear here. */
export class TokenLimits {
  private readonly usage = new Map<string, Usage>();
  private sweptAt = Date.now();

  constructor(
    private readonly requestsPerMinute: number,
    private readonly maxConcurrency: number,
  ) {}

  /**
   * Takes one request of the token's allowance. Each call that returns is followed by one `leave`.
   * @throws GatewayError 429 with Retry-After
   */
  enter(tokenId: string, now = Date.now()): void {
    const usage = this.usageOf(tokenId, now);
    if (this.maxConcurrency > 0 && usage.inFlight >= this.maxConcurrency) throw tooManyAtOnce();
    if (this.requestsPerMinute > 0) {
      const perMs = this.requestsPerMinute / 60_000;
      // A clock that is set back adds nothing and takes nothing.
      usage.allowance = Math.min(this.burst, usage.allowance + Math.max(0, now - usage.filledAt) * perMs);
      usage.filledAt = now;
      if (usage.allowance < 1) throw rateLimited(Math.max(1, Math.ceil((1 - usage.allowance) / perMs / 1000)));
      usage.allowance -= 1;
    }
    usage.inFlight += 1;
  }

  leave(tokenId: string): void {
    const usage = this.usage.get(tokenId);
    if (usage) usage.inFlight -= 1;
  }

  /** Ten seconds' worth may come at once. */
  private get burst(): number {
    return Math.max(1, this.requestsPerMinute / 6);
  }

  private usageOf(tokenId: string, now: number): Usage {
    if (now - this.sweptAt > FORGET_AFTER_MS) this.sweep(now);
    let usage = this.usage.get(tokenId);
    if (!usage) {
      usage = { allowance: this.burst, filledAt: now, inFlight: 0 };
      this.usage.set(tokenId, usage);
    }
    return usage;
  }

  private sweep(now: number): void {
    this.sweptAt = now;
    for (const [id, usage] of this.usage)
      if (usage.inFlight === 0 && now - usage.filledAt > FORGET_AFTER_MS) this.usage.delete(id);
  }
}
