import { prepared, type Tx } from '@slipway/platform-database';
import { IsNull, Or, Raw } from 'typeorm';
import { SandboxEntity } from './sandbox.entity.js';
import { sandboxErrors } from './sandbox.errors.js';

/**
 * Condition on `expires_at`. A sandbox past its expiry is invisible to all clients, even before the sweep removes it.
 * The clock is the database's.
 */
export const SANDBOX_UNEXPIRED = Or(
  IsNull(),
  Raw((expiresAt) => `${expiresAt} > now()`),
);

/** @throws sandbox_not_found (404) */
export async function findSandbox(tx: Tx, tenantId: string, id: string): Promise<SandboxEntity> {
  const row = await tx.repository(SandboxEntity).findOneBy({ id, tenant_id: tenantId, expires_at: SANDBOX_UNEXPIRED });
  if (!row) throw sandboxErrors.sandbox_not_found();
  return row;
}

/**
 * A row lock that orders the uploads of one sandbox: quota and the tree of paths are checked, and files and sums
 * written, by one upload at a time. Rows read after it show what the previous upload has committed.
 */
const LOCK_SANDBOX = prepared(
  'sandboxes-lock',
  `select s.id from sandboxes s where s.id = $1 and s.tenant_id = $2 for update`,
);

/** Uploads of the sandbox wait until the transaction ends. @throws sandbox_not_found (404) */
export async function lockSandbox(tx: Tx, tenantId: string, id: string): Promise<SandboxEntity> {
  await tx.query(LOCK_SANDBOX, [id, tenantId]);
  return findSandbox(tx, tenantId, id);
}

const removing = (which: string): string => `
   with gone as (
     delete from sandboxes s where s.id = $1 and ${which} returning s.id
   ), files as (
     delete from sandbox_files f using gone where f.sandbox_id = gone.id returning f.blob, f.sandbox_id, f.tenant_id
   ), strays as (
     insert into sandbox_stray_blobs (blob, tenant_id, sandbox_id, delete_after) select blob, tenant_id, sandbox_id, now() from files
   )
   select gone.id from gone`;

/**
 * Removes an expired sandbox with its files, whose blobs become strays: three tables in one statement. Returns no row
 * if another worker was faster.
 */
export const EXPIRE_SANDBOX = prepared('sandboxes-expire', removing('s.expires_at <= now()'));

/** As above, for a sandbox of tenant $2 that a client deletes. An upload under way finds no sandbox when it ends. */
export const DELETE_SANDBOX = prepared('sandboxes-delete', removing('s.tenant_id = $2'));
