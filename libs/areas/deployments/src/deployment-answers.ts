import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { etagOf } from '@slipway/platform-http';
import {
  INSTANCES,
  REVISIONS,
  ROUTES,
  type InstancesPort,
  type RevisionsPort,
  type Route,
  type RoutesPort,
} from '@slipway/ports';
import { conditionsOf, NO_ROUTE, observedState, type Health } from './conditions.js';
import type { DeploymentDto } from './deployment.dto.js';
import type { DeploymentEntity } from './deployment.entity.js';

/** What is true of a deployment beyond its own row. */
export interface Surroundings {
  route: Route | undefined;
  health: Health;
  /** Revision names by id. */
  names: ReadonlyMap<string, string>;
}

/** Makes the answers of this area: rows of `deployments` with what other areas know about them at this moment. */
@Injectable()
export class DeploymentAnswers {
  constructor(
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  async of(tx: Tx, rows: readonly DeploymentEntity[]): Promise<DeploymentDto[]> {
    const ids = rows
      .flatMap((row) => [row.activeRevisionId, row.candidateRevisionId, row.previousRevisionId])
      .filter((id) => id !== null);
    const [revisions, routes] = await Promise.all([
      this.revisions.getMany(tx, [...new Set(ids)]),
      Promise.all(rows.map((row) => this.routes.current(tx, row.id))),
    ]);
    const names = new Map(revisions.map((revision) => [revision.id, revision.name]));
    const healths = await Promise.all(routes.map((route) => healthOf(tx, this.instances, route)));
    return rows.map((row, index) =>
      answerOf(row, { route: routes[index], health: healths[index] as Health, names }, new Date()),
    );
  }
}

/** How the revisions behind a route are doing; those with a weight of 0 serve nobody and do not count. */
export async function healthOf(
  tx: Tx,
  instances: Pick<InstancesPort, 'status'>,
  route: Route | undefined,
): Promise<Health> {
  const serving = route?.targets.filter((target) => target.weight > 0) ?? [];
  if (serving.length === 0) return NO_ROUTE;
  const found = await Promise.all(serving.map((target) => instances.status(tx, target.revisionId)));
  const statuses = found.map((status) => ({
    desired: status?.desired ?? 0,
    ready: Math.min(status?.ready ?? 0, status?.desired ?? 0),
  }));
  return {
    isRouted: true,
    desired: statuses.reduce((sum, status) => sum + status.desired, 0),
    ready: statuses.reduce((sum, status) => sum + status.ready, 0),
    isServing: statuses.every((status) => status.ready > 0),
  };
}

export function deploymentEtag(row: { id: string; version: number }, route: Route | undefined): string {
  return etagOf(row.id, row.version, route?.generation ?? 0);
}

export function answerOf(row: DeploymentEntity, { route, health, names }: Surroundings, now: Date): DeploymentDto {
  const nameOf = (id: string | null) => (id === null ? null : (names.get(id) ?? null));
  const state = observedState(row.state, health);
  return {
    id: row.id,
    name: row.name,
    display_name: row.displayName,
    description: row.description,
    labels: row.labels,
    environment: row.environment,
    default_strategy: row.defaultStrategy,
    revision_history_limit: row.revisionHistoryLimit,
    state,
    conditions: conditionsOf(row.conditions, { state, currentOperationId: row.currentOperationId, health }, now),
    active_revision: nameOf(row.activeRevisionId),
    candidate_revision: nameOf(row.candidateRevisionId),
    previous_revision: nameOf(row.previousRevisionId),
    route: route ? routeOf(route) : null,
    current_operation_id: row.currentOperationId,
    etag: deploymentEtag(row, route),
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

function routeOf(route: Route): DeploymentDto['route'] {
  return {
    generation: route.generation,
    targets: route.targets.map((target) => ({ revision: target.revisionName, weight: target.weight })),
    affinity: { mode: route.affinity.mode, ttl_seconds: route.affinity.ttlSeconds },
  };
}
