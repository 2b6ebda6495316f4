import { TOKENS_CHANNEL } from '@slipway/contracts';
import { prepared } from '@slipway/platform-database';

/**
 * Creations and changes of tenants run one after another: two names that differ only in case violate no index, and no
 * change of organizations may happen between the check of its caller and its commit.
 */
export const LOCK_TENANTS = prepared(
  'identity-tenants-lock',
  `select pg_advisory_xact_lock(hashtextextended('slipway.tenant_names', 0))`,
);

/**
 * Keeps every organization with its tenant until the transaction ends. A person loses access with an organization, also
 * if the mapping stays, and for an organization without a tenant there is no row to lock.
 */
export const HOLD_ORGANIZATIONS = prepared(
  'identity-organizations-hold',
  `select pg_advisory_xact_lock_shared(hashtextextended('slipway.tenant_names', 0))`,
);

/**
 * Returns the names that may differ from $1 only in case. How far Postgres knows the case of letters beyond ASCII depends
 * on the locale of its database, so it returns all names with such letters.
 */
export const FIND_SIMILAR_NAMES = prepared(
  'identity-tenant-similar-names',
  `select name from tenants where lower(name) = lower($1) or octet_length(name) > char_length(name)`,
);

/** Returns no row if the name is taken: the boot creates the operator tenant without the lock. */
export const INSERT_TENANT = prepared(
  'identity-tenant-insert',
  `insert into tenants (id, name) values ($1, $2)
   on conflict (name) do nothing returning id, name, slipway_rfc3339(created_at) as created_at`,
);

/**
 * Changes of a tenant run one after another. Weaker than FOR UPDATE, which would block everything that refers to the
 * tenant.
 */
export const LOCK_TENANT = prepared(
  'identity-tenant-lock',
  `select id, name, slipway_rfc3339(created_at) as created_at from tenants where id = $1 for no key update`,
);

/** Notifies every process that any open stream may have lost its access. */
export const RECHECK_SIGN_INS = prepared('identity-sign-ins-recheck', `select pg_notify('${TOKENS_CHANNEL}', '')`);
