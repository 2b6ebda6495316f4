import { timingSafeEqual } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { AddressRate, AttemptQueue, clientAddress } from '@slipway/platform-bounds';
import { CONFIG, type Config } from '@slipway/platform-config';
import { openSecret, sealSecret } from '@slipway/platform-database';
import { errors, SlipwayError, type SlipwayRequest } from '@slipway/platform-http';
import { RequestGuard } from '@slipway/platform-http/auth';
import { ConsoleCookies } from '../sessions/console-cookies.js';
import { ConsoleSessions, CONSOLE_SESSION_SECONDS } from '../sessions/console-sessions.js';
import { assertOwnHost } from '../sessions/same-origin.js';
import { type Handshake, type ProviderAnswer, ProviderClient, ProviderRefusal } from './provider-client.js';

/** Longest time that a person may take at the provider. */
const HANDSHAKE_SECONDS = 600;
/** Failed sign-ins of one address in a minute, after which the page of a failed one asks to wait. */
const FAILURES_PER_MINUTE = 20;
/**
 * Sign-ins that the provider checks. Only the provider knows whether one is genuine, so each is sent to it, but made-up
 * ones cost it a limited number of requests: ten groups a second, with up to eight sign-ins from different addresses.
 */
const CHECKS = { groupSize: 8, groups: 8, intervalMs: 100, maxRunning: 32, maxWaiting: 1_000 };
const CONTEXT = 'console-sign-in';
/** The path travels in a cookie. */
const MAX_RETURN_PATH_CHARACTERS = 2_000;
/** No page is served there. */
const NO_PAGE = /^\/(api|console)(\/|$)/;

/** The reason that the console's page receives for a failed sign-in. */
export type SignInFailure = 'expired' | 'refused' | 'not_granted' | 'unavailable' | 'too_many';

/** The browser's next location, and the cookies to set. */
export interface SignInStep {
  location: string;
  cookies: string[];
}

/** The provider refused the sign-in, or the person has no access. */
class SignInRefused extends Error {
  constructor(
    readonly why: 'refused' | 'not_granted',
    cause?: unknown,
  ) {
    super(why, { cause });
  }
}

/** Too many sign-ins wait for the provider. */
class SignInOverload extends Error {}

/**
 * Signs people in at the hosted provider. Nothing is stored in the meantime: the state comes back sealed, in a cookie.
 */
@Injectable()
export class SignInService {
  private readonly logger = new Logger('console');
  private readonly failures = new AddressRate(FAILURES_PER_MINUTE);
  private readonly checks = new AttemptQueue(CHECKS, () => new SignInOverload());

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'console' | 'keyRing' | 'trustedProxies'>,
    private readonly cookies: ConsoleCookies,
    private readonly sessions: ConsoleSessions,
    private readonly provider: ProviderClient,
    private readonly guard: RequestGuard,
  ) {}

  async begin(request: SlipwayRequest, returnTo: unknown): Promise<SignInStep> {
    this.assertServed(request);
    try {
      const endsAt = Date.now() + HANDSHAKE_SECONDS * 1_000;
      const { url, handshake } = await this.provider.begin(returnPath(returnTo), endsAt);
      const sealed = sealSecret(this.config.keyRing, JSON.stringify(handshake), CONTEXT);
      return { location: url.href, cookies: [this.cookies.write('sign_in', sealed, HANDSHAKE_SECONDS)] };
    } catch (failure) {
      return this.failed('unavailable', failure);
    }
  }

  async finish(request: SlipwayRequest): Promise<SignInStep> {
    this.assertServed(request);
    const handshake = this.handshakeOf(request);
    if (!handshake) return this.failed('expired');
    const address = clientAddress(request.ip, request.headers['x-forwarded-for'], this.config.trustedProxies);
    try {
      const claim = handshake.state;
      return await this.checks.run({ address, claim }, () => this.signIn(request, handshake));
    } catch (failure) {
      // A flood must not fill the log.
      if (failure instanceof SignInOverload) return this.failed('unavailable');
      if (!(failure instanceof SignInRefused)) return this.failed('unavailable', failure);
      const isTooMany = this.failures.take(address) !== undefined;
      return isTooMany ? this.failed('too_many') : this.failed(failure.why, failure.cause);
    }
  }

  /** @throws SignInRefused; any other error if it is not known whether the person has access */
  private async signIn(request: SlipwayRequest, handshake: Handshake): Promise<SignInStep> {
    const answer = await this.provider.finish(queryOf(request), handshake).catch((failure: unknown) => {
      throw failure instanceof ProviderRefusal ? new SignInRefused('refused', failure) : failure;
    });
    const bearer = await this.acceptedOf(answer, request);
    if (bearer === undefined) throw new SignInRefused('not_granted');
    const { refresh, bearerEndsAt, userId } = answer;
    const { secret } = await this.sessions.open({
      method: 'hosted',
      who: `user:${userId}`,
      credentials: { bearer, refresh, bearerEndsAt },
    });
    return {
      location: handshake.returnTo,
      cookies: [this.cookies.write('session', secret, CONSOLE_SESSION_SECONDS), this.cookies.write('sign_in', '', 0)],
    };
  }

  /** Returns the provider's token that gives the person access; undefined if none does. */
  private async acceptedOf({ bearers }: ProviderAnswer, request: SlipwayRequest): Promise<string | undefined> {
    for (const bearer of bearers) {
      try {
        await this.guard.identify(bearer, request);
        return bearer;
      } catch (refusal) {
        if (!(refusal instanceof SlipwayError) || refusal.status >= 500) throw refusal;
        // Known to several tenants: the page lets the person choose.
        if (refusal.status === 400) return bearer;
      }
    }
    return undefined;
  }

  private handshakeOf(request: SlipwayRequest): Handshake | undefined {
    const sealed = this.cookies.read(request.headers.cookie, 'sign_in');
    if (sealed === undefined) return undefined;
    try {
      const handshake = JSON.parse(openSecret(this.config.keyRing, sealed, CONTEXT)) as Handshake;
      const isOfThis = isSame(new URLSearchParams(queryOf(request)).get('state') ?? '', handshake.state);
      return isOfThis && handshake.endsAt > Date.now() ? handshake : undefined;
    } catch {
      return undefined;
    }
  }

  private failed(why: SignInFailure, failure?: unknown): SignInStep {
    if (failure !== undefined)
      this.logger.warn(`A sign-in at the identity provider failed (${why}): ${String(failure)}`);
    return { location: `/?sign_in=${why}`, cookies: [this.cookies.write('sign_in', '', 0)] };
  }

  private assertServed({ headers }: SlipwayRequest): void {
    assertOwnHost(headers.host, this.config.console);
    if (!this.provider.isConfigured) throw errors.not_found();
  }
}

function queryOf({ raw }: SlipwayRequest): string {
  const url = raw.url ?? '';
  const at = url.indexOf('?');
  return at < 0 ? '' : url.slice(at);
}

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Returns the page to open after a sign-in: the requested path if it is one of the console, otherwise `/`. */
export function returnPath(asked: unknown): string {
  if (typeof asked !== 'string' || !asked.startsWith('/')) return '/';
  const own = 'http://console';
  if (!URL.canParse(asked, own)) return '/';
  const { origin, pathname, search, hash } = new URL(asked, own);
  const path = pathname + search + hash;
  const isOwn = origin === own && !pathname.startsWith('//') && !NO_PAGE.test(pathname);
  return isOwn && path.length <= MAX_RETURN_PATH_CHARACTERS ? path : '/';
}
