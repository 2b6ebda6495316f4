import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret, sealSecret } from '@slipway/platform-database';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { newSecret, sessionIdOf } from './console-cookies.js';
import { ConsoleSessionEntity, type SignInMethod } from './console-session.entity.js';
import {
  CLAIM_CONSOLE_SESSION_RENEWAL,
  DELETE_SURPLUS_CONSOLE_SESSIONS,
  DELETE_EXPIRED_CONSOLE_SESSIONS,
  END_CONSOLE_SESSION,
  INSERT_CONSOLE_SESSION,
  LOOK_UP_CONSOLE_SESSION,
  type ConsoleSessionRow,
} from './console-session.query.js';

/** A day of work; then people sign in again. */
export const CONSOLE_SESSION_SECONDS = 12 * 3600;
/** A bearer is renewed this long before its end: longer than the check of a request takes. */
const RENEW_BEFORE_MS = 60_000;
/** Limit per token or person; the oldest are deleted. */
const MAX_SESSIONS = 20;
const EXPIRED_BATCH = 1_000;

/** The credentials that a session sends to the api. */
export interface SessionCredentials {
  bearer: string;
  /** For a hosted session: obtains the next bearer. */
  refresh?: string;
  /** Milliseconds since 1970 by the clock of the process that got the bearer, if known. */
  bearerEndsAt?: number;
}

export interface NewSession {
  method: SignInMethod;
  /** Actor as `type:id`. */
  who: string;
  credentials: SessionCredentials;
}

export interface ConsoleSession {
  id: string;
  method: SignInMethod;
  credentials: SessionCredentials;
  isRenewalDue: boolean;
  expiresAt: Date;
}

/** Sign-ins, in Postgres: every api process knows them, and ending one ends it everywhere. */
@Injectable()
export class ConsoleSessions {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
  ) {}

  /** @returns the secret for the cookie, which is not stored */
  async open({ method, who, credentials }: NewSession): Promise<{ secret: string; expiresAt: Date }> {
    const secret = newSecret();
    const id = sessionIdOf(secret) as string;
    const sealed = this.seal(id, credentials);
    const { refresh, bearerEndsAt } = credentials;
    // A session that cannot be renewed ends with its bearer.
    const bearerSeconds = refresh === undefined && bearerEndsAt !== undefined ? secondsUntil(bearerEndsAt) : Infinity;
    const seconds = Math.min(CONSOLE_SESSION_SECONDS, bearerSeconds);
    const values = [id, method, who, sealed, secondsUntilRenewal(credentials), seconds];
    const expiresAt = await this.database.tx('system', async (tx) => {
      const row = await tx.one<{ expires_at: Date }>(INSERT_CONSOLE_SESSION, values);
      await tx.query(DELETE_SURPLUS_CONSOLE_SESSIONS, [who, MAX_SESSIONS]);
      return (row as { expires_at: Date }).expires_at;
    });
    return { secret, expiresAt };
  }

  /** Returns the session of a cookie's secret; undefined if it has ended or never existed. */
  async find(secret: string | undefined): Promise<ConsoleSession | undefined> {
    const id = sessionIdOf(secret);
    return id === undefined ? undefined : this.read(id);
  }

  async read(id: string): Promise<ConsoleSession | undefined> {
    const row = await this.database.find<ConsoleSessionRow>('system', LOOK_UP_CONSOLE_SESSION, id);
    if (!row) return undefined;
    const credentials = this.unseal(id, row.sealed_credentials);
    const { method, is_renewal_due, expires_at } = row;
    return { id, method, credentials, isRenewalDue: is_renewal_due === true, expiresAt: expires_at };
  }

  /** Ends a session, and its open event streams in every process. */
  async end(id: string): Promise<void> {
    await this.database.tx('system', (tx) => tx.query(END_CONSOLE_SESSION, [id]));
  }

  /**
   * Returns the current credentials to renew; undefined if it is not time, or another request renews them in these
   * seconds.
   */
  async claimRenewal(id: string): Promise<SessionCredentials | undefined> {
    const row = await this.database.tx('system', (tx) =>
      tx.one<{ sealed_credentials: string }>(CLAIM_CONSOLE_SESSION_RENEWAL, [id]),
    );
    return row && this.unseal(id, row.sealed_credentials);
  }

  async saveRenewal(id: string, credentials: SessionCredentials): Promise<void> {
    const seconds = secondsUntilRenewal(credentials);
    const renewAt = seconds === null ? null : () => `now() + make_interval(secs => ${seconds})`;
    const changed = { sealed_credentials: this.seal(id, credentials), renew_at: renewAt };
    await this.database.tx('system', (tx) => tx.repository(ConsoleSessionEntity).update({ id }, changed));
  }

  private unseal(id: string, sealed: string): SessionCredentials {
    return JSON.parse(openSecret(this.config.keyRing, sealed, contextOf(id))) as SessionCredentials;
  }

  private seal(id: string, credentials: SessionCredentials): string {
    return sealSecret(this.config.keyRing, JSON.stringify(credentials), contextOf(id));
  }
}

function secondsUntilRenewal({ refresh, bearerEndsAt }: SessionCredentials): number | null {
  return refresh === undefined || bearerEndsAt === undefined ? null : secondsUntil(bearerEndsAt - RENEW_BEFORE_MS);
}

/** The database adds them to its own clock, which may differ from that of this process. */
function secondsUntil(time: number): number {
  return (time - Date.now()) / 1_000;
}

/** The context that seals the credentials of a session, so that they open in no other row. */
export function contextOf(id: string): string {
  return `console-session/${id}`;
}

/** Deletes the rows of ended sessions, which already give no access. */
@Injectable()
export class SessionUpkeep {
  @Recurring({ name: 'console-sessions', everySeconds: 60 })
  async run(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(DELETE_EXPIRED_CONSOLE_SESSIONS, [EXPIRED_BATCH]));
  }
}
