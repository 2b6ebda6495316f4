import { prepared } from '@slipway/platform-database';

/** ON CONFLICT: a blob has one row, even if two writers add it at once. */
export const LEASE_STRAY_BLOB = prepared(
  'sandboxes-stray-lease',
  `insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after) values ($1, $2, $3, now() + make_interval(secs => $4))
   on conflict (blob) do update set delete_after = excluded.delete_after`,
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
