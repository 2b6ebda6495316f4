import { TOKENS_CHANNEL } from '@slipway/contracts';
import { LOOK_UPS } from '@slipway/platform-bounds';
import { KEYS, locking, lookup, prepared } from '@slipway/platform-database';
import type { AccessCheck } from '@slipway/platform-http';
import type { SignInMethod } from './console-session.entity.js';

/**
 * Runs for every request of the console. It runs as the system: a session belongs to the owner of its credential. A
 * group of guesses is one statement, so that floods of them cost little (`AttemptQueue`).
 */
export const LOOK_UP_CONSOLE_SESSION = lookup(
  'console-session-look-up',
  `select id as key, method, sealed_credentials, expires_at, renew_at <= now() as is_renewal_due
   from console_sessions where id = any ${KEYS} and expires_at > now()`,
  { mostKeys: LOOK_UPS.groupSize },
);

export interface ConsoleSessionRow {
  key: string;
  method: SignInMethod;
  sealed_credentials: string;
  expires_at: Date;
  is_renewal_due: boolean | null;
}

/** Whether a session has not ended, in the transaction of a mutation that came through it. */
const requireSession = (lock: '' | ' for key share'): string => `
  with session as materialized (select expires_at from console_sessions where id = $1${lock})
  select case when not exists (select from session where expires_at > clock_timestamp())
    then slipway_refuse('unauthenticated') end`;

/** Fails the transaction in the message of its commit, so that the check costs no round trip. */
const REQUIRE_CONSOLE_SESSION = prepared('console-session-require', requireSession(''));

/** A sign-out waits for this lock. A renewal of the bearer does not, because it keeps the key of the row. */
const REQUIRE_AND_LOCK_CONSOLE_SESSION = locking(
  'caller',
  prepared('console-session-require-and-lock', requireSession(' for key share')),
);

/** Returns what a mutation reads again of the session that it came through. It never ends its own session. */
export function accessOfSession(id: string): AccessCheck {
  const statements = { read: REQUIRE_CONSOLE_SESSION, lock: REQUIRE_AND_LOCK_CONSOLE_SESSION };
  return { ...statements, values: () => [id], isOfSystem: true };
}

/** Both times are seconds from now, by the database's clock. A session without a renewal has null. */
export const INSERT_CONSOLE_SESSION = prepared(
  'console-session-insert',
  `insert into console_sessions (id, method, who, sealed_credentials, renew_at, expires_at)
   values ($1, $2, $3, $4, now() + make_interval(secs => $5), now() + make_interval(secs => $6)) returning expires_at`,
);

/** Notifies the open event streams of the session's person to check their access again, as the end of a token does. */
export const END_CONSOLE_SESSION = prepared(
  'console-session-end',
  `with ended as (delete from console_sessions where id = $1 returning who)
   select pg_notify('${TOKENS_CHANNEL}', substr(who, strpos(who, ':') + 1)) from ended`,
);

/**
 * Providers accept a refresh token once, and some end everything if it comes twice. So of many requests, in any
 * process, one wins. If that process is killed, or the provider is unavailable, the next request may try after this
 * many seconds.
 */
export const CLAIM_CONSOLE_SESSION_RENEWAL = prepared(
  'console-session-claim-renewal',
  `update console_sessions set renew_at = now() + interval '15 seconds' where id = $1 and renew_at <= now()
   returning sealed_credentials`,
);

/** One statement, so that each of many concurrent sign-ins leaves at most one session too many. */
export const DELETE_SURPLUS_CONSOLE_SESSIONS = prepared(
  'console-session-bound',
  `delete from console_sessions where id = any(array(
     select id from console_sessions where who = $1 order by created_at desc, id offset $2 for update skip locked))`,
);

/** In batches; skips rows that another worker deletes. */
export const DELETE_EXPIRED_CONSOLE_SESSIONS = prepared(
  'console-session-expire',
  `delete from console_sessions where id = any(array(
     select id from console_sessions where expires_at <= now() order by expires_at limit $1 for update skip locked))`,
);
