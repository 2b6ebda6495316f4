import { Injectable } from '@nestjs/common';
import { errors } from '@slipway/platform-http';
import { ConsoleSessions, type ConsoleSession, type SessionCredentials } from '../sessions/console-sessions.js';
import { ProviderClient, ProviderRefusal } from './provider-client.js';

/** Renews the bearer of a hosted session, so that it does not end while a person works. */
@Injectable()
export class SessionRenewal {
  /** Renewals of this process: concurrent requests wait for one answer. */
  private readonly underWay = new Map<string, Promise<SessionCredentials>>();

  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly provider: ProviderClient,
  ) {}

  /**
   * Returns the session's credentials, renewed if it is time.
   * @throws unauthenticated if the provider no longer renews them; unavailable if it cannot be reached and they have
   * ended
   */
  async credentialsOf(session: ConsoleSession): Promise<SessionCredentials> {
    if (!session.isRenewalDue || !this.provider.isConfigured) return session.credentials;
    const known = this.underWay.get(session.id);
    if (known) return known;
    const renewal = this.renew(session).finally(() => this.underWay.delete(session.id));
    this.underWay.set(session.id, renewal);
    return renewal;
  }

  private async renew({ id, credentials: found }: ConsoleSession): Promise<SessionCredentials> {
    const credentials = await this.sessions.claimRenewal(id);
    // The request that claimed the renewal first may have the answer already.
    if (!credentials) return stillGood((await this.sessions.read(id))?.credentials ?? found);
    try {
      const renewed = await this.provider.renew(credentials.refresh as string);
      await this.sessions.saveRenewal(id, renewed);
      return renewed;
    } catch (failure) {
      if (!(failure instanceof ProviderRefusal)) return stillGood(credentials, failure);
      await this.sessions.end(id);
      throw errors.unauthenticated({
        message: 'The identity provider does not renew this session.',
        remediation: 'Sign in to the console again.',
      });
    }
  }
}

/** The bearer is valid until its end. After it, it is unknown whether the session has ended. */
function stillGood(credentials: SessionCredentials, cause?: unknown): SessionCredentials {
  if ((credentials.bearerEndsAt ?? 0) > Date.now()) return credentials;
  throw errors.unavailable({ message: 'The identity provider has not renewed the session yet.', cause });
}
