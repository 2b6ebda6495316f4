import { prepared } from '@slipway/platform-database';
import type { BindingEntity } from './binding.entity.js';

/** What a qualification works with under the binding's lock. */
export type LockedBinding = Pick<
  BindingEntity,
  'id' | 'product_id' | 'target' | 'revision_id' | 'state' | 'checks' | 'operation_id'
>;
/** What a publication works with; the gateways get the credential. */
export type ServableBinding = Pick<
  BindingEntity,
  'id' | 'product_id' | 'target' | 'revision_id' | 'credential' | 'limits' | 'state' | 'checks'
>;

/** No row when the product has a binding with this digest. The unique index decides, also between two requests at once. */
export const INSERT_BINDING = prepared(
  'model-apis-binding-insert',
  `insert into model_api_target_bindings (id, tenant_id, product_id, target, revision_id, credential, target_digest, limits, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (product_id, target_digest) do nothing returning id`,
);

/** The lock lets one qualification begin or end at a time, and none end while a publication takes the binding. */
export const LOCK_BINDING = prepared(
  'model-apis-binding-lock',
  `select id, product_id, target, revision_id, state, checks, operation_id from model_api_target_bindings where id = $1 and tenant_id = $2 for update`,
);

/** Shared: a qualification that ends meanwhile waits, and two publications with the same bindings do not. Sorted against deadlocks. */
export const SHARE_BINDINGS = prepared(
  'model-apis-bindings-share',
  `select id, product_id, target, revision_id, credential, limits, state, checks from model_api_target_bindings
   where id = any($1) and tenant_id = $2 order by id for share`,
);

/** Appends in one statement: nothing is read before, so nothing that is written between is lost. */
export const ADD_BINDING_CHECK = prepared(
  'model-apis-binding-check',
  `update model_api_target_bindings set checks = checks || $2::jsonb where id = $1`,
);

/** Two revisions that are bound to one server in the same instant: the second waits, and then sees the first. */
export const LOCK_ADOPTED_SERVER = prepared(
  'model-apis-adopted-server-lock',
  `select pg_advisory_xact_lock(hashtextextended('slipway.adopted-server:' || $1::text || ':' || $2::text, 0))`,
);
