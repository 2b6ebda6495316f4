import { DATAPLANE_CHANNEL, type MediaUrls } from '@slipway/contracts';
import { assignSlots, type WeightedRevision } from './slots.js';
import type { Affinity, PublishedHold, RouteDestination } from './published.js';
import type { NamedSql, QueryClient } from '../sql.js';

export interface RoutePublication {
  tenantId: string;
  deploymentId: string;
  deploymentName: string;
  /** Must grow with each change of the route. */
  generation: number;
  /**
   * The revisions of the route, named as in the column and the API. Empty if the deployment has no route: its requests
   * answer 503 instead of 404.
   */
  targets: readonly (WeightedRevision & { revisionName: string })[];
  affinity: Affinity;
  /**
   * Holds new requests while this generation is current. Absent: waiting requests continue by this generation's
   * weights. Without `since` it begins now.
   */
  hold?: Omit<PublishedHold, 'since'> & Partial<Pick<PublishedHold, 'since'>>;
  /** Of a deployment that is published for the first time; later `publishMediaUrls` changes them. Absent: any. */
  mediaUrls?: MediaUrls;
}

export class StaleGenerationError extends Error {
  constructor(deploymentId: string, generation: number) {
    super(`a generation ≥ ${generation} of the route of ${deploymentId} is already published`);
    this.name = 'StaleGenerationError';
  }
}

const LOCK_ROUTE: NamedSql = {
  name: 'dataplane_lock_route',
  text: 'select slots, targets from dataplane_routes where deployment_id = $1 for update',
};

/**
 * The condition on the generation stops a delayed writer from restoring an older route. The rule for media belongs to
 * the deployment, so generations of its route keep it.
 */
const WRITE_ROUTE: NamedSql = {
  name: 'dataplane_write_route',
  text: `
    with written as (
      insert into dataplane_routes (deployment_id, tenant_id, deployment_name, generation, slots, targets, affinity, hold, media_urls)
      values ($1, $2, $3, $4, $5, $6, $7, jsonb_build_object('since', clock_timestamp()) || $8::jsonb, $9)
      on conflict (deployment_id) do update set
        deployment_name = excluded.deployment_name, generation = excluded.generation, slots = excluded.slots,
        targets = excluded.targets, affinity = excluded.affinity, hold = excluded.hold,
        updated_at = now()
      where dataplane_routes.generation < excluded.generation
      returning deployment_id)
    select pg_notify('${DATAPLANE_CHANNEL}', 'route:' || deployment_id) from written`,
};

/** Leaves the generation as it is. It uses the clock's time, because the row may have been published in this transaction. */
const WRITE_MEDIA_URLS: NamedSql = {
  name: 'dataplane_write_media_urls',
  text: `
    with written as (
      update dataplane_routes set media_urls = $2, updated_at = clock_timestamp() where deployment_id = $1 returning deployment_id)
    select pg_notify('${DATAPLANE_CHANNEL}', 'route:' || deployment_id) from written`,
};

const DELETE_ROUTE: NamedSql = {
  name: 'dataplane_delete_route',
  text: `
    with deleted as (delete from dataplane_routes where deployment_id = $1 returning deployment_id)
    select pg_notify('${DATAPLANE_CHANNEL}', 'route:' || deployment_id) from deleted`,
};

/**
 * Publishes a generation of a route to the gateways, in the transaction of the change itself; they follow its commit.
 * Reassigns as few slots of the previous generation as possible.
 * @returns the revision id of each of the 100 slots (empty without targets)
 * @throws RangeError for invalid weights, StaleGenerationError for a generation that is not newer
 */
export async function publishRoute(tx: QueryClient, route: RoutePublication): Promise<{ slots: string[] }> {
  const [previous] = await tx.query<{ slots: number[]; targets: RouteDestination[] }>(LOCK_ROUTE, [route.deploymentId]);
  const before = previous ? previous.slots.map((index) => previous.targets[index]?.revision_id ?? '') : [];
  const slots = route.targets.length === 0 ? [] : assignSlots(before, route.targets);
  const indexOf = new Map(route.targets.map(({ revisionId }, index) => [revisionId, index]));
  const targets: RouteDestination[] = route.targets.map((revision) => ({
    revision_id: revision.revisionId,
    revision_name: revision.revisionName,
    weight: revision.weight,
  }));
  const written = await tx.query(WRITE_ROUTE, [
    route.deploymentId,
    route.tenantId,
    route.deploymentName,
    route.generation,
    slots.map((revisionId) => indexOf.get(revisionId)),
    JSON.stringify(targets),
    JSON.stringify({ mode: route.affinity.mode, ttl_seconds: route.affinity.ttl_seconds }),
    route.hold ? JSON.stringify(route.hold) : null,
    route.mediaUrls ? JSON.stringify(route.mediaUrls) : null,
  ]);
  if (written.length === 0) throw new StaleGenerationError(route.deploymentId, route.generation);
  return { slots };
}

/** Changes which URLs of media the requests of a deployment may name. Does nothing if it is not published. */
export async function publishMediaUrls(tx: QueryClient, deploymentId: string, mediaUrls: MediaUrls): Promise<void> {
  await tx.query(WRITE_MEDIA_URLS, [deploymentId, JSON.stringify(mediaUrls)]);
}

/** Removes a deployment from the gateways, which do not know it from the commit on. Does nothing if it was unknown. */
export async function unpublishRoute(tx: QueryClient, deploymentId: string): Promise<void> {
  await tx.query(DELETE_ROUTE, [deploymentId]);
}
