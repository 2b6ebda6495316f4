import { prepared } from '@slipway/platform-database';

const ANSWER = `json_build_object(
  'path', f.path, 'size_bytes', f.size_bytes, 'sha256', f.sha256, 'mode', f.mode, 'modified_at', slipway_rfc3339(f.modified_at),
  'sync', f.sync, 'sync_error', f.sync_error, 'sync_operation_id', f.sync_operation_id)::text as json`;

export interface FileAnswerRow {
  path: string;
  json: string;
}

export const LIST_FILES = prepared(
  'sandbox-file-list',
  `select f.path, ${ANSWER} from sandbox_files f
   where f.sandbox_id = $1 and f.tenant_id = $2 and ($3::text is null or f.path > $3) order by f.path limit $4`,
);

export interface FileRow {
  blob: string;
  sizeBytes: string;
  sha256: string;
  modifiedAt: Date;
}

const COLUMNS = `f.blob, f.size_bytes as "sizeBytes", f.sha256, f.modified_at as "modifiedAt"`;

export const FIND_FILE = prepared(
  'sandbox-file-find',
  `select ${COLUMNS} from sandbox_files f where f.sandbox_id = $1 and f.path = $2 and f.tenant_id = $3`,
);

/** Whether a path cannot be because a folder on its way is a file ($3 = those folders), or because it is itself a folder. */
export const FIND_OBSTACLE = prepared(
  'sandbox-file-obstacle',
  `select f.path from sandbox_files f
   where f.sandbox_id = $1 and (f.path = any($3) or (f.path >= $2 || '/' and f.path < $2 || '0')) limit 1`,
);

/** '0' is the character after '/', so the range above is exactly what lies under the path. */
export const UPSERT_FILE = prepared(
  'sandbox-file-upsert',
  `insert into sandbox_files as f (sandbox_id, path, tenant_id, blob, size_bytes, sha256, mode, sync, sync_operation_id)
   values ($1, $2, $3, $4, $5, $6, $7, case when $8::text is null then 'none' else 'pending' end, $8)
   on conflict (sandbox_id, path) do update set blob = excluded.blob, size_bytes = excluded.size_bytes, sha256 = excluded.sha256, mode = excluded.mode,
     modified_at = now(), sync = excluded.sync, sync_error = null, sync_operation_id = excluded.sync_operation_id
   returning f.path, ${ANSWER}`,
);

/** What a push needs to know of the file as it is now, the sealed credential included; only the worker asks. */
export interface PushRow {
  blob: string;
  sizeBytes: string;
  referenceId: string;
  provider: 'e2b' | 'daytona' | 'custom';
  baseUrl: string;
  externalId: string;
  credential: string | null;
  state: 'active' | 'revoked';
}

export const FIND_PUSH = prepared(
  'sandbox-file-push',
  `select f.blob, f.size_bytes as "sizeBytes", r.id as "referenceId", r.provider, r.base_url as "baseUrl", r.external_id as "externalId", r.credential, r.state
   from sandbox_files f join sandboxes s on s.id = f.sandbox_id join sandbox_references r on r.id = s.reference_id
   where f.sandbox_id = $1 and f.path = $2`,
);

/** Notes how a push stands; a file that was replaced meanwhile has a push of its own and is left alone. */
export const SET_SYNC = prepared(
  'sandbox-file-sync',
  `update sandbox_files set sync = $4, sync_error = $5 where sandbox_id = $1 and path = $2 and blob = $3 and (sync <> 'failed' or $4 <> 'failed') returning path`,
);
