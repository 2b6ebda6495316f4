import { WORKER } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  sleep,
  StepFailed,
  type OperationOf,
  type OperationRow,
  type Outcome,
  type StepContext,
} from '@slipway/platform-operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { Candidate } from './candidate.js';
import { rolloutFailures } from './rollout.failures.js';
import { rolloutAllowed, type RollbackInput } from './rollout.input.js';

/**
 * A rollback: points the traffic back at a revision that served before, the same immutable one.
 *
 *   resolve_target → ensure_ready → shift_traffic → verify → drain_previous
 *
 * It brings the target up before any traffic moves, needs nothing from the revision it leaves, and has no way back: a
 * failed rollback never restores what it left. A rollout it pre-empted was ended, and its hold on
 * the candidate released, in the transaction that accepted the rollback.
 */
export const ROLLBACK = defineOperation({
  kind: 'rollback',
  input: inputOf<RollbackInput>(),
  steps: ['resolve_target', 'ensure_ready', 'shift_traffic', 'verify', 'drain_previous'],
  pointOfNoReturn: 'shift_traffic',
});

type Context = StepContext<RollbackInput>;

const READY_DEADLINE_SECONDS = 600;
const VERIFY_LIMIT_MS = 10_000;
const VERIFY_LOOK_MS = 200;

@Injectable()
@DurableOperation(ROLLBACK)
export class RollbackOperation implements OperationOf<typeof ROLLBACK> {
  readonly steps = {
    resolve_target: { run: (context: Context) => this.resolveTarget(context) },
    ensure_ready: {
      run: (context: Context) => this.candidate.awaitReady(context, context.input.revisionId, READY_DEADLINE_SECONDS),
    },
    shift_traffic: { run: (context: Context) => this.shiftTraffic(context) },
    verify: { run: (context: Context) => this.verify(context) },
    drain_previous: { run: (context: Context) => this.drainPrevious(context) },
  };
  readonly unwind = {};

  constructor(
    private readonly candidate: Candidate,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /** Checks that the target can run here, and wants its instances; warm ones are simply still there. */
  private async resolveTarget({ operation, input }: Context) {
    await this.candidate.validate(operation.tenantId, input.revisionId);
    return this.candidate.provision(operation, input);
  }

  private async shiftTraffic({ operation, input }: Context) {
    return done({
      message: `all traffic goes to ${input.revisionName}`,
      commit: async (tx) => {
        await this.deployments.lockById(tx, input.deploymentId);
        await this.routes.apply(tx, {
          tenantId: operation.tenantId,
          deploymentId: input.deploymentId,
          deploymentName: input.deploymentName,
          targets: [{ revisionId: input.revisionId, revisionName: input.revisionName, weight: 100 }],
          updatedBy: operation.requestedBy,
          reason: operation.reason,
          operationId: operation.id,
          keepPreviousSeconds: 0,
        });
        await this.revisions.activated(tx, {
          deploymentId: input.deploymentId,
          revisionId: input.revisionId,
          operationId: operation.id,
          leftByRollback: input.leftRevisionId,
        });
      },
    });
  }

  /** Asks every ready instance for a real answer. */
  private async verify({ input, step }: Context) {
    const { answered, asked } = await this.instances.probe(input.revisionId);
    if (asked > 0 && answered === asked)
      return done({ message: `${answered} of ${asked} instances answered`, evidence: { answered, asked } });
    if (step.elapsedMs() < VERIFY_LIMIT_MS)
      return sleep({ forMs: VERIFY_LOOK_MS, status: 'running', message: `${answered} of ${asked} instances answered` });
    throw new StepFailed(
      rolloutFailures.health_regression,
      `${answered} of ${asked} instances of ${input.revisionName} answered; the traffic stays on it`,
      { evidence: { answered, asked } },
    );
  }

  private drainPrevious(context: Context) {
    const { leftRevisionId } = context.input;
    return this.candidate.drain(context, leftRevisionId ? [leftRevisionId] : [], { outcome: 'rolled_back' });
  }

  async finish(tx: Tx, operation: OperationRow<RollbackInput>, outcome: Outcome) {
    const { input } = operation;
    const deployment = await this.deployments.lockById(tx, input.deploymentId);
    await this.routes.releaseTraffic(tx, input.deploymentId, operation.id);
    await this.instances.release(tx, input.revisionId, `operation:${operation.id}`);
    if (deployment?.currentOperationId === operation.id) {
      const state = outcome === 'failed' ? 'degraded' : 'active';
      await this.deployments.update(tx, deployment.id, { currentOperationId: null, candidateRevisionId: null, state });
    }
    const data = { operation_id: operation.id, revision: input.revisionName, outcome };
    return {
      events: [
        {
          type: 'rollback.completed',
          subject: `deployments/${input.deploymentName}`,
          actor: WORKER,
          operationId: operation.id,
          revisionId: input.revisionId,
          data,
        },
      ],
    };
  }

  async reclaim(tx: Tx, operation: OperationRow<RollbackInput>): Promise<void> {
    const { input } = operation;
    const deployment = await this.deployments.lock(tx, operation.tenantId, input.deploymentName);
    rolloutAllowed(deployment);
    await this.routes.takeTraffic(tx, input.deploymentId, operation.id);
    await this.deployments.update(tx, deployment.id, { currentOperationId: operation.id, state: 'progressing' });
  }
}
