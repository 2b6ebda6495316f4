import { prepared } from '@slipway/platform-database';

/**
 * Serialises everything that may take an admin away from a tenant: two removals that each saw the other one's admin would
 * together leave none. An advisory lock, because the row of the tenant is not the tenant's to see.
 */
export const LOCK_ADMINS = prepared(
  'admins-lock',
  `select pg_advisory_xact_lock(hashtextextended('slipway.admins:' || $1::text, 0))`,
);
