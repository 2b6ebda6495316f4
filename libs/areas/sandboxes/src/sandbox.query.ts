import { prepared } from '@slipway/platform-database';

/** A sandbox past its expiry is gone for everybody, whenever the sweep comes round. */
export const ALIVE = `(s.expires_at is null or s.expires_at > now())`;

const ANSWER = `json_build_object(
  'id', s.id, 'provider', s.provider, 'reference_id', s.reference_id, 'state', s.state, 'state_observed_at', slipway_rfc3339(s.state_observed_at),
  'workspace', json_build_object('bytes_used', s.bytes_used, 'bytes_limit', s.bytes_limit, 'file_count', s.file_count),
  'labels', s.labels, 'created_at', slipway_rfc3339(s.created_at), 'expires_at', slipway_rfc3339(s.expires_at))::text as json`;

export interface AnswerRow {
  id: string;
  json: string;
}

/** A local workspace is there as long as we are, so it counts as running; of an external sandbox nothing is known yet. */
export const INSERT_SANDBOX = prepared(
  'sandbox-insert',
  `insert into sandboxes as s (id, tenant_id, provider, reference_id, state, state_observed_at, bytes_limit, labels, expires_at)
   values ($1, $2, $3, $4, case when $3 = 'local' then 'running' else 'unknown' end, case when $3 = 'local' then now() end, $5, $6, $7)
   returning s.id, ${ANSWER}`,
);

export const GET_SANDBOX = prepared(
  'sandbox-get',
  `select s.id, ${ANSWER} from sandboxes s where s.id = $1 and s.tenant_id = $2 and ${ALIVE}`,
);

export const LIST_SANDBOXES = prepared(
  'sandbox-list',
  `select s.id, ${ANSWER} from sandboxes s
   where s.tenant_id = $1 and ($2::text is null or s.id < $2) and ${ALIVE} order by s.id desc limit $3`,
);

/** What an upload has to know of a sandbox. Sizes come as text, because they may exceed what int8 gives safely. */
export interface WorkspaceRow {
  id: string;
  referenceId: string | null;
  bytesUsed: string;
  bytesLimit: string;
}

const WORKSPACE = `s.id, s.reference_id as "referenceId", s.bytes_used as "bytesUsed", s.bytes_limit as "bytesLimit"`;

export const FIND_WORKSPACE = prepared(
  'sandbox-workspace',
  `select ${WORKSPACE} from sandboxes s where s.id = $1 and s.tenant_id = $2 and ${ALIVE}`,
);

/** The row lock orders the uploads of one sandbox, so that quota and the tree of paths are judged one at a time. */
export const LOCK_WORKSPACE = prepared(
  'sandbox-workspace-lock',
  `select ${WORKSPACE} from sandboxes s where s.id = $1 and s.tenant_id = $2 and ${ALIVE} for update`,
);

export const GROW_WORKSPACE = prepared(
  'sandbox-workspace-grow',
  `update sandboxes set bytes_used = bytes_used + $2, file_count = file_count + $3 where id = $1`,
);

export const OBSERVE_SANDBOX = prepared(
  'sandbox-observe',
  `update sandboxes set state = $2, state_observed_at = now() where id = $1`,
);
