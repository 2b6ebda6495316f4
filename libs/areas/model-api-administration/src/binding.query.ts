import { prepared } from '@slipway/platform-database';
import type { BindingDto, BoundTargetDto } from './binding.dto.js';

const COLUMNS = `b.id, b.product_id, b.target, b.target_digest, b.limits, b.state,
  jsonb_build_object('checked_at', slipway_rfc3339(b.checked_at), 'checks', b.checks) as qualification, slipway_rfc3339(b.created_at) as created_at`;

/** What a qualification and a publication work with; the one statement that reads the credential. */
export interface BindingRow {
  id: string;
  tenantId: string;
  productId: string;
  target: BoundTargetDto;
  revisionId: string | null;
  credential: string | null;
  limits: { max_rps: number | null; max_concurrency: number | null };
  state: BindingDto['state'];
  checks: { name: string; passed: boolean; message: string; duration_ms: number | null }[];
  operationId: string | null;
}

const ROW = `b.id, b.tenant_id "tenantId", b.product_id "productId", b.target, b.revision_id "revisionId", b.credential, b.limits, b.state, b.checks, b.operation_id "operationId"`;

/** No row when the product has a binding with this digest. The unique index decides, also between two requests at once. */
export const INSERT_BINDING = prepared(
  'model-api-binding-insert',
  `insert into model_api_target_bindings as b (id, tenant_id, product_id, target, revision_id, credential, target_digest, limits, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (product_id, target_digest) do nothing returning ${COLUMNS}`,
);

export const FIND_TWIN = prepared(
  'model-api-binding-twin',
  `select id from model_api_target_bindings where product_id = $1 and target_digest = $2`,
);

export const LIST_BINDINGS = prepared(
  'model-api-binding-list',
  `select ${COLUMNS} from model_api_target_bindings b where b.tenant_id = $1 and ($2::text is null or b.id < $2) order by b.id desc limit $3`,
);

export const FIND_BINDING = prepared(
  'model-api-binding-find',
  `select ${COLUMNS} from model_api_target_bindings b where b.tenant_id = $1 and b.id = $2`,
);

export const LOCK_BINDING = prepared(
  'model-api-binding-lock',
  `select ${ROW} from model_api_target_bindings b where b.id = $1 and b.tenant_id = $2 for update`,
);

/** Shared: a qualification that ends meanwhile waits, and two publications with the same bindings do not. Sorted against deadlocks. */
export const SHARE_BINDINGS = prepared(
  'model-api-bindings-share',
  `select ${ROW} from model_api_target_bindings b where b.id = any($1) and b.tenant_id = $2 order by b.id for share`,
);

export const READ_BINDING = prepared(
  'model-api-binding-read',
  `select ${ROW} from model_api_target_bindings b where b.id = $1 and b.tenant_id = $2`,
);

export const BEGIN_QUALIFICATION = prepared(
  'model-api-binding-begin',
  `update model_api_target_bindings set operation_id = $2 where id = $1`,
);
export const CLEAR_CHECKS = prepared(
  'model-api-binding-clear',
  `update model_api_target_bindings set checks = '[]' where id = $1`,
);
export const ADD_CHECK = prepared(
  'model-api-binding-check',
  `update model_api_target_bindings set checks = checks || $2::jsonb where id = $1`,
);

/** Frees the row for the next qualification, whether or not the state changes ($2 null = it stays). */
export const END_QUALIFICATION = prepared(
  'model-api-binding-end',
  `update model_api_target_bindings set operation_id = null, state = coalesce($2, state), checked_at = now() where id = $1`,
);

export const IS_PUBLISHED = prepared(
  'model-api-binding-published',
  `select 1 as found from model_api_publications where product_id = $1 and state = 'published' and bindings @> jsonb_build_array(jsonb_build_object('binding_id', $2::text))`,
);
