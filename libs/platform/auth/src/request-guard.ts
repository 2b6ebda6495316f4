import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONFIG, type Config } from '@slipway/platform-config';
import {
  errors,
  SlipwayHttpAdapter,
  type Principal,
  type SlipwayReply,
  type SlipwayRequest,
} from '@slipway/platform-http';
import { BEARER_AUTHENTICATORS, type BearerAuthenticators } from './bearer-authenticators.js';
import { RateLimiter } from './rate-limiter.js';

const BEARER = /^bearer +([\x21-\x7e]{1,16384})$/i;

/** Lets a request pass or refuses it: who is it (401), is it too fast (429), may it (403). Runs before the body is read. */
@Injectable()
export class RequestGuard implements OnModuleInit {
  private readonly reads: RateLimiter | undefined;
  private readonly mutations: RateLimiter | undefined;

  constructor(
    @Inject(BEARER_AUTHENTICATORS) private readonly authenticators: BearerAuthenticators,
    @Inject(CONFIG) config: Pick<Config, 'rateLimit'>,
    @Optional() private readonly host?: HttpAdapterHost,
  ) {
    const { readsPerMinute, mutationsPerMinute } = config.rateLimit;
    this.reads = readsPerMinute > 0 ? new RateLimiter(readsPerMinute) : undefined;
    this.mutations = mutationsPerMinute > 0 ? new RateLimiter(mutationsPerMinute) : undefined;
  }

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds the same modules and serves nothing.
    if (adapter instanceof SlipwayHttpAdapter) adapter.setGuard((request, reply) => this.check(request, reply));
  }

  /** Also for streams that stay open: they call it again to learn of a revocation. */
  async authenticate(request: SlipwayRequest): Promise<Principal> {
    const header = request.headers.authorization;
    const credential = header === undefined ? undefined : BEARER.exec(header)?.[1];
    const authenticator = credential === undefined ? undefined : this.authenticators.find(credential);
    if (!authenticator) throw errors.unauthenticated();
    return authenticator.authenticate(credential!, request);
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

  private limit(principal: Principal, request: SlipwayRequest, reply: SlipwayReply): void {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const verdict = (isRead ? this.reads : this.mutations)?.take(`${principal.actor.type}:${principal.actor.id}`);
    if (!verdict) return;
    void reply.headers({
      'ratelimit-limit': String(verdict.limit),
      'ratelimit-remaining': String(verdict.remaining),
      'ratelimit-reset': String(verdict.resetSeconds),
    });
    if (!verdict.isAllowed) throw errors.rate_limited({ headers: { 'retry-after': String(verdict.retrySeconds) } });
  }
}
