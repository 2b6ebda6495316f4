import { hash } from 'node:crypto';
import { Inject, Injectable, Logger, type OnModuleInit, Optional } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { parseToken, TOKENS_CHANNEL } from '@slipway/contracts';
import {
  type CredentialAttempt,
  AttemptQueue,
  clientAddress,
  FailedAttempts,
  LOOK_UPS,
  type FailureLimits,
  ProxyHint,
  type RateDecision,
  RateLimiter,
} from '@slipway/platform-bounds';
import { CONFIG, type Config, type QuotaConfig, type QuotaName, quotasOf } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import {
  type AccessCheck,
  errors,
  noteConnectionUse,
  type Principal,
  requestContext,
  SlipwayError,
  SlipwayHttpAdapter,
  type SlipwayReply,
  type SlipwayRequest,
} from '../index.js';
import { AccessWatch } from './access-watch.js';

/** One way to recognise a bearer credential. */
export interface BearerAuthenticator {
  /** Whether the credential has the form of this authenticator. Does not check that it is valid. */
  accepts(credential: string): boolean;
  /** @throws unauthenticated or token_expired (401), or a 403 if the identity is known but has no access */
  authenticate(credential: string, request: SlipwayRequest): Promise<Principal>;
}

/**
 * Nest token of the list. An area with a credential of its own injects the list and adds its authenticator at module
 * init.
 */
export const BEARER_AUTHENTICATORS: unique symbol = Symbol('slipway.bearer-authenticators');

/** The ways to recognise a credential, tried in the order in which they were added. */
@Injectable()
export class BearerAuthenticators {
  private readonly authenticators: BearerAuthenticator[] = [];

  add(authenticator: BearerAuthenticator): void {
    this.authenticators.push(authenticator);
  }

  find(credential: string): BearerAuthenticator | undefined {
    return this.authenticators.find((authenticator) => authenticator.accepts(credential));
  }
}

/** A refused credential is looked up again after this time, in case the notification of a new token was lost. */
const REFUSED_FOR_MS = 1_000;
/** Failed attempts in a minute, after which the refusal asks the client to slow down. */
const FAILURES: FailureLimits = { addressPerMinute: 120, claimPerMinute: 60 };
const MAX_REMEMBERED = 10_000;

/**
 * Remembers credentials, so that guessing them costs the database little.
 * It grants no access: each request looks up its credential again. A credential that was valid before is looked up at
 * once. All others are checked in groups, and only the answer to a wrong one depends on earlier failures: a correct
 * credential is accepted, whatever others guessed. The memory is per process, and holds SHA-256 hashes.
 */
export class CredentialMemory {
  private readonly failures: FailedAttempts;
  private readonly tokens = new AttemptQueue(LOOK_UPS, overloaded);
  /** JWTs apart, because checking one may wait for the identity provider. */
  private readonly others = new AttemptQueue(LOOK_UPS, overloaded);
  /** The oldest is first. */
  private readonly valid = new Set<string>();
  private readonly refused = new Map<string, { refusal: SlipwayError; until: number }>();
  /** Counts notifications about tokens. A refusal that was read before the latest one is not remembered. */
  private generation = 0;

  /** @param now milliseconds of a clock that no one can set */
  constructor(private readonly now: () => number = () => performance.now()) {
    this.failures = new FailedAttempts(FAILURES, now);
  }

  /**
   * @param addressOf returns the client's address; called only if the credential is not known as valid
   * @throws the failure of `authenticate`, or its refusal of the same credential a moment ago; rate_limited (429) for a
   * wrong credential if there were too many from this address, or for the same token
   */
  async authenticate(
    credential: string,
    addressOf: () => string,
    authenticate: () => Promise<Principal>,
  ): Promise<Principal> {
    const key = hash('sha256', credential, 'base64');
    if (this.valid.has(key)) return this.checked(key, credential, authenticate);
    const refused = this.refused.get(key);
    if (refused && refused.until > this.now()) throw refused.refusal;
    const address = addressOf();
    const token = parseToken(credential);
    const attempt = { address, claim: token?.id ?? key };
    try {
      const queue = token ? this.tokens : this.others;
      const principal = await queue.run(attempt, () => this.checked(key, credential, authenticate));
      this.noteValid(key);
      return principal;
    } catch (failure) {
      if (failure instanceof SlipwayError && failure.code === 'unauthenticated') this.slowDown(attempt, failure);
      throw failure;
    }
  }

  /** Call it after a token was made or changed, because a refused credential may now be valid. */
  forgetRefusals(): void {
    this.generation += 1;
    this.refused.clear();
  }

  private async checked(key: string, credential: string, authenticate: () => Promise<Principal>): Promise<Principal> {
    const { generation } = this;
    try {
      return await authenticate();
    } catch (failure) {
      if (isRefusal(failure)) this.noteRefused(key, credential, failure, generation);
      throw failure;
    }
  }

  private slowDown({ address, claim }: CredentialAttempt, cause: SlipwayError): void {
    const waitSeconds = this.failures.note(address, claim);
    if (waitSeconds === undefined) return;
    throw errors.rate_limited({
      message: 'The credential is not valid. Too many invalid credentials came from this address or for this token.',
      headers: { 'retry-after': String(waitSeconds) },
      cause,
    });
  }

