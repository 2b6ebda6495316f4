import { rateLimited, tooManyAtOnce } from '../gateway.errors.js';
import type { GatewaySettings } from '../settings.js';
import { LimitUsages, type LimitUsage } from './limit-usages.js';
import type { Token } from './token-book.js';

type LimitedClient = Pick<Token, 'id' | 'tenantId' | 'tenantName' | 'ownerKey' | 'countsForOwner'>;
type ClientSettings = Pick<GatewaySettings, 'requestsPerMinute' | 'maxConcurrencyPerToken' | 'limitsOfTenant'>;

/**
 * Limits per token, or per tenant: a bucket of requests that refills evenly, and a cap on requests in flight. A
 * library's promise per request would cost too much here.
 */
export class TokenLimits {
  private readonly usage = new LimitUsages();

  constructor(
    private requestsPerMinute: number,
    private maxConcurrency: number,
    private readonly whose = 'this API token',
  ) {}

  /** Applies from the next request on. Requests in flight continue and count. */
  change(requestsPerMinute: number, maxConcurrency: number): void {
    this.requestsPerMinute = requestsPerMinute;
    this.maxConcurrency = maxConcurrency;
  }

  /**
   * Takes one request of the token's allowance. Each call that returns is followed by one `leave`.
   * @throws GatewayError 429 with Retry-After
   */
  enter(tokenId: string, now = performance.now()): void {
    const usage = this.filled(tokenId, now);
    if (this.maxConcurrency > 0 && usage.inFlight >= this.maxConcurrency) throw tooManyAtOnce(this.whose);
    if (this.requestsPerMinute > 0) {
      if (usage.allowance < 1)
        throw rateLimited(this.whose, Math.max(1, Math.ceil((1 - usage.allowance) / this.perMs / 1000)));
      usage.allowance -= 1;
    }
    usage.inFlight += 1;
  }

  /** Counts a request that another limit admits. Followed by one `leave`. */
  count(tokenId: string, now: number): void {
    const usage = this.filled(tokenId, now);
    usage.allowance = Math.max(0, usage.allowance - 1);
    usage.inFlight += 1;
  }

  leave(tokenId: string): void {
    this.usage.leave(tokenId);
  }

  /** Up to ten seconds' worth of requests may arrive at once. */
  private get burst(): number {
    return Math.max(1, this.requestsPerMinute / 6);
  }

  private get perMs(): number {
    return this.requestsPerMinute / 60_000;
  }

  private filled(tokenId: string, now: number): LimitUsage {
    return this.usage.filled(tokenId, this.burst, this.perMs, now);
  }
}

/**
 * Limits a token and its tenant together: a tenant that creates more tokens gets no more of the gateway. Tokens that the
 * console makes for a person share one limit of their owner, in which the requests of the owner's other tokens count too:
 * who signs in again gets no more of the gateway either.
 */
export class ClientLimits {
  private readonly tokens: TokenLimits;
  private readonly owners: TokenLimits;
  /** By id of the tenants whose tokens were seen. */
  private readonly tenants = new Map<string, TokenLimits>();

  constructor(private readonly settings: ClientSettings) {
    const { requestsPerMinute, maxConcurrencyPerToken } = settings;
    this.tokens = new TokenLimits(requestsPerMinute, maxConcurrencyPerToken);
    this.owners = new TokenLimits(requestsPerMinute, maxConcurrencyPerToken, 'the owner of this API token');
  }

  /** Each call that returns is followed by one `leave`. @throws GatewayError 429 with Retry-After */
  enter(client: LimitedClient, now = performance.now()): void {
    const limits = client.countsForOwner ? this.owners : this.tokens;
    const key = client.countsForOwner ? client.ownerKey : client.id;
    limits.enter(key, now);
    try {
      this.limitsOf(client).enter(client.tenantId, now);
    } catch (refusal) {
      limits.leave(key);
      throw refusal;
    }
    if (!client.countsForOwner) this.owners.count(client.ownerKey, now);
  }

  leave(client: LimitedClient): void {
    this.owners.leave(client.ownerKey);
    if (!client.countsForOwner) this.tokens.leave(client.id);
    this.tenants.get(client.tenantId)?.leave(client.tenantId);
  }

  private limitsOf({ tenantId, tenantName }: LimitedClient): TokenLimits {
    const { requestsPerMinute, maxConcurrency } = this.settings.limitsOfTenant(tenantName);
    let limits = this.tenants.get(tenantId);
    if (!limits) {
      limits = new TokenLimits(requestsPerMinute, maxConcurrency, 'this tenant');
      this.tenants.set(tenantId, limits);
    }
    limits.change(requestsPerMinute, maxConcurrency);
    return limits;
  }
}
