import { prepared } from '@slipway/platform-database';

/** ON CONFLICT: a blob has one row, even if two writers add it at once. */
export const LEASE_STRAY_BLOB = prepared(
  'sandboxes-stray-lease',
  `insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after, is_upload, reserved_bytes)
   values ($1, $2, $3, now() + make_interval(secs => $4), $5, $6)
   on conflict (blob) do update set delete_after = excluded.delete_after`,
);

/** The bytes in the workspaces of a tenant, and those that its unfinished uploads may write. */
export interface TenantUploads {
  /** Uploads that run. */
  count: number;
  stored: number;
  /** Reserved by all uploads except the caller's, also by dead ones whose bytes are still there. */
  reservedByOthers: number;
}

/** The caller holds the lock of the quota. */
export const UPLOADS_OF_TENANT = prepared(
  'sandboxes-uploads-of-tenant',
  `select (select coalesce(sum(bytes_used), 0)::float8 from sandboxes where tenant_id = $1) as stored,
     count(*) filter (where not is_doomed)::int as count,
     coalesce(sum(reserved_bytes) filter (where blob <> $2), 0)::float8 as "reservedByOthers"
   from sandbox_stray_blobs where tenant_id = $1 and is_upload`,
);

/** Returns no row if the upload has lost its lease. */
export const RESERVE_UPLOAD_BYTES = prepared(
  'sandboxes-upload-reserve',
  `update sandbox_stray_blobs set reserved_bytes = $3 where blob = $1 and tenant_id = $2 and not is_doomed returning blob`,
);

/** Value for `delete_after`: the process that dooms a blob has this long to remove it before another one tries. */
export const STRAY_REMOVAL_LEASE = `now() + interval '1 minute'`;

/**
 * SKIP LOCKED lets several sweeps share the work. A removal takes as long as the store takes, so it happens after this
 * commit. A removal that fails is due again a minute later.
 */
export const DOOM_STRAY_BLOBS = prepared(
  'sandboxes-stray-doom',
  `update sandbox_stray_blobs set is_doomed = true, delete_after = ${STRAY_REMOVAL_LEASE}
   where blob = any(array(select blob from sandbox_stray_blobs where delete_after < now() order by delete_after limit 50 for update skip locked))
   returning blob`,
);
