import { locking, prepared } from '@slipway/platform-database';

/**
 * An advisory lock: counting and adding must wait for other transactions that do the same, and the rows to add do not
 * exist yet.
 */
export const LOCK_QUOTA = locking(
  'quota',
  prepared(
    'quota-lock',
    `select pg_advisory_xact_lock(hashtextextended('slipway.quota:' || $1::text || ':' || $2::text, 0))`,
  ),
  ([tenantId, quota]) => [`${String(tenantId)}/${String(quota)}`],
);

/** Tenants belong to the platform, and a worker knows only their ids. */
export const TENANT_NAME = prepared('quota-tenant-name', 'select name from tenants where id = $1');