  private noteValid(key: string): void {
    if (this.valid.has(key)) return;
    if (this.valid.size >= MAX_REMEMBERED) this.valid.delete(this.valid.values().next().value as string);
    this.valid.add(key);
  }

  private noteRefused(key: string, credential: string, refusal: SlipwayError, generation: number): void {
    // Refusals of JWTs are not remembered: their users may be granted access at any moment, and no notification reports
    // it. Nor does guessing matter there, because a signature cannot be guessed.
    const isToken = parseToken(credential) !== undefined;
    if (!isToken || generation !== this.generation) return;
    this.valid.delete(key);
    if (this.refused.size >= MAX_REMEMBERED) this.refused.clear();
    this.refused.set(key, { refusal, until: this.now() + REFUSED_FOR_MS });
  }
}

function overloaded(): SlipwayError {
  return errors.unavailable({ message: 'Too many credentials wait to be checked.', headers: { 'retry-after': '2' } });
}

function isRefusal(failure: unknown): failure is SlipwayError {
  return failure instanceof SlipwayError && failure.status === 401;
}

/** The limits for one kind of request: of each token, and the name of the quota of its tenant. */
interface Rate {
  ofToken: RateLimiter | undefined;
  quota: QuotaName & `${string}_per_minute`;
  /** By requests per minute, because tenants may have different limits. */
  ofTenants: Map<number, RateLimiter>;
}

const BEARER = /^bearer +([\x21-\x7e]{1,16384})$/i;

/**
 * Accepts or refuses a request. Checks the identity (401), then the rate (429), then the scope (403), before the body
 * is read.
 */
@Injectable()
export class RequestGuard implements OnModuleInit {
  private readonly reads: Rate;
  private readonly mutations: Rate;
  private readonly memory = new CredentialMemory();
  private readonly proxyHint: ProxyHint;
  private readonly watched = new AccessWatch();

  constructor(
    @Inject(BEARER_AUTHENTICATORS) private readonly authenticators: BearerAuthenticators,
    @Inject(CONFIG) private readonly config: QuotaConfig & Pick<Config, 'trustedProxies'>,
    @Optional() private readonly host?: HttpAdapterHost,
    @Optional() private readonly database?: Database,
  ) {
    const { readsPerMinute, mutationsPerMinute } = config.rateLimit;
    this.proxyHint = new ProxyHint((text) => new Logger('http').warn(text), config.trustedProxies !== undefined);
    this.reads = rateOf(readsPerMinute, 'reads_per_minute');
    this.mutations = rateOf(mutationsPerMinute, 'mutations_per_minute');
  }

  onModuleInit(): void {
    const adapter = this.host?.httpAdapter;
    // The worker builds the same modules, but serves no requests.
    if (!(adapter instanceof SlipwayHttpAdapter)) return;
    adapter.setGuard((request, reply) => this.check(request, reply));
    adapter.setBodyWatch((request, onEnd) => {
      const { principal } = request.slipway;
      return principal ? this.watch(principal, () => this.authenticate(request), onEnd) : () => undefined;
    });
    this.database?.onUse((bytes, statements) => noteConnectionUse(requestContext(), bytes, statements));
    const changed = (tokenId: string): void => {
      this.memory.forgetRefusals();
      this.watched.recheck(tokenId);
    };
    // Not awaited, so that a process starts without Postgres.
    void this.database?.listen(TOKENS_CHANNEL, changed, () => changed(''));
  }

  /**
   * Calls `onEnd` once if a caller loses its access before the returned function is called: soon after a revocation, or
   * within seconds after an expiry.
   * @param identify identifies the caller again
   */
  watch(principal: Principal, identify: () => Promise<Principal>, onEnd: (refusal: SlipwayError) => void): () => void {
    return this.watched.watch(principal, identify, onEnd);
  }

  /** Streams that stay open also call this, again and again, to notice a revocation. */
  async authenticate(request: SlipwayRequest): Promise<Principal> {
    const entered = request.slipway?.credential;
    if (entered) {
      const { bearer, access } = await entered();
      return withAccess(await this.identify(bearer, request), access);
    }
    const header = request.headers.authorization;
    return this.identify(header === undefined ? undefined : BEARER.exec(header)?.[1], request);
  }

  /**
   * Returns the principal of a credential, from wherever the caller read it. A wrong credential counts as a failed
   * attempt of the request's address.
   * @throws the failures of the credential's authenticator; rate_limited (429)
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
    this.proxyHint.note(request.ip, request.headers['x-forwarded-for']);
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

  /**
   * Takes one request from the allowances of the token and of its tenant, or from neither. The headers report the
   * allowance with less left.
   */
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
        message: `Tenant quota ${rate.quota} exceeded: ${ofTenant.limit} requests a minute across all its tokens.`,
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

/** Returns the principal with more that its access rests on. */
export function withAccess(principal: Principal, more: readonly AccessCheck[]): Principal {
  return { ...principal, access: [...(principal.access ?? []), ...more] };
}

/** @param perMinute limit of a token; 0 means no limit */
function rateOf(perMinute: number, quota: Rate['quota']): Rate {
  return { ofToken: perMinute > 0 ? new RateLimiter(perMinute) : undefined, quota, ofTenants: new Map() };
}
