import { prepared } from '@slipway/platform-database';

export const HOLD_STRAY = prepared(
  'sandbox-stray-hold',
  `insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after) values ($1, $2, $3, now() + make_interval(secs => $4))
   on conflict (blob) do update set delete_after = excluded.delete_after`,
);

/** Only a row that is still there can be kept alive: one the sweep has taken must not come back. */
export const KEEP_STRAY = prepared('sandbox-stray-keep', `update sandbox_stray_blobs set delete_after = now() + make_interval(secs => $2) where blob = $1`);

/** A file takes the blob over, or the blob is gone. Waits for a sweep that is at it. */
export const TAKE_STRAY = prepared('sandbox-stray-take', `delete from sandbox_stray_blobs where blob = $1 returning blob`);

export const LOCK_STRAY = prepared('sandbox-stray-lock', `select blob from sandbox_stray_blobs where blob = $1 for update`);

export const DUE_STRAYS = prepared(
  'sandbox-stray-due',
  `select blob from sandbox_stray_blobs where delete_after < now() order by delete_after limit 50 for update skip locked`,
);

/** A blob that could not be removed is tried again later, behind the others. */
export const SETTLE_STRAYS = prepared(
  'sandbox-stray-settle',
  `with removed as (delete from sandbox_stray_blobs where blob = any($1))
   update sandbox_stray_blobs set delete_after = now() + interval '1 minute' where blob = any($2)`,
);

export const EXPIRED_SANDBOXES = prepared(
  'sandbox-expired',
  `select id, tenant_id as "tenantId" from sandboxes where expires_at <= now() order by expires_at limit 10`,
);

/** Removes an expired sandbox; its blobs become strays, its active reference is returned for its own revocation. */
export const EXPIRE_SANDBOX = prepared(
  'sandbox-expire',
  `with gone as (
     delete from sandboxes s where s.id = $1 and s.expires_at <= now() returning s.id, s.tenant_id, s.reference_id
   ), files as (
     delete from sandbox_files f using gone where f.sandbox_id = gone.id returning f.blob, f.sandbox_id, f.tenant_id
   ), strays as (
     insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after) select blob, tenant_id, sandbox_id, now() from files
   )
   select gone.id, gone.reference_id as "referenceId" from gone`,
);
