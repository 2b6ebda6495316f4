import { parseToken } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { isAccessRefusal, RequestGuard } from '@slipway/platform-http/auth';
import { clientAddress, FailedAttempts, type FailureLimits } from '@slipway/platform-bounds';
import { CONFIG, type Config } from '@slipway/platform-config';
import { errors, type Principal, SlipwayError, type SlipwayRequest } from '@slipway/platform-http';
import { ConsoleCookies, csrfOf } from './console-cookies.js';
import type { SignInMethod } from './console-session.entity.js';
import { ConsoleSessions, CONSOLE_SESSION_SECONDS, type ConsoleSession } from './console-sessions.js';
import { SessionRenewal } from '../hosted/session-renewal.js';
import { assertOwnOrigin } from './same-origin.js';
import { SessionLookup } from './session-lookup.js';
import type { SessionAnswer } from './session.dto.js';

/** Failed sign-ins in a minute, after which the refusal of a wrong token asks to slow down. */
const FAILURES: FailureLimits = { addressPerMinute: 20, claimPerMinute: 20 };

/** Opens, shows and ends the session of a browser. */
@Injectable()
export class SessionService {
  private readonly failures = new FailedAttempts(FAILURES);

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'console' | 'gateway' | 'identity' | 'trustedProxies'>,
    private readonly cookies: ConsoleCookies,
    private readonly sessions: ConsoleSessions,
    private readonly lookup: SessionLookup,
    private readonly renewal: SessionRenewal,
    private readonly guard: RequestGuard,
  ) {}

  /**
   * Returns the session, and ends it if its credential is no longer accepted. `cookie` is set if the browser must
   * remove its own.
   */
  async get(request: SlipwayRequest): Promise<{ answer: SessionAnswer; cookie?: string }> {
    this.assertOwnOrigin(request);
    const { cookie } = request.headers;
    const session = await this.lookup.find(request, cookie);
    if (session && (await this.isAccepted(session, request))) return { answer: this.answer(session) };
    if (session) await this.sessions.end(session.id);
    const isToGo = this.cookies.read(cookie, 'session') !== undefined;
    return { answer: this.answer(), ...(isToGo && { cookie: this.cookies.write('session', '', 0) }) };
  }

  /** @throws unauthenticated (401); rate_limited (429) for a wrong token after too many of them */
  async signIn(request: SlipwayRequest, token: string): Promise<{ answer: SessionAnswer; cookie: string }> {
    this.assertOwnOrigin(request);
    const { actor } = await this.principalOf(token, request);
    // A browser that signs in again has one session, not two.
    await this.endOf(request);
    const who = `${actor.type}:${actor.id}`;
    const opened = await this.sessions.open({ method: 'token', who, credentials: { bearer: token } });
    const cookie = this.cookies.write('session', opened.secret, CONSOLE_SESSION_SECONDS);
    return { answer: this.answer({ method: 'token', ...opened }), cookie };
  }

  /** @returns the header that removes the browser's cookie */
  async signOut(request: SlipwayRequest): Promise<string> {
    this.assertOwnOrigin(request);
    await this.endOf(request);
    return this.cookies.write('session', '', 0);
  }

  private async endOf(request: SlipwayRequest): Promise<void> {
    const session = await this.lookup.find(request, request.headers.cookie);
    if (session) await this.sessions.end(session.id);
  }

  private async isAccepted(session: ConsoleSession, request: SlipwayRequest): Promise<boolean> {
    try {
      const { bearer } = await this.renewal.credentialsOf(session);
      await this.guard.identify(bearer, request);
      return true;
    } catch (refusal) {
      if (isAccessRefusal(refusal)) return false;
      // Several tenants know the identity, and the browser names one of them.
      if (refusal instanceof SlipwayError && refusal.status === 400) return true;
      throw refusal;
    }
  }

  private async principalOf(token: string, request: SlipwayRequest): Promise<Principal> {
    const claim = parseToken(token)?.id;
    try {
      if (claim === undefined) throw errors.unauthenticated();
      return await this.guard.identify(token, request);
    } catch (failure) {
      if (!(failure instanceof SlipwayError) || failure.code !== 'unauthenticated') throw failure;
      const address = clientAddress(request.ip, request.headers['x-forwarded-for'], this.config.trustedProxies);
      const waitSeconds = this.failures.note(address, claim ?? '');
      if (waitSeconds === undefined) throw failure;
      throw errors.rate_limited({
        message: 'The token is not valid. Too many sign-ins from this address or with this token failed.',
        headers: { 'retry-after': String(waitSeconds) },
      });
    }
  }

  private assertOwnOrigin({ headers }: SlipwayRequest): void {
    assertOwnOrigin(headers, this.config.console);
  }

  private answer(session?: { method: SignInMethod; secret: string; expiresAt: Date }): SessionAnswer {
    const { identity, gateway } = this.config;
    const methods: SignInMethod[] = identity.clientId === undefined ? ['token'] : ['token', 'hosted'];
    const about = { methods, gateway: gateway.publicUrl, identity_provider: identity.provider };
    if (!session) return { signed_in: false, ...about };
    const { method, secret, expiresAt } = session;
    return { signed_in: true, method, csrf: csrfOf(secret), expires_at: expiresAt.toISOString(), ...about };
  }
}
