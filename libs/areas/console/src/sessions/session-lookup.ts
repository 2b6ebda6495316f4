import { Inject, Injectable } from '@nestjs/common';
import { AddressRate, clientAddress } from '@slipway/platform-bounds';
import { CONFIG, type Config } from '@slipway/platform-config';
import { errors, type SlipwayRequest } from '@slipway/platform-http';
import { ConsoleCookies } from './console-cookies.js';
import { ConsoleSessions, type ConsoleSession } from './console-sessions.js';

/** Requests of one address with secrets of no session: the same limit as for unknown credentials. */
const WRONG_PER_MINUTE = 120;
const MAX_REMEMBERED = 10_000;

export interface CookieSession extends ConsoleSession {
  secret: string;
}

/** Finds the session of a request's cookie. A guess costs the database little. */
@Injectable()
export class SessionLookup {
  private readonly wrong = new AddressRate(WRONG_PER_MINUTE);
  /** Secrets of sessions that existed, the oldest first: looked up each time, and never counted as guesses. */
  private readonly known = new Set<string>();

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'trustedProxies'>,
    private readonly cookies: ConsoleCookies,
    private readonly sessions: ConsoleSessions,
  ) {}

  /** Returns undefined if the cookie is missing, or belongs to no current session. @throws rate_limited (429) */
  async find(request: SlipwayRequest, cookie: string | undefined): Promise<CookieSession | undefined> {
    const secret = this.cookies.read(cookie, 'session');
    if (secret === undefined) return undefined;
    if (this.known.has(secret)) return this.look(secret);
    const address = clientAddress(request.ip, request.headers['x-forwarded-for'], this.config.trustedProxies);
    const waitSeconds = this.wrong.take(address);
    if (waitSeconds !== undefined)
      throw errors.rate_limited({
        message: 'Too many requests with invalid session cookies from this address.',
        headers: { 'retry-after': String(waitSeconds) },
      });
    const found = await this.look(secret);
    if (found) this.wrong.giveBack(address);
    return found;
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
