import { prepared } from '@slipway/platform-database';

/** NOTIFY channel of revocations; the payload is the reference's id. */
export const REVOCATIONS_CHANNEL = 'slipway_sandbox_revocations';

/**
 * A row lock, held until an upload commits. So a revocation comes either before the upload, and refuses it, or after
 * it.
 */
export const SHARE_SANDBOX_REFERENCE = prepared(
  'sandboxes-reference-share',
  `select r.state from sandbox_references r where r.id = $1 and r.tenant_id = $2 for share`,
);

/** A row lock: the second of two concurrent revocations sees the effect of the first. */
export const LOCK_SANDBOX_REFERENCE = prepared(
  'sandboxes-reference-lock',
  `select r.id from sandbox_references r where r.id = $1 and r.tenant_id = $2 for update`,
);

/**
 * Erases the credential, fails the pending pushes, and notifies the workers, which cut their transfers: two tables and
 * a notification in one statement. All of it is Postgres: nothing is sent to the external sandbox.
 */
export const REVOKE_SANDBOX_REFERENCE = prepared(
  'sandboxes-reference-revoke',
  `with revoked as (
     update sandbox_references r set state = 'revoked', revoked_at = now(), revoked_by = $3, credential = null
     where r.id = $1 and r.tenant_id = $2 and r.state = 'active' returning r.id, slipway_rfc3339(r.revoked_at) as revoked_at
   ), given_up as (
     update sandbox_files f set sync = 'failed', sync_error = 'access to the external sandbox was revoked'
     where f.sync = 'pending' and f.sandbox_id in (select s.id from sandboxes s where s.reference_id = $1)
   )
   select revoked.*, pg_notify('${REVOCATIONS_CHANNEL}', revoked.id) from revoked`,
);
