import { WORKER, type Actor, type RevisionState } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { publishRoute } from '@slipway/dataplane';
import type { Reads, Tx } from '@slipway/platform-database';
import { appendEvents } from '@slipway/platform-durable/events';
import { lockBeforeEvents, operationErrors } from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import type { Route, RouteAffinity, RouteChange, RouteHold, RoutesPort, RouteTarget } from '@slipway/ports/routing';
import { RouteEntity, type StoredHold, type StoredTarget, TrafficOwnerEntity } from './route.entity.js';
import { routeErrors } from './route.errors.js';
import { CURRENT_ROUTE, CURRENT_ROUTES, TAKE_TRAFFIC } from './route.query.js';
import { isSameRoute, routeMovement, weightIssues } from './weights.js';

interface StoredRoute {
  deploymentId: string;
  generation: number;
  targets: StoredTarget[];
  affinity: { mode: 'none' | 'soft'; ttl_seconds: number };
  hold: StoredHold | null;
  heldSeconds: number | null;
  /** RFC 3339, by the clock of Postgres. */
  now: string;
}

/** The next generation of a route, with its author and reason. */
type NextRoute = Pick<
  RouteChange,
  'tenantId' | 'deploymentId' | 'deploymentName' | 'targets' | 'updatedBy' | 'reason' | 'operationId'
> & { generation: number; affinity: RouteAffinity; hold: StoredHold | null };

export const DEFAULT_AFFINITY: RouteAffinity = { mode: 'soft', ttlSeconds: 600 };
const SERVABLE: readonly RevisionState[] = ['ready', 'active', 'standby'];

