import { prepared } from '@slipway/platform-database';

/**
 * Serialises everything that may take an admin away from a tenant: two removals that each saw the other one's admin would
 * together leave none. An advisory lock, because the row of the tenant is not the tenant's to see.
 */
export const LOCK_ADMINS = prepared(
  'admins-lock',
  `select pg_advisory_xact_lock(hashtextextended('slipway.admins:' || $1::text, 0))`,
);

/** Active admins of a tenant beside one credential. Identities count if their provider ($3) can sign them in. */
export const COUNT_OTHER_ADMINS = prepared(
  'admins-count-others',
  `select (select count(*) from api_tokens
      where tenant_id = $1 and id <> $2 and revoked_at is null and expires_at > now() and 'admin' = any (scopes))
    + (select count(*) from console_access
      where tenant_id = $1 and id <> $2 and status = 'active' and provider = $3 and 'admin' = any (scopes)) as others`,
);
