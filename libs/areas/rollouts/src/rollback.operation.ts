import { isSameActor, WORKER } from '@slipway/contracts';
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
  type OperationOutcome,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RouteHold, type RoutesPort } from '@slipway/ports/routing';
import {
  changeoverHold,
  changeoverOf,
  stopsOf,
  takeOverOf,
  targetMessage,
  type RollbackContext,
  type RollbackInput,
} from './rollout.input.js';
import { assertRolloutAllowed } from './acceptance.js';
import { BAKER } from './bake.js';
import { rolloutFailures } from './rollout.errors.js';
import { Candidate } from './steps/candidate.js';
import { Changeover } from './steps/changeover.js';
import { isDown } from './steps/passage.js';
import { putBackMessage, putBackRoute } from './steps/route.js';

/**
 * A rollback: points the traffic back at a revision that served before, the same immutable one.
 *
 *   resolve_target → ensure_ready → shift_traffic → verify
 *   on failure or cancel: revert_traffic
 *
 * If the target does not fit next to the running revisions, they stop first, while requests wait:
 *
 *   resolve_target → preflight → hold_requests → stop_previous → ensure_ready
 *     → shift_traffic → release_requests → verify
 *
 * From `hold_requests` on, the rollback only moves on to its target, ready or not. It never restarts the previous
 * revision. The reconciler keeps trying to start the target, even after the end of the operation.
 *
 * Without a change-over, it starts the target before it moves any traffic, and needs nothing from the revision it
 * leaves. If a rollout is running, the transaction that accepts the rollback ends it and releases its candidate. The
 * rollback then also owns the rollout's share of the traffic: it takes this share away on its way to the target, or in
 * its undo steps if it never reaches the target. Once the traffic is on the target it stays there: a failed rollback
 * never restores the revision it left.
 */
export const ROLLBACK = defineOperation({
  kind: 'rollback',
  priority: 'urgent',
  input: inputOf<RollbackInput>(),
  steps: [
    'resolve_target',
    'preflight',
    'hold_requests',
    'stop_previous',
    'ensure_ready',
    'shift_traffic',
    'release_requests',
    'verify',
    // Only of rollbacks that an earlier version accepted.
    'drain_previous',
  ],
  // The end of a rollback stops retaining its target's instances, so a retry must retain them again.
  unwind: { revert_traffic: ['resolve_target', 'preflight', 'hold_requests', 'stop_previous', 'ensure_ready'] },
  unwindsAcceptance: true,
  pointOfNoReturn: 'shift_traffic',
});

const READY_DEADLINE_SECONDS = 600;
const TRY_LOOK_MS = 500;
const VERIFY_LIMIT_MS = 10_000;
const VERIFY_LOOK_MS = 200;

@Injectable()
@DurableOperation(ROLLBACK)
export class RollbackOperation implements OperationOf<typeof ROLLBACK> {
  readonly steps = {
    resolve_target: (context: RollbackContext) => this.resolveTarget(context),
    preflight: (context: RollbackContext) => this.changeover.preflight(context, READY_DEADLINE_SECONDS, []),
    hold_requests: (context: RollbackContext) =>
      this.changeover.hold(context, changeoverHold(changeoverOf(context.input))),
    stop_previous: (context: RollbackContext) =>
      this.changeover.stop(context, changeoverOf(context.input), READY_DEADLINE_SECONDS),
    ensure_ready: (context: RollbackContext) => this.ensureReady(context),
    shift_traffic: (context: RollbackContext) => this.shiftTraffic(context),
    release_requests: (context: RollbackContext) => this.releaseRequests(context),
    verify: (context: RollbackContext) => this.verify(context),
    drain_previous: async () => done({ skipped: true, operationResult: { outcome: 'rolled_back' } }),
  };
  readonly unwind = { revert_traffic: (context: RollbackContext) => this.revertTraffic(context) };

