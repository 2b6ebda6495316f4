import type { Owner } from '@slipway/contracts';
import { LOOK_UPS } from '@slipway/platform-bounds';
import { isBetween, KEYS, locking, lookup, prepared, withinBytes } from '@slipway/platform-database';
import type { PageRequest } from '../answers/page.js';

/**
 * Looks up a token in one round trip.
 * There is no cache, so a revocation applies to the next request of every process. Requests that arrive in one turn of
 * the event loop share a lookup, which is sent after all of them arrived. It runs as the system, because its result
 * names the tenant. It uses the clock of the database, because the clocks of processes may differ.
 * A group of guesses is one statement, so that floods of them cost little (`AttemptQueue`).
 */
export const LOOK_UP_TOKEN = lookup(
  'auth-token-look-up',
  `select k.id as key, k.tenant_id, k.name, k.scopes, k.owner_type, k.owner_id, k.minters, k.secret_sha256, k.revoked_at is not null as is_revoked, k.expires_at <= now() as is_expired,
     t.name as tenant_name, t.is_operator, k.last_used_at is null or k.last_used_at < now() - interval '1 minute' as is_use_due
   from api_tokens k join tenants t on t.id = k.tenant_id where k.id = any ${KEYS}`,
  { mostKeys: LOOK_UPS.groupSize },
);

export interface TokenLookup {
  /** The id of the token. */
  key: string;
  tenant_id: string;
  /** Name of the token. */
  name: string;
  tenant_name: string;
  is_operator: boolean;
  scopes: string[];
  owner_type: Owner['type'];
  owner_id: string;
  minters: Owner[];
  secret_sha256: Buffer;
  is_revoked: boolean;
  is_expired: boolean;
  is_use_due: boolean;
}

/**
 * Whether token $1 still gives one of the scopes $2: in the transaction of a mutation, as the caller's tenant. With $4
 * the transaction holds the row already, so only the time is read. A changed secret ends the access of the previous one.
 */
const requireToken = (lock: '' | ' for share'): string => `
  with token as materialized (
    select secret_sha256 = $3 and revoked_at is null as is_valid, expires_at, scopes && $2::text[] as has_scope
    from api_tokens where id = $1${lock})
  select case
    when not $4::boolean and not exists (select from token where is_valid) then slipway_refuse('unauthenticated')
    when not exists (select from token where expires_at > clock_timestamp()) then slipway_refuse('token_expired')
    when not $4::boolean and not exists (select from token where has_scope) then slipway_refuse('scope_insufficient') end`;

/** Fails the transaction in the message of its commit, so that the check costs no round trip. */
export const REQUIRE_TOKEN = prepared('auth-token-require', requireToken(''));

/** A revocation takes a lock that waits for this one, and this one for that. */
export const REQUIRE_AND_LOCK_TOKEN = locking(
  'caller',
  prepared('auth-token-require-and-lock', requireToken(' for share')),
);

/** Also of a token that was revoked: its actions stay those of its owner. */
export const FIND_TOKEN_OWNER = prepared(
  'auth-token-owner',
  `select jsonb_build_object('type', owner_type, 'id', owner_id) as owner, minters from api_tokens where tenant_id = $1 and id = $2`,
);

const STATE = `case when revoked_at is not null then 'revoked' when expires_at <= now() then 'expired' else 'active' end`;

const RECORD = `id, name, scopes, created_by, jsonb_build_object('type', owner_type, 'id', owner_id) as owner, minters, slipway_rfc3339(created_at) as created_at, slipway_rfc3339(expires_at) as expires_at,
  slipway_rfc3339(last_used_at) as last_used_at, slipway_rfc3339(revoked_at) as revoked_at, revoked_by, replaced_by,
  ${STATE} as state`;

export const INSERT_TOKEN = prepared(
  'auth-token-insert',
  `insert into api_tokens (id, tenant_id, name, scopes, secret_sha256, created_by, owner_type, owner_id, minters, expires_at, counts_for_owner)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning ${RECORD}`,
);

const listTokens = (past: '<' | '>', order: 'asc' | 'desc'): string =>
  `select ${RECORD}, has_more from ${withinBytes(
    'page',
    `select * from api_tokens where tenant_id = $1 and ($2::text is null or id ${past} $2)
       and ($4::text is null or ${STATE} = $4) and ${isBetween('created_at', '$5', '$6')} order by id ${order}`,
    '$3',
    { name: 'text', minters: 'jsonb', scopes: 'other', owner_id: 'text', created_by: 'text' },
  )} order by page.page_row`;

/** In each order: ids sort by time of creation. Ids of bootstrap tokens may be at any position. */
export const LIST_TOKENS = {
  desc: prepared('auth-token-list', listTokens('<', 'desc')),
  asc: prepared('auth-token-list-oldest', listTokens('>', 'asc')),
};

/** A second revocation changes nothing: the first time and actor stay. */
export const REVOKE_TOKEN = prepared(
  'auth-token-revoke',
  `update api_tokens set revoked_at = coalesce(revoked_at, now()), revoked_by = coalesce(revoked_by, $3)
   where tenant_id = $1 and id = $2 returning ${RECORD}`,
);

/**
 * Ends a token that another one replaces: at $4 at the latest, or now, by actor $5. Gateways read it again, because its
 * expiry or its revocation changes.
 */
export const REPLACE_TOKEN = prepared(
  'auth-token-replace',
  `update api_tokens set replaced_by = $3, expires_at = least(expires_at, $4::timestamptz),
     revoked_at = case when $5::text is null then revoked_at else now() end, revoked_by = coalesce(revoked_by, $5)
   where tenant_id = $1 and id = $2 returning ${RECORD}`,
);

/** Locks the row, so that two concurrent revocations write one audit row. */
export const LOCK_TOKEN = prepared(
  'auth-token-lock',
  `select ${RECORD} from api_tokens where tenant_id = $1 and id = $2 for update`,
);

/**
 * Stores the uses of many tokens in one statement. The condition allows one write per minute and token, even if several
 * processes saw the token. The order prevents deadlocks between two such statements.
 */
export const NOTE_TOKEN_USES = prepared(
  'auth-token-note-uses',
  `update api_tokens k set last_used_at = used.at
   from (select k.id, u.at from unnest($1::text[], $2::timestamptz[]) u (id, at) join api_tokens k using (id)
     where k.last_used_at is null or k.last_used_at < u.at - interval '1 minute' order by k.id for update of k skip locked) used
   where k.id = used.id`,
);

export interface TokenRow {
  id: string;
  name: string;
  scopes: string[];
  created_by: string;
  owner: Owner;
  minters: Owner[];
  created_at: string;
  expires_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
  revoked_by: string | null;
  /** The token that replaced it in a rotation. */
  replaced_by: string | null;
  state: TokenState;
}

export const TOKEN_STATES = ['active', 'revoked', 'expired'] as const;
export type TokenState = (typeof TOKEN_STATES)[number];

/** The rows of a list of tokens: those after one of them, newest first by default. */
export interface TokenList extends Pick<PageRequest, 'order' | 'since' | 'until'> {
  past?: string;
  state?: TokenState;
}
