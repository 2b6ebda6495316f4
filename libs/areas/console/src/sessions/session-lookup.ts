import { Inject, Injectable } from '@nestjs/common';
import { AddressRate, AttemptQueue, clientAddress, LOOK_UPS } from '@slipway/platform-bounds';
import { CONFIG, type Config } from '@slipway/platform-config';
import { errors, type SlipwayError, type SlipwayRequest } from '@slipway/platform-http';
import { ConsoleCookies, sessionIdOf } from './console-cookies.js';
import { ConsoleSessions, type ConsoleSession } from './console-sessions.js';

/** The same as for credentials of the api. */
const FAILURES_PER_MINUTE = 120;
const MAX_REMEMBERED = 10_000;

export interface CookieSession extends ConsoleSession {
  secret: string;
}

/** Finds the session of a request's cookie. Guesses cost the database little, and stop no person who has a session. */
@Injectable()
export class SessionLookup {
  private readonly failures = new AddressRate(FAILURES_PER_MINUTE);
  private readonly attempts = new AttemptQueue(LOOK_UPS, () => errors.unavailable({ headers: { 'retry-after': '2' } }));
  /** Secrets of sessions that existed, the oldest first: looked up at once. */
  private readonly known = new Set<string>();

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'trustedProxies'>,
    private readonly cookies: ConsoleCookies,
    private readonly sessions: ConsoleSessions,
  ) {}

  /** Returns undefined if the cookie is missing, or belongs to no current session. */
  async find(request: SlipwayRequest, cookie: string | undefined): Promise<CookieSession | undefined> {
    const secret = this.cookies.read(cookie, 'session');
    const claim = sessionIdOf(secret);
    if (secret === undefined || claim === undefined) return undefined;
    if (this.known.has(secret)) return this.look(secret);
    const noSession = new Error('no such session');
    const attempt = async (): Promise<CookieSession> => {
      const session = await this.look(secret);
      if (!session) throw noSession;
      return session;
    };
    return this.attempts.run({ address: this.addressOf(request), claim }, attempt).catch((failure: unknown) => {
      if (failure === noSession) return undefined;
      throw failure;
    });
  }

  /**
   * Returns the refusal of a request without a session: unauthenticated (401), or rate_limited (429) if there were too
   * many wrong cookies from its address.
   */
  refusalOf(request: SlipwayRequest, cookie: string | undefined): SlipwayError {
    const isWrong = this.cookies.read(cookie, 'session') !== undefined;
    const waitSeconds = isWrong ? this.failures.take(this.addressOf(request)) : undefined;
    if (waitSeconds !== undefined)
      return errors.rate_limited({
        message:
          'The console session does not exist. Too many requests with invalid session cookies came from this address.',
        headers: { 'retry-after': String(waitSeconds) },
      });
    return errors.unauthenticated({
      message: 'The console session does not exist or has ended.',
      remediation: 'Sign in to the console again.',
    });
  }

  private addressOf({ ip, headers }: SlipwayRequest): string {
    return clientAddress(ip, headers['x-forwarded-for'], this.config.trustedProxies);
  }

  private async look(secret: string): Promise<CookieSession | undefined> {
    const session = await this.sessions.find(secret);
    this.known.delete(secret);
    if (!session) return undefined;
    if (this.known.size >= MAX_REMEMBERED) this.known.delete(this.known.values().next().value as string);
    this.known.add(secret);
    return { ...session, secret };
  }
}
