import { counted, countedAre, WORKER, type DeploymentState } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { routeFollowers, unpublishRoute } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  lockBeforeEvents,
  operationErrors,
  sleep,
  type OperationOf,
  type OperationRow,
  type OperationOutcome,
  type StepContext,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { requestContext } from '@slipway/platform-http';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort, type RevisionDrain, type UnendedInstance } from '@slipway/ports/instances';
import { POLICIES, type PoliciesPort } from '@slipway/ports/policies';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { assertDeletable } from './protection.errors.js';
import { removeProtection } from './protection-removal.js';

export interface DeletionInput {
  deploymentId: string;
  deploymentName: string;
  /** The state that a cancelled deletion restores. */
  stateBefore: DeploymentState;
}

/**
 * The deletion of a deployment. It can be cancelled until the route is removed. After that nothing is undone, and a
 * retry continues at the failed step. An instance that a published model API binding retains keeps running until the
 * binding is withdrawn.
 * `drain` waits until no gateway starts a request. `stop_instances` waits until every instance is known to have ended:
 * for its requests in flight within the deployment's `drain_seconds`, and for a target that cannot be reached as long as
 * it takes. A deletion that has succeeded leaves nothing that runs.
 */
export const DELETION = defineOperation({
  kind: 'delete_deployment',
  input: inputOf<DeletionInput>(),
  steps: ['release_route', 'drain', 'stop_instances', 'remove'],
  pointOfNoReturn: 'release_route',
});

type DeletionContext = StepContext<DeletionInput>;

/** Time limit for gateways that do not follow. */
const FOLLOW_LIMIT_MS = 30_000;
/** After this time the message shows which instances are waited for. */
const NAMED_AFTER_MS = 30_000;
const LOOK_MS = 250;
/** A long wait is woken by changes of the instances. */
const LONG_LOOK_MS = 2_000;

@Injectable()
@DurableOperation(DELETION)
export class DeletionOperation implements OperationOf<typeof DELETION> {
  readonly steps = {
    release_route: (context: DeletionContext) => this.releaseRoute(context),
    drain: (context: DeletionContext) => this.drain(context),
    stop_instances: (context: DeletionContext) => this.stopInstances(context),
    remove: (context: DeletionContext) => this.remove(context),
  };
  readonly unwind = {};

  constructor(
    private readonly database: Database,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(POLICIES) private readonly policies: PoliciesPort,
  ) {}

  private async releaseRoute({ operation, input }: DeletionContext): Promise<StepOutcome> {
    const route = await this.database.tx('system', (tx) => this.routes.current(tx, input.deploymentId));
    return done({
      // The generation that removes the route. Gateways at or beyond it start no new request.
      result: {
        generation: route ? route.generation + 1 : 0,
        revisionIds: route?.targets.map((target) => target.revisionId) ?? [],
      },
      commit: (tx) => this.withdraw(tx, operation),
    });
  }

  private async drain({ input, results, step }: DeletionContext): Promise<StepOutcome> {
    const { generation, revisionIds } = results['release_route'] as { generation: number; revisionIds: string[] };
    const { behind, inFlight } = await this.database.tx('system', async (tx) => {
      const followers = generation > 0 ? await routeFollowers(tx, input.deploymentId, generation) : { behind: 0 };
      const counts = await Promise.all(revisionIds.map((id) => this.instances.inFlight(tx, id)));
      return { behind: followers.behind, inFlight: counts.reduce((sum, count) => sum + count, 0) };
    });
    const evidence = { in_flight: inFlight, gateways_behind: behind };
    if (behind === 0 && inFlight === 0) return done({ message: 'No requests are in flight.' });
    if (behind === 0) return done({ message: `${countedAre(inFlight, 'request')} in flight and may end.`, evidence });
    if (step.elapsedMs() > FOLLOW_LIMIT_MS)
      return done({
        message: `${counted(behind, 'gateway')} still served the removed route after ${FOLLOW_LIMIT_MS / 1_000} s. The deletion continues.`,
        evidence,
      });
    return sleep({
      forMs: LOOK_MS,
      status: 'running',
      message: `Waiting for ${counted(behind, 'gateway')} to stop serving the removed route.`,
    });
  }

