import { Inject, Injectable } from '@nestjs/common';
import { Database, type Reads, type Tx } from '@slipway/platform-database';
import {
  assertPreconditions,
  etagOf,
  jsonPatch,
  rehearsal,
  reply,
  type ExistenceCheck,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import type { RouteAffinity, RouteTarget } from '@slipway/ports/routing';
import type { RouteDto, SetRouteDto } from './route.dto.js';
import type { RouteEntity } from './route.entity.js';
import { routeErrors } from './route.errors.js';
import { ROUTE_ANSWERS } from './route.query.js';
import { DEFAULT_AFFINITY, RouteStore } from './route.store.js';
import { weightIssues } from './weights.js';

/** How long a revision that leaves the route stays warm, so that a rollback takes effect immediately. */
const KEEP_PREVIOUS_SECONDS = 3600;

/** A row of `ROUTE_ANSWERS`. */
type RouteAnswerRow = Pick<RouteEntity, 'generation' | 'targets' | 'affinity' | 'hold' | 'reason' | 'updatedBy'> & {
  /** RFC 3339. */
  updatedAt: string;
};

export interface RouteRequest {
  principal: Principal;
  deploymentName: string;
  body: SetRouteDto;
  conditions: Preconditions;
  isDryRun: boolean;
}

@Injectable()
export class RoutesService implements ExistenceCheck {
  constructor(
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly store: RouteStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
  ) {}

  async get(who: Principal, deploymentName: string): Promise<Reply<RouteDto>> {
    const { tenantId } = who;
    const id = await this.deployments.idOf(tenantId, deploymentName);
    const answer = await this.find(this.database.lookups({ tenantId }), { id, tenantId, name: deploymentName });
    if (!answer) throw routeErrors.route_not_found();
    return reply(200, answer, { etag: answer.etag });
  }

  /**
   * Locks, finds (404), checks weights (422), compares (412), checks the owner and readiness (409) and writes, in this
   * order.
   */
  set(request: RouteRequest): Promise<Reply> {
    const { principal, deploymentName, isDryRun } = request;
    return this.mutations.run({ principal, isDryRun }, async (tx) => {
      const deployment = await this.deployments.lock(tx, principal.tenantId, deploymentName);
      const targets = await this.resolve(tx, deployment, request.body);
      const issues = weightIssues(targets);
      if (issues.length > 0)
        throw routeErrors.route_weights_invalid({
          message: `${issues[0]?.field}: ${issues[0]?.message}.`,
          details: issues,
        });
      const before = await this.find(tx, deployment);
      assertPreconditions(request.conditions, before?.etag);
      await this.assertUnowned(tx, deployment);
      await this.write(tx, request, deployment, targets);
      const after = (await this.find(tx, deployment)) as RouteDto;
      const isChanged = after.generation !== before?.generation;
      if (isDryRun)
        return rehearsal(
          isChanged ? `set the route of ${deployment.name}` : 'change nothing',
          [],
          jsonPatch(before, after),
        );
      if (isChanged)
        await appendAudit(tx, {
          action: 'route.set',
          resourceType: 'deployment',
          resourceName: deployment.name,
          before,
          after,
        });
      return reply(200, after, { etag: after.etag });
    });
  }

  async assertExists(tenantId: string, params: Record<string, string>): Promise<void> {
    await this.deployments.idOf(tenantId, params['name'] as string);
  }

  private async resolve(tx: Tx, deployment: Deployment, body: SetRouteDto): Promise<RouteTarget[]> {
    const wanted = body.targets ?? [{ revision: body.revision as string, weight: 100 }];
    const targets: RouteTarget[] = [];
    for (const { revision: reference, weight } of wanted) {
      const revision = await this.revisions.find(tx, deployment.id, reference);
      targets.push({ revisionId: revision.id, revisionName: revision.name, weight });
    }
    return targets;
  }

  private async assertUnowned(tx: Tx, deployment: Deployment): Promise<void> {
    const owner = await this.store.trafficOwner(tx, deployment.id);
    if (owner === undefined) return;
    throw routeErrors.route_owned_by_operation({
      message: `Operation ${owner} controls the traffic of deployment ${deployment.name}.`,
      extra: { operation_id: owner },
    });
  }

  private async write(
    tx: Tx,
    { principal, body }: RouteRequest,
    deployment: Deployment,
    targets: RouteTarget[],
  ): Promise<void> {
    const sole = targets.find((target) => target.weight === 100);
    // `apply` checks this too, but an activation would make the revision look ready to it. Reasons to retain come
    // before revisions, in the order in which the reconciler locks them.
    await this.store.retainInstances(tx, sole ? [sole.revisionId] : []);
    await this.store.assertReady(tx, await this.store.current(tx, deployment.id), targets);
    if (sole && sole.revisionId !== deployment.activeRevisionId) {
      await this.revisions.activated(tx, {
        deploymentId: deployment.id,
        revisionId: sole.revisionId,
        operationId: null,
      });
    }
    // Last, because it appends the event, and the stream's lock is the last one to take.
    await this.store.apply(tx, {
      tenantId: deployment.tenantId,
      deploymentId: deployment.id,
      deploymentName: deployment.name,
      targets,
      affinity: affinityOf(body),
      updatedBy: principal.actor,
      reason: body.reason ?? null,
      keepPreviousSeconds: KEEP_PREVIOUS_SECONDS,
    });
  }

  private async find(
    reads: Reads,
    { id, tenantId, name }: Pick<Deployment, 'id' | 'tenantId' | 'name'>,
  ): Promise<RouteDto | undefined> {
    const [row] = await reads.find<RouteAnswerRow>(ROUTE_ANSWERS, [id], [tenantId]);
    return row && answerOf(id, name, row);
  }
}

/** The short form changes only the revision. The full form is the whole route. */
function affinityOf(body: SetRouteDto): RouteAffinity | undefined {
  if (body.affinity) return { mode: body.affinity.mode, ttlSeconds: body.affinity.ttl_seconds };
  return body.targets ? DEFAULT_AFFINITY : undefined;
}

function answerOf(deploymentId: string, deploymentName: string, row: RouteAnswerRow): RouteDto {
  return {
    deployment: deploymentName,
    generation: row.generation,
    targets: row.targets.map((target) => ({ revision: target.revision_name, weight: target.weight })),
    affinity: { mode: row.affinity.mode, ttl_seconds: row.affinity.ttl_seconds },
    hold: row.hold,
    reason: row.reason,
    etag: etagOf(deploymentId, row.generation),
    updated_by: row.updatedBy,
    updated_at: row.updatedAt,
  };
}
