import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import type { BackendSleep, AddressGuard, PublishedInstance } from './published.js';
import type { NamedSql, QueryClient } from '../sql.js';

export interface BackendPublication {
  revisionId: string;
  revisionName: string;
  tenantId: string;
  deploymentId: string;
  /** The model name that upstream gets as `model`. */
  modelId: string;
  instances: readonly PublishedInstance[];
  /** The credential sealed by `sealSecret` with its `backendContext`, or null. */
  credential: string | null;
  /** Required for instances of an endpoint target; null for child processes of this host. */
  guard: AddressGuard;
  /** Absent or null if it does not sleep. */
  asleep?: BackendSleep | null;
}

const WRITE_BACKEND: NamedSql = {
  name: 'dataplane_write_backend',
  text: `
    with written as (
      insert into dataplane_backends (revision_id, tenant_id, deployment_id, revision_name, model_id, instances, credential, guard, asleep)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
      on conflict (revision_id) do update set
        model_id = excluded.model_id, instances = excluded.instances, credential = excluded.credential,
        guard = excluded.guard, asleep = excluded.asleep, version = dataplane_backends.version + 1, updated_at = now()
      returning revision_id)
    select pg_notify('${DATAPLANE_CHANNEL}', 'backend:' || revision_id) from written`,
};

const DELETE_BACKEND: NamedSql = {
  name: 'dataplane_delete_backend',
  text: `
    with deleted as (delete from dataplane_backends where revision_id = $1 returning revision_id)
    select pg_notify('${DATAPLANE_CHANNEL}', 'backend:' || revision_id) from deleted`,
};

/**
 * Publishes rows again without a change: their stamp changes, and gateways read them again. It uses the clock's time,
 * because a row may have been published in this transaction before.
 */
export const ANNOUNCE_BACKENDS: NamedSql = {
  name: 'dataplane_announce_backends',
  text: `
    with written as (
      update dataplane_backends set version = version + 1, updated_at = clock_timestamp() where revision_id = any($1) returning revision_id)
    select pg_notify('${DATAPLANE_CHANNEL}', 'backend:' || revision_id) from written`,
};

/** Publishes the instances of a revision to gateways, in the transaction that records their state. Replaces the row. */
export async function publishBackend(tx: QueryClient, backend: BackendPublication): Promise<void> {
  await tx.query(WRITE_BACKEND, [
    backend.revisionId,
    backend.tenantId,
    backend.deploymentId,
    backend.revisionName,
    backend.modelId,
    JSON.stringify(backend.instances.map(publishedInstance)),
    backend.credential,
    backend.guard === null ? null : JSON.stringify({ allow: backend.guard.allow }),
    backend.asleep ? JSON.stringify(backend.asleep) : null,
  ]);
}

function publishedInstance({ id, base_url, api_path, state, key }: PublishedInstance): PublishedInstance {
  return { id, base_url, ...(api_path !== undefined && { api_path }), state, ...(key && { key }) };
}

/** Makes the gateways forget a revision. Requests in flight finish. */
export async function withdrawBackend(tx: QueryClient, revisionId: string): Promise<void> {
  await tx.query(DELETE_BACKEND, [revisionId]);
}
