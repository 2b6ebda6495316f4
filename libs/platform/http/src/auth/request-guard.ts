import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { clientAddress, RateLimiter, type RateDecision } from '@slipway/platform-bounds';
import { CONFIG, quotasOf, type Config, type QuotaConfig, type QuotaName } from '@slipway/platform-config';
import { errors, SlipwayHttpAdapter, type Principal, type SlipwayReply, type SlipwayRequest } from '../index.js';
import { TOKENS_CHANNEL } from '@slipway/contracts';
import { Database } from '@slipway/platform-database';
import { BEARER_AUTHENTICATORS, type BearerAuthenticators } from './bearer-authenticators.js';
import { CredentialMemory } from './credential-memory.js';

/** Of one kind of requests: how many a token may, and which quota says how many its tenant may. */
interface Rate {
  ofToken: RateLimiter | undefined;
  quota: QuotaName & `${string}_per_minute`;
  /** By their rate: tenants may have different ones. */
  ofTenants: Map<number, RateLimiter>;
}

const BEARER = /^bearer +([\x21-\x7e]{1,16384})$/i;

/** Lets a request pass or refuses it: who is it (401), is it too fast (429), may it (403). Runs before the body is read. */
@Injectable()
export class RequestGuard implements OnModuleInit {
  private readonly reads: Rate;
  private readonly mutations: Rate;
  private readonly memory = new CredentialMemory();

  constructor(
    @Inject(BEARER_AUTHENTICATORS) private readonly authenticators: BearerAuthenticators,
    @Inject(CONFIG) private readonly config: QuotaConfig & Pick<Config, 'trustedProxies'>,
    @Optional() private readonly host?: HttpAdapterHost,
    @Optional() private readonly database?: Database,
  ) {
    const { readsPerMinute, mutationsPerMinute } = config.rateLimit;
    this.reads = rateOf(readsPerMinute, 'reads_per_minute');
    this.mutations = rateOf(mutationsPerMinute, 'mutations_per_minute');
  }

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds the same modules and serves nothing.
    if (!(adapter instanceof SlipwayHttpAdapter)) return;
    adapter.setGuard((request, reply) => this.check(request, reply));
    const forget = (): void => this.memory.forgetRefusals();
    // Not waited for: without Postgres a process still starts.
    void this.database?.listen(TOKENS_CHANNEL, forget, forget);
  }

  /** Also for streams that stay open: they call it again to learn of a revocation. */
  async authenticate(request: SlipwayRequest): Promise<Principal> {
    const entered = request.slipway?.credential;
    if (entered) return this.identify(await entered(), request);
    const header = request.headers.authorization;
    return this.identify(header === undefined ? undefined : BEARER.exec(header)?.[1], request);
  }

  /**
   * Who has a credential, wherever a caller keeps it. Wrong ones count as guesses of the request's address.
   * @throws what the credential's authenticator throws; rate_limited
   */
  async identify(credential: string | undefined, request: SlipwayRequest): Promise<Principal> {
    const authenticator = credential === undefined ? undefined : this.authenticators.find(credential);
    if (!authenticator) throw errors.unauthenticated();
    const address = (): string =>
      clientAddress(request.ip, request.headers['x-forwarded-for'], this.config.trustedProxies);
    return this.memory.authenticate(credential!, address, () => authenticator.authenticate(credential!, request));
  }

  async check(request: SlipwayRequest, reply: SlipwayReply): Promise<void> {
    const context = request.slipway;
    const principal = await this.authenticate(request);
    context.principal = principal;
    context.tenantId = principal.tenantId;
    if (context.logIds) context.logIds.tenant_id = principal.tenantId;
    this.limit(principal, request, reply);
    const needed = context.route!.scope;
    if (needed !== 'public' && !principal.scopes.has(needed)) {
      throw errors.scope_insufficient({
        message: `This operation needs the scope ${needed}.`,
        extra: { required_scope: needed },
      });
    }
  }

  /** One request of the token's allowance and one of its tenant's, or none of either. The headers tell the one with less left. */
  private limit(principal: Principal, request: SlipwayRequest, reply: SlipwayReply): void {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const rate = isRead ? this.reads : this.mutations;
    const actor = `${principal.actor.type}:${principal.actor.id}`;
    const ofToken = rate.ofToken?.take(actor);
    const ofTenant = ofToken?.isAllowed === false ? undefined : this.takeOfTenant(rate, principal);
    const isTenantTighter =
      ofTenant !== undefined && (!ofToken || !ofTenant.isAllowed || ofTenant.remaining < ofToken.remaining);
    const decision = isTenantTighter ? ofTenant : ofToken;
    if (!decision) return;
    void reply.headers({
      'ratelimit-limit': String(decision.limit),
      'ratelimit-remaining': String(decision.remaining),
      'ratelimit-reset': String(decision.resetSeconds),
    });
    const headers = { 'retry-after': String(decision.retrySeconds) };
    if (ofTenant?.isAllowed === false) {
      rate.ofToken?.giveBack(actor);
      throw errors.rate_limited({
        message: `The quota ${rate.quota} allows ${ofTenant.limit} to all tokens of the tenant together.`,
        extra: { quota: rate.quota, limit: ofTenant.limit },
        headers,
      });
    }
    if (!decision.isAllowed) throw errors.rate_limited({ headers });
  }

  private takeOfTenant({ quota, ofTenants }: Rate, { tenantId, tenantName }: Principal): RateDecision | undefined {
    const perMinute = quotasOf(this.config, tenantName)[quota];
    if (perMinute === 0) return undefined;
    const limiter = ofTenants.get(perMinute) ?? new RateLimiter(perMinute);
    ofTenants.set(perMinute, limiter);
    return limiter.take(tenantId);
  }
}

/** @param perMinute of a token; 0 = no limit */
function rateOf(perMinute: number, quota: Rate['quota']): Rate {
  return { ofToken: perMinute > 0 ? new RateLimiter(perMinute) : undefined, quota, ofTenants: new Map() };
}