  private async stopInstances({ operation, input, state, step }: DeletionContext): Promise<StepOutcome> {
    const ids = await this.revisionIds(input);
    if (!state)
      return sleep({
        forMs: LOOK_MS,
        status: 'running',
        state: { isReleased: true },
        commit: (tx) => this.releaseInstances(tx, ids),
      });
    const isLong = step.elapsedMs() > NAMED_AFTER_MS;
    const { statuses, draining, stuck } = await this.database.tx('system', async (tx) => ({
      statuses: await Promise.all(ids.map((id) => this.instances.status(tx, id))),
      draining: (await this.instances.draining(tx, [input.deploymentId])).get(input.deploymentId) ?? [],
      stuck: isLong ? await this.instances.unended(tx, input.deploymentId) : [],
    }));
    // An instance that is still wanted is retained for another reason, and waiting would not stop it.
    const stopping = statuses.reduce((sum, status) => sum + (status && status.desired === 0 ? status.alive : 0), 0);
    if (stopping === 0) return done({ message: 'The instances of the deployment have stopped.' });
    return sleep({
      forMs: isLong ? LONG_LOOK_MS : LOOK_MS,
      status: 'running',
      state,
      message: stopMessage(stopping, draining, stuck),
      commit: async (tx) => {
        for (const id of ids) await this.instances.wakeOnChange(tx, id, operation.id);
      },
    });
  }

  private async remove({ operation, input }: DeletionContext): Promise<StepOutcome> {
    const ids = await this.revisionIds(input);
    return done({
      commit: async (tx) => {
        // A retry may come long after the route was removed, and a person may have set one in between.
        await this.withdraw(tx, operation);
        await this.releaseInstances(tx, ids);
        await lockBeforeEvents(tx, operation.id);
        for (const id of ids) await this.revisions.retired(tx, id);
        // They no longer count in the quotas of the tenant.
        await this.revisions.removeOf(tx, input.deploymentId);
        await this.policies.removeOf(tx, input.deploymentId);
        await unpublishRoute(tx, input.deploymentId);
        await this.deployments.remove(tx, input.deploymentId);
      },
    });
  }

  async finish(
    tx: Tx,
    operation: OperationRow<DeletionInput>,
    outcome: OperationOutcome,
  ): Promise<{ result: Record<string, unknown> }> {
    const { deploymentId, stateBefore } = operation.input;
    const deployment = await this.deployments.lockById(tx, deploymentId);
    await this.routes.releaseTraffic(tx, deploymentId, operation.id);
    if (deployment?.currentOperationId === operation.id) {
      await this.deployments.update(tx, deploymentId, {
        currentOperationId: null,
        state: outcome === 'failed' ? 'failed' : stateBefore,
      });
    }
    return { result: { outcome: outcome === 'succeeded' ? 'deleted' : 'kept' } };
  }

  async reclaim(tx: Tx, operation: OperationRow<DeletionInput>): Promise<void> {
    const { deploymentId, deploymentName } = operation.input;
    const deployment = await this.deployments.lock(tx, operation.tenantId, deploymentName);
    // An operator may have raised the protection since the deletion failed.
    await removeProtection(tx, deployment, requestContext().principal);
    assertDeletable(deployment);
    assertIdle(deployment);
    await this.routes.takeTraffic(tx, deploymentId, operation.id);
    await this.deployments.update(tx, deploymentId, { currentOperationId: operation.id, state: 'deleting' });
  }

  private revisionIds({ deploymentId }: DeletionInput): Promise<string[]> {
    return this.database.tx('system', (tx) => this.revisions.idsOf(tx, deploymentId));
  }

  private async withdraw(tx: Tx, operation: OperationRow<DeletionInput>): Promise<void> {
    await this.deployments.lockById(tx, operation.input.deploymentId);
    await this.routes.remove(tx, operation.input.deploymentId, WORKER, operation.id);
  }

  private async releaseInstances(tx: Tx, revisionIds: readonly string[]): Promise<void> {
    for (const id of revisionIds) {
      await this.instances.release(tx, id, 'route');
      await this.instances.release(tx, id, 'warm');
    }
  }
}

function stopMessage(stopping: number, draining: readonly RevisionDrain[], stuck: readonly UnendedInstance[]): string {
  const requests = draining.reduce((sum, one) => sum + one.requests, 0);
  const until = draining
    .map((one) => one.until)
    .sort()
    .at(-1);
  if (requests > 0)
    return `The instances stop after the end of ${counted(requests, 'request')} in flight, at ${until} at the latest. Running \`slipway deployments end-drain\` stops them now.`;
  if (stuck.length === 0) return `${countedAre(stopping, 'instance')} stopping.`;
  const named = stuck.map(({ id, target, why }) => `${id} on target ${target} (${why})`).join(', ');
  return `${countedAre(stopping, 'instance')} not known to have stopped: ${named}. The deletion continues when the target reports their end. If the target no longer exists, its operator can give them up with \`abandoned_targets\`.`;
}

/**
 * Checks that no operation works on the deployment.
 * @throws operation_in_progress (409), with the running operation
 */
export function assertIdle(deployment: Pick<Deployment, 'currentOperationId' | 'name'>): void {
  if (deployment.currentOperationId === null) return;
  throw operationErrors.operation_in_progress({
    message: `Operation ${deployment.currentOperationId} is running on deployment ${deployment.name}.`,
    extra: { operation_id: deployment.currentOperationId },
  });
}
