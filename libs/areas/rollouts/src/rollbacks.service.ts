import type { Actor } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { errors, jsonPatch, type IdempotencyClaim, type Principal, type Reply } from '@slipway/platform-http';
import type { NewEvent } from '@slipway/platform-durable/events';
import {
  operationErrors,
  OperationRequests,
  OperationStore,
  type OperationRow,
} from '@slipway/platform-durable/operations';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { ROUTES, type Route, type RoutesPort } from '@slipway/ports/routing';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import { capacityAnswer, CapacityPlanner } from './acceptance.js';
import { ROLLBACK } from './rollback.operation.js';
import type { RollbackDto } from './rollout.dto.js';
import { rollbackErrors } from './rollout.errors.js';
import {
  changeoverResult,
  movesTraffic,
  rollbackSteps,
  targetMessage,
  type RollbackInput,
  type RolloutInput,
} from './rollout.input.js';
import { ROLLOUT } from './rollout.operation.js';
import { Candidate } from './steps/candidate.js';
import { isDown } from './steps/passage.js';

export interface RollbackRequest {
  principal: Principal;
  deploymentName: string;
  body: RollbackDto;
  idempotency?: IdempotencyClaim;
  isDryRun: boolean;
  /** The traffic that the caller has seen. */
  expected?: ExpectedTraffic;
}

interface ExpectedTraffic {
  activeRevisionId: string;
  /** Of the route. */
  generation: number;
}

/** The target revision of a rollback, and the reason for it. */
type RollbackTarget = Required<Pick<RollbackInput, 'because'>> & { revision: Revision };

