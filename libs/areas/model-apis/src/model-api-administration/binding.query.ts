import { prepared } from '@slipway/platform-database';
import type { BindingEntity } from './binding.entity.js';

/** The columns that a qualification reads under the binding's lock. */
export type LockedBinding = Pick<
  BindingEntity,
  'id' | 'product_id' | 'target' | 'revision_id' | 'state' | 'checks' | 'operation_id'
>;
/** The columns that a publication needs. The gateways get the credential. */
export type ServableBinding = Pick<
  BindingEntity,
  'id' | 'product_id' | 'target' | 'revision_id' | 'credential' | 'limits' | 'state' | 'checks'
>;

/**
 * Returns no row if the product has a binding with this digest. The unique index decides, also between concurrent
 * requests.
 */
export const INSERT_BINDING = prepared(
  'model-apis-binding-insert',
  `insert into model_api_target_bindings (id, tenant_id, product_id, target, revision_id, credential, target_digest, limits, created_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict (product_id, target_digest) do nothing returning id`,
);

/** Under the lock one qualification begins or ends at a time, and none ends while a publication takes the binding. */
export const LOCK_BINDING = prepared(
  'model-apis-binding-lock',
  `select id, product_id, target, revision_id, state, checks, operation_id from model_api_target_bindings where id = $1 and tenant_id = $2 for update`,
);

/**
 * A shared lock: a qualification that ends in the meantime waits, but two publications with the same bindings do not.
 * Sorted against deadlocks.
 */
export const SHARE_BINDINGS = prepared(
  'model-apis-bindings-share',
  `select id, product_id, target, revision_id, credential, limits, state, checks from model_api_target_bindings
   where id = any($1) and tenant_id = $2 order by id for share`,
);

/** Appends in one statement: it reads nothing first, so no concurrent write is lost. */
export const ADD_BINDING_CHECK = prepared(
  'model-apis-binding-check',
  `update model_api_target_bindings set checks = checks || $2::jsonb where id = $1`,
);

/** If two revisions are bound to one server at the same moment, the second waits, and then sees the first. */
export const LOCK_ADOPTED_SERVER = prepared(
  'model-apis-adopted-server-lock',
  `select pg_advisory_xact_lock(hashtextextended('slipway.adopted-server:' || $1::text || ':' || $2::text, 0))`,
);

export interface FaultyBinding {
  id: string;
  tenant_id: string;
  slug: string;
  fault: string;
}

const IS_DUE = `coalesce((b.reported_faults->>s.fault)::timestamptz < now() - interval '1 hour', true)`;

/**
 * Marks faults ($2) of bindings ($1) as reported, at most $3 of them, and none that was reported less than an hour ago.
 * Returns one fault of each binding; the next run finds the others. Of two concurrent runs, the second waits for the row
 * and finds the fault marked.
 */
export const CLAIM_BINDING_FAULTS = prepared(
  'model-apis-binding-faults-claim',
  `with due as (
     select s.id, s.fault from unnest($1::text[], $2::text[]) as s(id, fault)
     join model_api_target_bindings b on b.id = s.id where ${IS_DUE} limit $3
   )
   update model_api_target_bindings b set reported_faults = b.reported_faults || jsonb_build_object(s.fault, now())
   from due s, model_api_products p where b.id = s.id and p.id = b.product_id and ${IS_DUE}
   returning b.id, b.tenant_id, p.slug, s.fault`,
);
