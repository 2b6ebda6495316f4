import { prepared } from '@slipway/platform-database';

/** NOTIFY channel of revocations; the payload is the reference's id. */
export const REVOCATIONS_CHANNEL = 'slipway_sandbox_revocations';

const COLUMNS = `r.id, r.sandbox_id, r.provider, r.base_url, r.external_id, r.state,
  slipway_rfc3339(r.revoked_at) as revoked_at, r.revoked_by, slipway_rfc3339(r.created_at) as created_at`;

/** A reference as answers show it, but for what is judged at the time of the answer. The credential is in none of these statements. */
export interface ReferenceRow {
  id: string;
  sandbox_id: string;
  provider: 'e2b' | 'daytona' | 'custom';
  base_url: string;
  external_id: string;
  state: 'active' | 'revoked';
  revoked_at: string | null;
  revoked_by: string | null;
  created_at: string;
}

export const INSERT_REFERENCE = prepared(
  'sandbox-reference-insert',
  `insert into sandbox_references as r (id, tenant_id, sandbox_id, provider, base_url, external_id, credential)
   values ($1, $2, $3, $4, $5, $6, $7) returning ${COLUMNS}`,
);

export const LIST_REFERENCES = prepared(
  'sandbox-reference-list',
  `select ${COLUMNS} from sandbox_references r where r.tenant_id = $1 and ($2::text is null or r.id < $2) order by r.id desc limit $3`,
);

export const FIND_REFERENCE = prepared(
  'sandbox-reference-find',
  `select ${COLUMNS} from sandbox_references r where r.id = $1 and r.tenant_id = $2`,
);

/** Held until an upload commits, so that a revocation is either before it, and refuses it, or after it. */
export const SHARE_REFERENCE = prepared(
  'sandbox-reference-share',
  `select ${COLUMNS} from sandbox_references r where r.id = $1 and r.tenant_id = $2 for share`,
);

export const LOCK_REFERENCE = prepared(
  'sandbox-reference-lock',
  `select ${COLUMNS} from sandbox_references r where r.id = $1 and r.tenant_id = $2 for update`,
);

/**
 * Erases the credential, fails what was still to be passed on, and tells the workers, which cut what is on its way. All of
 * it is Postgres: nothing is sent to the external sandbox.
 */
export const REVOKE_REFERENCE = prepared(
  'sandbox-reference-revoke',
  `with revoked as (
     update sandbox_references r set state = 'revoked', revoked_at = now(), revoked_by = $3, credential = null
     where r.id = $1 and r.tenant_id = $2 and r.state = 'active' returning ${COLUMNS}
   ), given_up as (
     update sandbox_files f set sync = 'failed', sync_error = 'access to the external sandbox was revoked'
     where f.sync = 'pending' and f.sandbox_id in (select s.id from sandboxes s where s.reference_id = $1)
   )
   select revoked.*, pg_notify('${REVOCATIONS_CHANNEL}', revoked.id) from revoked`,
);