@Injectable()
export class RollbacksService {
  constructor(
    private readonly requests: OperationRequests,
    private readonly operations: OperationStore,
    private readonly planner: CapacityPlanner,
    private readonly candidate: Candidate,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  /**
   * Locks the deployment, chooses the target (404), checks (409), ends a running rollout, takes the traffic and starts
   * the operation.
   * The rollout ends in the same transaction, so it can commit nothing afterwards.
   */
  create({ principal, deploymentName, body, expected, ...request }: RollbackRequest): Promise<Reply> {
    const { tenantId, actor } = principal;
    const resource = { resourceType: 'deployment', resourceName: deploymentName, reason: body.reason };
    return this.requests.accept(ROLLBACK, { principal, ...request, ...resource }, async (tx, operationId) => {
      const deployment = await this.deployments.lock(tx, tenantId, deploymentName);
      if (expected) await this.assertUnchanged(tx, deployment, expected);

      // Choose the target and the reason.
      const live = await this.liveRollout(tx, deployment);
      const { revision: target, because } = await this.resolveTarget(tx, deployment, body.to_revision, live);

      // Check that it may start.
      await this.assertAllowed(tx, tenantId, deployment, target, live, body);

      // End a running rollout, and take the traffic.
      const foundRoute = await this.foundRoute(tx, deployment, live?.input);
      const ended = live ? await this.supersede(tx, live, operationId, actor) : [];
      if (!live) await this.routes.takeTraffic(tx, deployment.id, operationId);

      // The rollback leaves the active revision. If its target is still the active revision, it leaves the rollout's
      // candidate.
      const leftRevisionId =
        deployment.activeRevisionId === target.id ? (live?.input.revisionId ?? null) : deployment.activeRevisionId;

      const change = request.isDryRun ? await this.rehearsedChange(tx, target, leftRevisionId) : undefined;

      // Check that the target has capacity, then mark the deployment.
      const { capacity, changeover } = await this.planner.forRollback(tx, deployment, target, live?.input);
      await this.deployments.update(tx, deployment.id, {
        currentOperationId: operationId,
        candidateRevisionId: null,
        state: 'progressing',
      });

      // Start the operation.
      const steps = [...rollbackSteps(changeover !== undefined)];
      const input: RollbackInput = {
        deploymentId: deployment.id,
        deploymentName,
        revisionId: target.id,
        revisionName: target.name,
        leftRevisionId,
        because,
        foundRoute,
        changeover,
      };
      return {
        resourceId: deployment.id,
        stream: deploymentStream(deployment.id),
        input,
        steps,
        result: rollbackResult(input, live?.id),
        audit: {
          action: 'rollback.create',
          resourceType: 'deployment',
          resourceName: deploymentName,
          after: { revision: target.name },
        },
        events: [...ended, rollbackStarted(input, { actor, operationId, supersededId: live?.id, reason: body.reason })],
        rehearsal: {
          would: `roll back to ${targetMessage({ revisionName: target.name, because })}`,
          diff: change?.diff,
          more: { ...change?.target, capacity: capacityAnswer(capacity, changeover) },
        },
      };
    });
  }

  /** Returns what a rehearsal shows of the target, and how its spec differs from that of the revision that is left. */
  private async rehearsedChange(tx: Tx, target: Revision, leftRevisionId: string | null) {
    const [left] = leftRevisionId ? await this.revisions.getMany(tx, [leftRevisionId]) : [];
    const status = await this.instances.status(tx, target.id);
    return {
      target: { revision: target.name, ready_instances: status?.ready ?? 0 },
      diff: jsonPatch(left?.spec ?? {}, target.spec),
    };
  }

  /** @throws precondition_failed (412) if the traffic has changed */
  private async assertUnchanged(tx: Tx, deployment: Deployment, expected: ExpectedTraffic): Promise<void> {
    const route = await this.routes.current(tx, deployment.id);
    if (deployment.activeRevisionId === expected.activeRevisionId && route?.generation === expected.generation) return;
    throw errors.precondition_failed({ message: 'The traffic has changed since.' });
  }

  /** The running rollout, if any. A live operation of another kind is never pre-empted. */
  private async liveRollout(tx: Tx, deployment: Deployment): Promise<OperationRow<RolloutInput> | undefined> {
    if (deployment.currentOperationId === null) return undefined;
    const live = await this.operations.lock(tx, deployment.currentOperationId);
    if (live.kind === ROLLOUT.kind) return live;
    throw operationErrors.operation_in_progress({
      message: `Operation ${live.id} (${live.kind}) is running on deployment ${deployment.name}.`,
      extra: { operation_id: live.id },
    });
  }

  private async resolveTarget(
    tx: Tx,
    deployment: Deployment,
    reference: string | undefined,
    live: OperationRow<RolloutInput> | undefined,
  ): Promise<RollbackTarget> {
    if (reference !== undefined)
      return { revision: await this.revisions.find(tx, deployment.id, reference), because: 'named' };
    const target = live ? await this.outOf(tx, live.input) : await this.previousTo(tx, deployment);
    if (!target) throw rollbackErrors.no_previous_revision();
    return target;
  }

  private async previousTo(tx: Tx, { id, activeRevisionId }: Deployment): Promise<RollbackTarget | undefined> {
    const revision = await this.revisions.previous(tx, id, activeRevisionId ? [activeRevisionId] : []);
    return revision && { revision, because: 'previous' };
  }

  /** The target of a rollback during a rollout. It is never the candidate, even if that was good before. */
  private async outOf(tx: Tx, rollout: RolloutInput): Promise<RollbackTarget | undefined> {
    const { deploymentId, revisionId, foundActiveRevisionId } = rollout;
    if (foundActiveRevisionId === null) return undefined;
    const [revision] = await this.revisions.getMany(tx, [foundActiveRevisionId]);
    const active: RollbackTarget | undefined = revision && { revision, because: 'active_when_rollout_began' };
    if (active && !(await this.isDown(tx, foundActiveRevisionId))) return active;
    const before = await this.revisions.previous(tx, deploymentId, [foundActiveRevisionId, revisionId]);
    // If there is nothing before it, it is still the best choice: crashed instances are started again.
    return before ? { revision: before, because: 'last_good_before' } : active;
  }

  /**
   * Whether a revision should run, has no ready instance and does not sleep. A revision that stopped after its traffic
   * left is not down: a rollback starts its target anyway.
   */
  private async isDown(tx: Tx, revisionId: string): Promise<boolean> {
    return isDown(await this.instances.status(tx, revisionId));
  }

  private async assertAllowed(
    tx: Tx,
    tenantId: string,
    deployment: Deployment,
    target: Revision,
    live: OperationRow<RolloutInput> | undefined,
    body: RollbackDto,
  ): Promise<void> {
    if (live && body.on_active_operation === 'fail') {
      throw operationErrors.operation_in_progress({
        message: `Operation ${live.id} is running on deployment ${deployment.name}.`,
        extra: { operation_id: live.id },
      });
    }
    if (!live && target.id === deployment.activeRevisionId)
      throw rollbackErrors.revision_already_active({
        message: `Revision ${target.name} already receives all traffic.`,
      });
    const issues = await this.instances.check(tx, tenantId, target.spec);
    if (target.state !== 'failed' && issues.length === 0) return;
    const why = target.state === 'failed' ? 'it has failed' : issues.map((issue) => issue.message).join('; ');
    throw rollbackErrors.revision_not_restorable({
      message: `Revision ${target.name} cannot be started again: ${why}.`,
    });
  }

  /**
   * Returns the route to restore. A rollback that ends a moving rollout also undoes its share. If the rollout has
   * promoted its candidate, or moves no traffic, the current route stays.
   */
  private async foundRoute(tx: Tx, deployment: Deployment, rollout?: RolloutInput): Promise<Route | null> {
    const isMoving =
      rollout && movesTraffic(rollout.strategy) && deployment.activeRevisionId === rollout.foundActiveRevisionId;
    return isMoving ? rollout.foundRoute : ((await this.routes.current(tx, deployment.id)) ?? null);
  }

  /**
   * Ends the rollout, takes over its traffic and stops retaining its candidate, unless a route still names it. Returns
   * the events.
   */
  private async supersede(
    tx: Tx,
    live: OperationRow<RolloutInput>,
    operationId: string,
    actor: Actor,
  ): Promise<NewEvent[]> {
    const { deploymentId, revisionId, changeover } = live.input;
    await this.operations.supersede(tx, live.id, { id: operationId, actor });
    await this.routes.passTraffic(tx, deploymentId, live.id, operationId);
    await this.routes.takeTraffic(tx, deploymentId, operationId);
    for (const id of [revisionId, ...(changeover?.stops ?? []).map((one) => one.revisionId)])
      await this.instances.release(tx, id, `operation:${live.id}`);
    return this.candidate.retireUnbuilt(tx, revisionId, live.id, actor);
  }
}

function rollbackResult({ revisionName, revisionId, because, changeover }: RollbackInput, supersededId?: string) {
  return {
    revision: revisionName,
    revision_id: revisionId,
    because,
    ...(supersededId === undefined ? {} : { superseded_operation_id: supersededId }),
    ...(changeover && changeoverResult(changeover)),
  };
}

function rollbackStarted(
  { deploymentName, revisionId, revisionName, because }: RollbackInput,
  about: { actor: Actor; operationId: string; supersededId?: string; reason?: string },
): NewEvent {
  const { actor, operationId, supersededId = null, reason = null } = about;
  return {
    type: 'rollback.started',
    subject: `deployments/${deploymentName}`,
    actor,
    operationId,
    revisionId,
    data: { operation_id: operationId, revision: revisionName, because, superseded_operation_id: supersededId, reason },
  };
}
