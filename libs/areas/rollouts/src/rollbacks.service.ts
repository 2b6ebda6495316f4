import type { Actor } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { rehearsal, type IdempotencyClaim, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit } from '@slipway/platform-mutations';
import { appendEvents } from '@slipway/platform-events';
import {
  operationAnswer,
  operationErrors,
  OperationStore,
  type Claimed,
  type OperationRow,
} from '@slipway/platform-operations';
import {
  DEPLOYMENTS,
  deploymentStream,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import { ROLLBACK } from './rollback.operation.js';
import { rollbackErrors } from './rollback.errors.js';
import { ROLLOUT } from './rollout.operation.js';
import type { RollbackDto } from './rollout.dto.js';
import type { RollbackInput, RolloutInput } from './rollout.input.js';

export interface RollbackRequest {
  principal: Principal;
  deploymentName: string;
  body: RollbackDto;
  idempotency?: IdempotencyClaim;
  isDryRun: boolean;
}

@Injectable()
export class RollbacksService {
  constructor(
    private readonly database: Database,
    private readonly operations: OperationStore,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  /** Accepts a rollback. A running rollout is ended in this very transaction, so nothing of it can commit afterwards. */
  create(request: RollbackRequest): Promise<Reply> {
    const { principal, deploymentName, body, isDryRun } = request;
    return this.database.tx(
      { tenantId: principal.tenantId },
      async (tx) => {
        const [claim] = (await this.operations.claim(tx, [
          {
            operation: ROLLBACK,
            resourceType: 'deployment',
            resourceName: deploymentName,
            requestedBy: principal.actor,
            reason: body.reason,
            idempotency: isDryRun ? undefined : request.idempotency,
          },
        ])) as [Claimed];
        if (!claim.created) return this.answer(tx, claim);
        const deployment = await this.deployments.lock(tx, principal.tenantId, deploymentName);
        const live = await this.liveRollout(tx, deployment);
        const target = await this.resolveTarget(tx, deployment, body.to_revision, live);
        this.assertAllowed(principal.tenantId, deployment, target, live, body);
        await this.begin(tx, request, deployment, target, live, claim.id);
        if (isDryRun) return rehearsal(`roll back to ${target.name}`, [...ROLLBACK.steps]);
        return this.answer(tx, claim);
      },
      { dryRun: isDryRun },
    );
  }

  private async answer(tx: Tx, claim: Claimed): Promise<Reply> {
    return operationAnswer(claim.id, (await this.operations.record(tx, claim.id)) as string, claim.created);
  }

  /** The rollout that is running, if any. Another kind of live operation is never pre-empted. */
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
  ): Promise<Revision> {
    if (reference !== undefined) return this.revisions.find(tx, deployment.id, reference);
    const found = live
      ? (
          await this.revisions.getMany(tx, live.input.foundActiveRevisionId ? [live.input.foundActiveRevisionId] : [])
        )[0]
      : await this.revisions.previous(tx, deployment.id, deployment.activeRevisionId);
    if (!found) throw rollbackErrors.no_previous_revision();
    return found;
  }

  private assertAllowed(
    tenantId: string,
    deployment: Deployment,
    target: Revision,
    live: OperationRow<RolloutInput> | undefined,
    body: RollbackDto,
  ): void {
    if (live && body.on_active_operation === 'fail') {
      throw operationErrors.operation_in_progress({
        message: `Operation ${live.id} is running on deployment ${deployment.name}.`,
        extra: { operation_id: live.id },
      });
    }
    if (!live && target.id === deployment.activeRevisionId)
      throw rollbackErrors.revision_already_active({ message: `Revision ${target.name} already holds all traffic.` });
    const issues = this.instances.check(tenantId, target.spec);
    if (target.state !== 'failed' && issues.length === 0) return;
    const why = target.state === 'failed' ? 'it has failed' : issues.map((issue) => issue.message).join('; ');
    throw rollbackErrors.revision_not_restorable({
      message: `Revision ${target.name} cannot be brought up again: ${why}.`,
    });
  }

  private async begin(
    tx: Tx,
    request: RollbackRequest,
    deployment: Deployment,
    target: Revision,
    live: OperationRow<RolloutInput> | undefined,
    operationId: string,
  ): Promise<void> {
    const { body, principal } = request;
    if (live) await this.supersede(tx, live, operationId, principal.actor);
    else await this.routes.takeTraffic(tx, deployment.id, operationId);
    // What is left is the active revision or, if the target never stopped being active, the candidate of the rollout.
    const leftRevisionId =
      deployment.activeRevisionId === target.id ? (live?.input.revisionId ?? null) : deployment.activeRevisionId;
    const input: RollbackInput = {
      deploymentId: deployment.id,
      deploymentName: deployment.name,
      revisionId: target.id,
      revisionName: target.name,
      leftRevisionId,
    };
    await this.deployments.update(tx, deployment.id, {
      currentOperationId: operationId,
      candidateRevisionId: null,
      state: 'progressing',
    });
    const stream = deploymentStream(deployment.id);
    const result = {
      revision: target.name,
      revision_id: target.id,
      ...(live ? { superseded_operation_id: live.id } : {}),
    };
    const { steps } = ROLLBACK;
    await this.operations.start(tx, [
      { id: operationId, operation: ROLLBACK, resourceId: deployment.id, stream, input, steps, result },
    ]);
    await appendAudit(tx, {
      action: 'rollback.create',
      resourceType: 'deployment',
      resourceName: deployment.name,
      after: { revision: target.name },
    });
    await appendEvents(tx, principal.tenantId, stream, [
      {
        type: 'rollback.started',
        subject: `deployments/${deployment.name}`,
        actor: principal.actor,
        operationId,
        revisionId: target.id,
        data: {
          operation_id: operationId,
          revision: target.name,
          superseded_operation_id: live?.id ?? null,
          reason: body.reason ?? null,
        },
      },
    ]);
  }

  /** Ends the rollout, takes over its traffic, and lets go of its candidate; a route that names it still holds it. */
  private async supersede(tx: Tx, live: OperationRow<RolloutInput>, operationId: string, actor: Actor): Promise<void> {
    const { deploymentId, revisionId } = live.input;
    await this.operations.supersede(tx, live.id, { id: operationId, actor });
    await this.routes.releaseTraffic(tx, deploymentId, live.id);
    await this.routes.takeTraffic(tx, deploymentId, operationId);
    await this.instances.release(tx, revisionId, `operation:${live.id}`);
  }
}