  constructor(
    private readonly candidate: Candidate,
    private readonly changeover: Changeover,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /** Checks that the target can run here, and retains its instances. Warm instances still run. */
  private async resolveTarget({ operation, input }: RollbackContext): Promise<StepOutcome> {
    const valid = await this.candidate.validate(operation.tenantId, input.revisionId);
    if (input.changeover) return { ...valid, message: `The rollback target is ${targetMessage(input)}.` };
    const wanted = await this.candidate.provision(operation, input, takeOverOf(input));
    return { ...wanted, message: `The rollback target is ${targetMessage(input)}.` };
  }

  /**
   * After a change-over, the target may fail to start any number of times: its capacity is free, and there is nothing
   * else to run.
   */
  private async ensureReady(context: RollbackContext): Promise<StepOutcome> {
    const { operation, input, state, step } = context;
    const look = () => this.candidate.awaitReady(context, input.revisionId, READY_DEADLINE_SECONDS);
    if (!input.changeover) return look();
    if (!state) {
      const wanted = await this.candidate.provision(operation, input, takeOverOf(input));
      return sleep({
        forMs: 0,
        status: 'running',
        state: { isWanted: true },
        commit: async (tx) => {
          await wanted.commit?.(tx);
          await this.instances.resumeWorkload(tx, input.revisionId);
        },
      });
    }
    try {
      const outcome = await look();
      return outcome.kind === 'sleep' ? { ...outcome, state } : outcome;
    } catch (error) {
      if (!(error instanceof StepFailed) || step.elapsedMs() > READY_DEADLINE_SECONDS * 1_000) throw error;
      return sleep({ forMs: TRY_LOOK_MS, status: 'running', state, message: `Retrying the start: ${error.message}` });
    }
  }

  private async shiftTraffic(context: RollbackContext) {
    const { operation, input } = context;
    const { isHeld, gapSeconds } = await this.changeover.gap(context);
    // The rollback superseded a recreate, and this route releases the requests that the recreate held.
    const isEndOfGap = isHeld && !input.changeover;
    return done({
      message: `All traffic now goes to ${input.revisionName}.`,
      result: { traffic_percent: 100 },
      operationResult: isEndOfGap ? { gap_seconds: gapSeconds } : undefined,
      commit: (tx) => this.takeOver(tx, operation, input.changeover && changeoverHold(input.changeover)),
    });
  }

  /** Gives the target all traffic; with `isRestore`, even if it is not ready. */
  private async takeOver(
    tx: Tx,
    operation: OperationRow<RollbackInput>,
    hold?: RouteHold,
    isRestore?: boolean,
  ): Promise<void> {
    const { deploymentId, revisionId, leftRevisionId } = operation.input;
    await this.route(tx, operation, hold, isRestore);
    // A bake has found that it serves badly, or it has no instance that serves.
    const isUnhealthy =
      leftRevisionId !== null &&
      (isSameActor(operation.requestedBy, BAKER) || isDown(await this.instances.status(tx, leftRevisionId)));
    if (isUnhealthy) await this.instances.abandonSilentRequests(tx, operation.tenantId, leftRevisionId);
    const activation = { deploymentId, revisionId, operationId: operation.id, leftByRollback: leftRevisionId };
    await this.revisions.activated(tx, activation);
  }

  private async releaseRequests(context: RollbackContext) {
    const { operation } = context;
    const { gapSeconds, message } = await this.changeover.gap(context);
    return done({
      message,
      operationResult: { gap_seconds: gapSeconds },
      commit: (tx) => this.route(tx, operation, undefined, true),
    });
  }

  private async route(
    tx: Tx,
    { id, tenantId, input, requestedBy, reason }: OperationRow<RollbackInput>,
    hold?: RouteHold,
    isRestore?: boolean,
  ): Promise<void> {
    await this.deployments.lockById(tx, input.deploymentId);
    await this.routes.apply(tx, {
      tenantId,
      deploymentId: input.deploymentId,
      deploymentName: input.deploymentName,
      targets: [{ revisionId: input.revisionId, revisionName: input.revisionName, weight: 100 }],
      updatedBy: requestedBy,
      reason,
      operationId: id,
      keepPreviousSeconds: 0,
      hold,
      isRestore,
    });
  }

  /** Sends a request to every ready instance and checks for a real answer. */
  private async verify({ input, step }: RollbackContext) {
    const { answered, asked } = await this.instances.probe(input.revisionId);
    if (asked > 0 && answered === asked)
      return done({
        message: `${answered} of ${asked} instances responded.`,
        evidence: { answered, asked },
        operationResult: { outcome: 'rolled_back' },
      });
    if (step.elapsedMs() < VERIFY_LIMIT_MS)
      return sleep({
        forMs: VERIFY_LOOK_MS,
        status: 'running',
        message: `${answered} of ${asked} instances responded.`,
      });
    throw new StepFailed(
      rolloutFailures.health_regression,
      `${answered} of ${asked} instances of ${input.revisionName} responded. The traffic stays on this revision.`,
      { evidence: { answered, asked } },
    );
  }

  private async revertTraffic(context: RollbackContext): Promise<StepOutcome> {
    const { operation, input, results } = context;
    if (results['shift_traffic'])
      return done({ skipped: true, message: `The traffic stays on ${input.revisionName}.` });
    if (input.changeover && results['hold_requests']) return this.goOnToTarget(context);
    const { foundRoute } = input;
    if (foundRoute === undefined) return done({ skipped: true });
    return done({
      message: putBackMessage(foundRoute),
      operationResult: { outcome: 'reverted' },
      commit: async (tx) => {
        await this.deployments.lockById(tx, input.deploymentId);
        await putBackRoute(tx, this.routes, operation, { ...input, foundRoute });
      },
    });
  }

  /**
   * The previous revision is stopped, or will be soon. So its target gets the traffic, and starts as soon as it can.
   */
  private async goOnToTarget(context: RollbackContext): Promise<StepOutcome> {
    const { operation, input } = context;
    const { gapSeconds, message } = await this.changeover.gap(context);
    const wanted = await this.candidate.provision(operation, input, takeOverOf(input));
    return done({
      message: `All traffic now goes to ${input.revisionName}, which is still starting. ${message}`,
      operationResult: { outcome: 'failed_down', gap_seconds: gapSeconds },
      commit: async (tx) => {
        await wanted.commit?.(tx);
        await this.instances.resumeWorkload(tx, input.revisionId);
        await this.takeOver(tx, operation, undefined, true);
      },
    });
  }

  async finish(tx: Tx, operation: OperationRow<RollbackInput>, outcome: OperationOutcome) {
    const { input } = operation;
    const deployment = await this.deployments.lockById(tx, input.deploymentId);
    const stopped = input.changeover?.stops.map(({ revisionId }) => revisionId) ?? [];
    for (const revisionId of [input.revisionId, ...stopped])
      await this.instances.release(tx, revisionId, `operation:${operation.id}`);
    // Last, because it writes an event if a hold remains.
    await this.routes.releaseTraffic(tx, input.deploymentId, operation.id);
    if (deployment?.currentOperationId === operation.id) {
      const [failed, resting] = deployment.activeRevisionId
        ? (['degraded', 'active'] as const)
        : (['failed', 'creating'] as const);
      const isDown = outcome === 'failed' || operation.result['outcome'] === 'failed_down';
      const state = isDown ? failed : resting;
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

  /**
   * A retry is refused if the deployment is being deleted or has another live operation. If it fails again, it restores
   * the route from the time of the retry.
   */
  async reclaim(tx: Tx, operation: OperationRow<RollbackInput>): Promise<Partial<RollbackInput>> {
    const { input } = operation;
    const deployment = await this.deployments.lock(tx, operation.tenantId, input.deploymentName);
    assertRolloutAllowed(deployment);
    await this.routes.takeTraffic(tx, input.deploymentId, operation.id);
    await this.deployments.update(tx, deployment.id, { currentOperationId: operation.id, state: 'progressing' });
    const foundRoute = (await this.routes.current(tx, input.deploymentId)) ?? null;
    const changeover = input.changeover && { ...input.changeover, stops: stopsOf(foundRoute, input.revisionId) };
    return { foundRoute, changeover };
  }
}
