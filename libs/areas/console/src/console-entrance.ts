import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { type EnteredCredential, type Entrance, type SlipwayRequest } from '@slipway/platform-http';
import { consoleErrors } from './console.errors.js';
import { accessOfSession } from './sessions/console-session.query.js';
import type { ConsoleSession } from './sessions/console-sessions.js';
import { SessionRenewal } from './hosted/session-renewal.js';
import { assertOwnOrigin } from './sessions/same-origin.js';
import { SessionLookup } from './sessions/session-lookup.js';
import { isCsrfOf } from './sessions/console-cookies.js';

const CSRF_HEADER = 'x-csrf-token';

/** Turns the console's cookie into the bearer credential of its session. The api checks that credential as usual. */
@Injectable()
export class ConsoleEntrance implements Entrance {
  readonly prefix = '/console';

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'console'>,
    private readonly lookup: SessionLookup,
    private readonly renewal: SessionRenewal,
  ) {}

  async credentialOf(request: SlipwayRequest, cookie: string | undefined): Promise<EnteredCredential> {
    const { id, credentials } = await this.sessionOf(request, cookie);
    return { bearer: credentials.bearer, access: [accessOfSession(id)] };
  }

  /** @throws host_refused, origin_refused, csrf_refused (403), unauthenticated (401), rate_limited (429), unavailable (503) */
  async sessionOf(request: SlipwayRequest, cookie: string | undefined): Promise<ConsoleSession> {
    assertOwnOrigin(request.headers, this.config.console);
    const session = await this.lookup.find(request, cookie);
    if (!session) throw this.lookup.refusalOf(request, cookie);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !isCsrfOf(session.secret, request.headers[CSRF_HEADER])) throw consoleErrors.csrf_refused();
    return { ...session, credentials: await this.renewal.credentialsOf(session) };
  }
}