/** Routes and the owner of their traffic, for this area's service and, through the port, for operations. */
@Injectable()
export class RouteStore implements RoutesPort {
  constructor(
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  async current(tx: Tx, deploymentId: string): Promise<Route | undefined> {
    const row = await this.row(tx, deploymentId);
    return row && row.targets.length > 0 ? routeOf(deploymentId, row) : undefined;
  }

  async currentOf(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, Route>> {
    const rows = await reads.find<StoredRoute & { key: string }>(CURRENT_ROUTES, deploymentIds);
    return new Map(rows.map((row) => [row.key, routeOf(row.key, row)]));
  }

  async apply(tx: Tx, change: RouteChange): Promise<Route> {
    const { deploymentId, targets } = change;
    const issues = weightIssues(targets);
    if (issues.length > 0) throw routeErrors.route_weights_invalid({ details: issues });
    const row = await this.row(tx, deploymentId);
    const before = row && routeOf(deploymentId, row);
    const affinity = change.affinity ?? before?.affinity ?? DEFAULT_AFFINITY;
    const isHoldNews = Boolean(before?.hold || change.hold);
    if (before && !isHoldNews && isSameRoute(before, { targets, affinity })) return before;
    const { joined, left } = routeMovement(before?.targets ?? [], targets);
    await this.retainInstances(tx, joined);
    if (!change.isRestore && !change.hold) await this.assertReady(tx, before, targets);
    await this.releaseInstances(tx, left, change.keepPreviousSeconds);
    const generation = (before?.generation ?? 0) + 1;
    const hold = row && change.hold ? storedHold(change.hold, row) : null;
    await this.write(tx, { ...change, targets, affinity, generation, hold });
    return { deploymentId, generation, targets, affinity };
  }

  async remove(tx: Tx, deploymentId: string, actor: Actor, operationId?: string): Promise<void> {
    const before = await this.current(tx, deploymentId);
    const deployment = before && (await this.deployments.lockById(tx, deploymentId));
    if (!deployment) return;
    await this.releaseInstances(
      tx,
      before.targets.map((target) => target.revisionId),
      0,
    );
    await this.write(tx, {
      tenantId: deployment.tenantId,
      deploymentId,
      deploymentName: deployment.name,
      targets: [],
      affinity: before.affinity,
      generation: before.generation + 1,
      hold: null,
      updatedBy: actor,
      operationId,
      reason: null,
    });
  }

  /**
   * Checks that every target whose share of the traffic grows can serve it: now, or once a request wakes it. A revision
   * that is down may keep a share or lose a part of it: refusing that would keep all of the traffic where it is.
   * @throws revision_not_ready (409), with the revisions that cannot
   */
  async assertReady(tx: Tx, before: Route | undefined, targets: readonly RouteTarget[]): Promise<void> {
    // While requests are held, the shares are not checked.
    const known = before?.hold ? [] : (before?.targets ?? []);
    const weights = new Map(known.map(({ revisionId, weight }) => [revisionId, weight]));
    const serving = targets.filter(({ revisionId, weight }) => weight > (weights.get(revisionId) ?? 0));
    const revisions = new Map(
      (
        await this.revisions.getMany(
          tx,
          serving.map((target) => target.revisionId),
        )
      ).map((revision) => [revision.id, revision]),
    );
    const statuses = await Promise.all(serving.map((target) => this.instances.status(tx, target.revisionId)));
    const unready = serving.filter((target, index) => {
      const state = revisions.get(target.revisionId)?.state;
      const { ready = 0, isAsleep = false } = statuses[index] ?? {};
      return state === undefined || !SERVABLE.includes(state) || (ready === 0 && !isAsleep);
    });
    if (unready.length === 0) return;
    const names = unready.map((target) => target.revisionName);
    const states = unready.map(
      (target) =>
        `${target.revisionName} is ${revisions.get(target.revisionId)?.state ?? 'unknown'} and has no ready instance`,
    );
    throw routeErrors.revision_not_ready({
      message: `Revisions are not ready: ${states.join('; ')}.`,
      extra: { revision: names[0], revisions: names },
    });
  }

  async trafficOwner(tx: Tx, deploymentId: string): Promise<string | undefined> {
    return (await tx.repository(TrafficOwnerEntity).findOneBy({ deploymentId }))?.operationId;
  }

  async takeTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void> {
    const tenantId = tx.tenantId ?? (await this.deployments.lockById(tx, deploymentId))?.tenantId;
    if (await tx.one(TAKE_TRAFFIC, [deploymentId, tenantId, operationId])) return;
    const owner = await this.trafficOwner(tx, deploymentId);
    if (owner === operationId) return;
    throw operationErrors.operation_in_progress({
      message: `Operation ${owner} controls the traffic of this deployment.`,
      extra: { operation_id: owner },
    });
  }

  async releaseTraffic(tx: Tx, deploymentId: string, operationId: string): Promise<void> {
    const { affected } = await tx.repository(TrafficOwnerEntity).delete({ deploymentId, operationId });
    if (affected) await this.endHold(tx, deploymentId, operationId);
  }

  async passTraffic(tx: Tx, deploymentId: string, from: string, to: string): Promise<void> {
    await tx
      .repository(TrafficOwnerEntity)
      .update({ deploymentId, operationId: from }, { operationId: to, since: () => 'now()' });
  }

  /** Releases waiting requests to the current route. Does nothing if there is no hold. */
  async endHold(tx: Tx, deploymentId: string, operationId?: string): Promise<void> {
    const before = await this.current(tx, deploymentId);
    const deployment = before?.hold && (await this.deployments.lockById(tx, deploymentId));
    if (!deployment) return;
    const { targets, affinity, generation } = before;
    await this.write(tx, {
      tenantId: deployment.tenantId,
      deploymentId,
      deploymentName: deployment.name,
      targets,
      affinity,
      generation: generation + 1,
      hold: null,
      updatedBy: WORKER,
      operationId,
      reason: null,
    });
  }

  private row(tx: Tx, deploymentId: string): Promise<StoredRoute | undefined> {
    return tx.one<StoredRoute>(CURRENT_ROUTE, [deploymentId]);
  }

  /**
   * Retains revisions that join the route. It runs before readiness is checked: a reconciler that is stopping one of
   * them has its row locked, so the read after this wait sees the result.
   */
  async retainInstances(tx: Tx, revisionIds: readonly string[]): Promise<void> {
    for (const id of revisionIds) {
      // A dark revision may have been retired long ago. The route names it, but does not start it.
      if (await this.instances.status(tx, id)) await this.instances.retain(tx, id, 'route');
    }
  }

  private async releaseInstances(tx: Tx, revisionIds: readonly string[], keepSeconds: number): Promise<void> {
    for (const id of revisionIds) {
      if (keepSeconds > 0) await this.instances.retain(tx, id, 'warm', keepSeconds);
      await this.instances.release(tx, id, 'route');
    }
  }

  private async write(tx: Tx, next: NextRoute): Promise<void> {
    const { tenantId, deploymentId, deploymentName, generation, targets, updatedBy, reason = null, operationId } = next;
    const { hold } = next;
    const affinity = { mode: next.affinity.mode, ttl_seconds: next.affinity.ttlSeconds };
    const { slots } = await publishRoute(tx, {
      tenantId,
      deploymentId,
      deploymentName,
      generation,
      targets,
      affinity,
      hold: hold ?? undefined,
    });
    const indexOf = new Map(targets.map((target, index) => [target.revisionId, index]));
    const stored = targets.map((target) => ({
      revision_id: target.revisionId,
      revision_name: target.revisionName,
      weight: target.weight,
    }));
    const route = {
      generation,
      targets: stored,
      slots: slots.map((id) => indexOf.get(id) as number),
      affinity,
      hold,
      reason,
      updatedBy,
    };
    // The caller holds the deployment's lock, so no other transaction writes this row. The first generation inserts it.
    const routes = tx.repository(RouteEntity);
    if (generation === 1) await routes.insert({ deploymentId, tenantId, ...route });
    else await routes.update({ deploymentId, tenantId }, { ...route, updatedAt: () => 'now()' });
    if (operationId) await lockBeforeEvents(tx, operationId);
    const data = {
      generation,
      targets: targets.map((target) => ({ revision: target.revisionName, weight: target.weight })),
      affinity,
      reason,
      ...(hold && { hold }),
    };
    await appendEvents(tx, tenantId, deploymentStream(deploymentId), [
      { type: 'route.updated', subject: `deployments/${deploymentName}`, actor: updatedBy, operationId, data },
    ]);
  }
}

function routeOf(deploymentId: string, row: StoredRoute): Route {
  return {
    deploymentId,
    generation: row.generation,
    targets: row.targets.map((target) => ({
      revisionId: target.revision_id,
      revisionName: target.revision_name,
      weight: target.weight,
    })),
    affinity: { mode: row.affinity.mode, ttlSeconds: row.affinity.ttl_seconds },
    hold: row.hold && {
      maxSeconds: row.hold.max_seconds,
      estimatedSeconds: row.hold.estimated_seconds,
      since: row.hold.since,
      heldSeconds: row.heldSeconds as number,
    },
  };
}

/** Stores a hold. A hold that follows another one keeps its start. */
function storedHold({ maxSeconds, estimatedSeconds }: RouteHold, { hold, now }: StoredRoute): StoredHold {
  return { max_seconds: maxSeconds, estimated_seconds: estimatedSeconds, since: hold?.since ?? now };
}
