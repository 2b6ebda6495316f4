import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret, sealSecret } from '@slipway/platform-database';
import { ConsoleSessionEntity, type SignInMethod } from './console-session.entity.js';
import { DELETE_BEYOND, INSERT_SESSION, LOOK_UP_SESSION, type SessionRow } from './console-session.query.js';
import { newSecret, sessionIdOf } from './session-secret.js';

/** A day of work; then people sign in again. */
export const SESSION_SECONDS = 12 * 3600;
/** Of one token or person; the oldest go. */
const MAX_SESSIONS = 20;

/** What a session speaks to the api with. */
export interface Credentials {
  bearer: string;
  refresh?: string;
}

export interface NewSession {
  method: SignInMethod;
  /** Actor as `type:id`. */
  who: string;
  credentials: Credentials;
  /** When the credential should be renewed; undefined if it cannot be. */
  renewAt?: Date;
  /** When the credential ends for good, where that is known. */
  endsAt?: Date;
}

export interface ConsoleSession {
  id: string;
  method: SignInMethod;
  credentials: Credentials;
  isRenewalDue: boolean;
  expiresAt: Date;
}

/** Sign-ins, in Postgres: every api knows them, and what ends one ends it everywhere. */
@Injectable()
export class ConsoleSessions {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
  ) {}

  /** @returns the secret for the cookie, which is kept nowhere */
  async open({ method, who, credentials, renewAt, endsAt }: NewSession): Promise<{ secret: string; expiresAt: Date }> {
    const secret = newSecret();
    const id = sessionIdOf(secret) as string;
    const sealed = this.seal(id, credentials);
    const values = [id, method, who, sealed, renewAt ?? null, SESSION_SECONDS, endsAt ?? null];
    const expiresAt = await this.database.tx('system', async (tx) => {
      const row = await tx.one<{ expires_at: Date }>(INSERT_SESSION, values);
      await tx.query(DELETE_BEYOND, [who, MAX_SESSIONS]);
      return (row as { expires_at: Date }).expires_at;
    });
    return { secret, expiresAt };
  }

  /** The session of a cookie's secret; undefined if it has ended or never was. */
  async find(secret: string | undefined): Promise<ConsoleSession | undefined> {
    const id = sessionIdOf(secret);
    if (id === undefined) return undefined;
    const [row] = await this.database.read<SessionRow>('system', LOOK_UP_SESSION, [id]);
    if (!row) return undefined;
    const credentials = JSON.parse(
      openSecret(this.config.keyRing, row.sealed_credentials, contextOf(id)),
    ) as Credentials;
    const { method, is_renewal_due, expires_at } = row;
    return { id, method, credentials, isRenewalDue: is_renewal_due === true, expiresAt: expires_at };
  }

  async end(id: string): Promise<void> {
    await this.database.tx('system', (tx) => tx.repository(ConsoleSessionEntity).delete({ id }));
  }

  private seal(id: string, credentials: Credentials): string {
    return sealSecret(this.config.keyRing, JSON.stringify(credentials), contextOf(id));
  }
}

/** What the credentials of a session are bound to, so that they open in no other row. */
export function contextOf(id: string): string {
  return `console-session/${id}`;
}
