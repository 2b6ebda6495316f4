import { counted } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { OperationRequests } from '@slipway/platform-durable/operations';
import type { IdempotencyClaim, Principal, Reply } from '@slipway/platform-http';
import {
  DEPLOYMENTS,
  deploymentStream,
  HOLD_SECONDS,
  type Deployment,
  type DeploymentsPort,
} from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort, type Member } from '@slipway/ports/instances';
import { REVISIONS, type Revision, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { assertRolloutAllowed, progressDeadlineSeconds } from './acceptance.js';
import { RESTART, type RestartedRevision, type RestartInput } from './restart.operation.js';
import type { RestartDto } from './rollout.dto.js';
import { restartErrors } from './rollout.errors.js';

export interface RestartRequest {
  principal: Principal;
  deploymentName: string;
  body: RestartDto;
  idempotency?: IdempotencyClaim;
  isDryRun: boolean;
}

/** Accepts restarts. The operation decides about capacity when it runs, because it may have waited for a worker. */
@Injectable()
export class RestartsService {
  constructor(
    private readonly requests: OperationRequests,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  create({ principal, deploymentName, body, ...request }: RestartRequest): Promise<Reply> {
    const { tenantId, actor } = principal;
    const resource = { resourceType: 'deployment', resourceName: deploymentName, reason: body.reason };
    return this.requests.accept(RESTART, { principal, ...request, ...resource }, async (tx, operationId) => {
      const deployment = await this.deployments.lock(tx, tenantId, deploymentName);
      assertRolloutAllowed(deployment);
      const own = await this.restartable(tx, deployment);
      await this.routes.takeTraffic(tx, deployment.id, operationId);
      await this.deployments.update(tx, deployment.id, { currentOperationId: operationId, state: 'progressing' });
      const revisions = await Promise.all(own.map((revision) => this.accepted(tx, revision)));
      const deadlines = own.map(({ spec }) => progressDeadlineSeconds(this.instances.traits(spec)));
      const input: RestartInput = {
        deploymentId: deployment.id,
        deploymentName,
        revisions,
        deadlineSeconds: body.progress_deadline_seconds ?? Math.max(...deadlines),
        holdSeconds: body.hold_seconds ?? HOLD_SECONDS.default,
        estimatedSeconds: await this.instances.startSeconds(tx, deployment.id),
        stateBefore: deployment.state,
      };
      const instances = revisions.reduce((sum, one) => sum + one.instances.length, 0);
      const names = revisions.map(({ revisionName }) => revisionName);
      return {
        resourceId: deployment.id,
        stream: deploymentStream(deployment.id),
        input,
        steps: RESTART.steps,
        result: { revisions: names, instances, restarted: 0 },
        audit: {
          action: 'deployment.restart',
          resourceType: 'deployment',
          resourceName: deploymentName,
          after: { revisions: names, instances },
        },
        events: [
          {
            type: 'restart.started',
            subject: `deployments/${deploymentName}`,
            actor,
            operationId,
            data: { operation_id: operationId, revisions: names, instances, reason: body.reason ?? null },
          },
        ],
        rehearsal: { would: `restart ${counted(instances, 'instance')} of ${names.join(', ')}, one after the other` },
      };
    });
  }

  /**
   * Returns the revisions with traffic, else the active one, without those whose servers others run.
   * @throws nothing_to_restart, restart_not_supported (409)
   */
  private async restartable(tx: Tx, { id, name, activeRevisionId }: Deployment): Promise<Revision[]> {
    const route = await this.routes.current(tx, id);
    const routed = route?.targets.filter(({ weight }) => weight > 0).map(({ revisionId }) => revisionId) ?? [];
    const ids = routed.length > 0 || activeRevisionId === null ? routed : [activeRevisionId];
    const revisions = await this.revisions.getMany(tx, ids);
    if (revisions.length === 0)
      throw restartErrors.nothing_to_restart({ message: `Deployment ${name} has no revision that serves.` });
    const own = revisions.filter(({ spec }) => !this.instances.isAdopted(spec));
    if (own.length > 0) return own;
    const names = revisions.map((revision) => revision.name).join(', ');
    throw restartErrors.restart_not_supported({
      message: `The servers of ${names} are adopted: Slipway neither starts nor stops them.`,
    });
  }

  private async accepted(tx: Tx, { id, name }: Revision): Promise<RestartedRevision> {
    const { members } = await this.instances.members(tx, id);
    return { revisionId: id, revisionName: name, instances: members.filter(isToRestart).map(generationOf) };
  }
}

const isToRestart = ({ isSpare, state }: Member): boolean => !isSpare && state !== 'stopping' && state !== 'stopped';

/** The start of an instance that waits for it is already the one that the restart needs. */
function generationOf({ id, generation, state }: Member) {
  return { id, generation: state === 'pending' || state === 'backing_off' ? generation - 1 : generation };
}
