import { prepared } from '@slipway/platform-database';

export const HOLD_STRAY = prepared(
  'sandbox-stray-hold',
  `insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after) values ($1, $2, $3, now() + make_interval(secs => $4))
   on conflict (blob) do update set delete_after = excluded.delete_after`,
);

/** A row that the sweep has taken must not come back. */
export const KEEP_STRAY = prepared(
  'sandbox-stray-keep',
  `update sandbox_stray_blobs set delete_after = now() + make_interval(secs => $2) where blob = $1 and not is_doomed`,
);

/** A file takes the blob over. No row if the sweep was faster. */
export const TAKE_STRAY = prepared(
  'sandbox-stray-take',
  `delete from sandbox_stray_blobs where blob = $1 and not is_doomed returning blob`,
);

export const LOCK_STRAY = prepared(
  'sandbox-stray-lock',
  `select blob from sandbox_stray_blobs where blob = $1 for update`,
);

/** Removing takes as long as the store takes, so it happens after this commit. What fails is due again a minute later. */
export const DOOM_STRAYS = prepared(
  'sandbox-stray-doom',
  `update sandbox_stray_blobs set is_doomed = true, delete_after = now() + interval '1 minute'
   where blob in (select blob from sandbox_stray_blobs where delete_after < now() order by delete_after limit 50 for update skip locked)
   returning blob`,
);

export const FORGET_STRAYS = prepared('sandbox-stray-forget', `delete from sandbox_stray_blobs where blob = any($1)`);

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
