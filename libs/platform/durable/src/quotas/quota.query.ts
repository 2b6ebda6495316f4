import { locking, prepared } from '@slipway/platform-database';

/** An advisory lock: counting and adding has to wait for who does the same, and what is to be added is no row yet. */
export const LOCK_QUOTA = locking(
  'quota',
  prepared(
    'quota-lock',
    `select pg_advisory_xact_lock(hashtextextended('slipway.quota:' || $1::text || ':' || $2::text, 0))`,
  ),
  ([tenantId, quota]) => [`${String(tenantId)}/${String(quota)}`],
);

/** Tenants are the platform's, and a worker knows them by id only. */
export const TENANT_NAME = prepared('quota-tenant-name', 'select name from tenants where id = $1');
