import { WORKER } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  sleep,
  type ControlRequest,
  type OperationFailure,
  type OperationOf,
  type OperationRow,
  type OperationOutcome,
} from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort, type WorkloadStatus } from '@slipway/ports/instances';
import { PLANS, type PlansPort } from '@slipway/ports/plans';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RouteTarget, type RoutesPort } from '@slipway/ports/routing';
import { Analyst } from './gates/analyst.js';
import {
  movesTraffic,
  percentAt,
  ROLLOUT_STEPS,
  stopsOf,
  takeOverOf,
  type RolloutContext,
  type RolloutInput,
} from './rollout.input.js';
import { assertAdmitted, assertRolloutAllowed } from './acceptance.js';
import { BakeStarter } from './bake.js';
import { rolloutErrors, rolloutFailures } from './rollout.errors.js';
import { Candidate } from './steps/candidate.js';
import { Changeover } from './steps/changeover.js';
import { Recreate } from './steps/recreate.js';
import {
  downEvidence,
  isDown,
  isFullyPassed,
  isPassed,
  isTakenOver,
  promotionEvidence,
  requiresApproval,
  TAKEN_OVER,
} from './steps/passage.js';
import { candidateMessage, putBackMessage, putBackRoute } from './steps/route.js';
import { Soak } from './steps/soak.js';

/**
 * A rollout: builds the candidate, proves it ready, and, if the strategy moves traffic, moves it step by step.
 *
 *   validate → provision → await_ready → [ shift_traffic:n → soak:n → analyze:n → await_promotion:n ]…
 *     → promote [ → begin_bake ]
 *   on failure or cancel: revert_traffic → remove_candidate
 *
 * A recreate, used if there is no capacity for both, stops the previous revision first, while requests wait:
 *
 *   validate → preflight → hold_requests → stop_previous → provision → await_ready
 *     → release_requests → soak:1 → analyze:1 → promote
 *   on failure or cancel: hold_for_previous → remove_candidate → start_previous → release_to_previous
 *
 * The steps of a rollout are chosen when it is accepted (rollout.input.ts). Except in a recreate, no step touches the
 * stable revision's instances: the route retains them until it no longer names them.
 */
export const ROLLOUT = defineOperation({
  kind: 'rollout',
  input: inputOf<RolloutInput>(),
  steps: ROLLOUT_STEPS,
  unwind: {
    revert_traffic: ['shift_traffic', 'soak', 'analyze', 'await_promotion', 'promote', 'begin_bake', 'drain_previous'],
    hold_for_previous: ['release_requests', 'soak', 'analyze', 'promote'],
    remove_candidate: ['provision', 'await_ready'],
    start_previous: ['stop_previous'],
    // A retry checks everything again before it stops anything again.
    release_to_previous: ['preflight', 'hold_requests'],
  },
  wayBackOf: ({ changeover, isUnchanged }) => {
    if (isUnchanged) return [];
    return changeover
      ? ['hold_for_previous', 'remove_candidate', 'start_previous', 'release_to_previous']
      : ['revert_traffic', 'remove_candidate'];
  },
  pointOfNoReturn: 'promote',
  pausesBefore: ['hold_requests', 'shift_traffic', 'await_promotion', 'promote'],
  passable: ['soak', 'analyze', 'await_promotion'],
  stepEvent: 'rollout.step_advanced',
});

/** After these, the candidate may never answer the requests that still wait for it. */
const HEALTH_FAILURES: ReadonlySet<string> = new Set([
  rolloutFailures.analysis_failed.code,
  rolloutFailures.health_regression.code,
]);

@Injectable()
@DurableOperation(ROLLOUT)
export class RolloutOperation implements OperationOf<typeof ROLLOUT> {
  readonly steps = {
    validate: (context: RolloutContext) => this.validate(context),
    preflight: (context: RolloutContext) => this.recreate.preflight(context),
    hold_requests: (context: RolloutContext) => this.recreate.hold(context),
    stop_previous: (context: RolloutContext) => this.recreate.stop(context),
    provision: (context: RolloutContext) => this.provision(context),
    await_ready: (context: RolloutContext) =>
      this.candidate.awaitReady(context, context.input.revisionId, context.input.progressDeadlineSeconds),
    release_requests: (context: RolloutContext) => this.releaseRequests(context),
    shift_traffic: (context: RolloutContext) => this.shiftTraffic(context),
    soak: (context: RolloutContext) => this.soak.run(context),
    analyze: (context: RolloutContext) => this.analyst.analyze(context),
    await_promotion: (context: RolloutContext) => this.awaitPromotion(context),
    promote: (context: RolloutContext) => this.promote(context),
    begin_bake: (context: RolloutContext) => this.bakes.begin(context),
    drain_previous: async () => done({ skipped: true }),
  };

  readonly unwind = {
    revert_traffic: (context: RolloutContext) => this.revertTraffic(context),
    hold_for_previous: (context: RolloutContext) => this.recreate.holdForPrevious(context),
    remove_candidate: (context: RolloutContext) => this.candidate.remove(context, context.input.revisionId),
    start_previous: (context: RolloutContext) => this.recreate.startPrevious(context),
    release_to_previous: (context: RolloutContext) => this.recreate.releaseToPrevious(context),
  };

  constructor(
    private readonly database: Database,
    private readonly candidate: Candidate,
    private readonly soak: Soak,
    private readonly analyst: Analyst,
    private readonly bakes: BakeStarter,
    private readonly changeover: Changeover,
    private readonly recreate: Recreate,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(PLANS) private readonly plans: PlansPort,
  ) {}

  private async validate({ operation, input }: RolloutContext) {
    if (!input.isUnchanged) return this.candidate.validate(operation.tenantId, input.revisionId);
    return done({
      message: `${input.revisionName} has this spec and all traffic already.`,
      operationResult: { outcome: 'unchanged' },
    });
  }

  private provision({ operation, input }: RolloutContext) {
    return this.candidate.provision(operation, input, movesTraffic(input.strategy) ? takeOverOf(input) : undefined);
  }

  private async shiftTraffic(context: RolloutContext) {
    const { operation, input, step } = context;
    if (isFullyPassed(operation)) return done({ skipped: true, message: 'Passed by a person.' });
    const stable = await this.downStable(context);
    if (stable)
      return done({
        message: TAKEN_OVER,
        evidence: { stable: downEvidence(stable) },
        result: { traffic_percent: 100, takeover: true },
        commit: (tx) => this.setTraffic(tx, operation, 100),
      });
    // A first revision gets all traffic, whatever the first step of its strategy is.
    const isFirst = input.foundActiveRevisionId === null;
    const percent = isFirst || isTakenOver(context) ? 100 : percentAt(input.strategy, step.number);
    return done({
      message: `${percent} % of the traffic now goes to ${input.revisionName}.`,
      result: { traffic_percent: percent },
      commit: (tx) => this.setTraffic(tx, operation, percent),
    });
  }

  private async releaseRequests(context: RolloutContext) {
    const { operation, input } = context;
    const { gapSeconds, message } = await this.changeover.gap(context);
    return done({
      message: `All traffic now goes to ${input.revisionName}. ${message}`,
      result: { traffic_percent: 100 },
      operationResult: { gap_seconds: gapSeconds },
      commit: (tx) => this.setTraffic(tx, operation, 100),
    });
  }

  /** Returns the status of the stable revision if the next share would leave traffic to it and it cannot serve any. */
  private async downStable({ input, step }: RolloutContext): Promise<WorkloadStatus | undefined> {
    const stableId = input.foundActiveRevisionId;
    if (stableId === null || stableId === input.revisionId || percentAt(input.strategy, step.number) >= 100)
      return undefined;
    const status = await this.database.tx('system', (tx) => this.instances.status(tx, stableId));
    return isDown(status) ? status : undefined;
  }

  private async awaitPromotion(context: RolloutContext) {
    const { operation, input, step, resumed } = context;
    const isApproval = requiresApproval(input, step.number);
    if (resumed || isPassed(context))
      return done({
        message: isApproval ? 'Approved.' : 'Continued by a person.',
        evidence: promotionEvidence(context),
      });
    const command = `slipway rollouts ${isApproval ? 'promote' : 'resume'} ${input.deploymentName}`;
    return sleep({
      status: 'waiting',
      waitingFor: isApproval ? 'approval' : 'resume',
      message: isApproval ? `Waiting for approval: ${command}` : `Waiting for a person: ${command}`,
      commit: async (tx) => ({
        events: await this.atPause(tx, operation, step.name, isApproval ? 'approval' : 'pause'),
      }),
    });
  }

  /** Shows the pause at the deployment. */
  async atPause(tx: Tx, operation: OperationRow<RolloutInput>, step: string, reason = 'person') {
    await this.deployments.lockById(tx, operation.input.deploymentId);
    await this.deployments.update(tx, operation.input.deploymentId, { state: 'paused' });
    return [this.event('rollout.paused', operation, { step, reason })];
  }

  /**
   * A plan was approved with its steps, and so was a protected deployment's, so no person may pass a soak or a gate that has
   * not asked for a decision. An approval needs another person than the one who began the rollout.
   */
  async assertMay(tx: Tx, operation: OperationRow<RolloutInput>, { action, isFull, principal }: ControlRequest) {
    const { input, waitingFor, currentStep } = operation;
    const isAsked = waitingFor === 'approval' || waitingFor === 'decision' || waitingFor === 'resume';
    const skipsMore = action === 'promote' && (isFull || !isAsked);
    if (input.planId && skipsMore) throw rolloutErrors.promotion_refused();
    const [base, number] = currentStep.split(':');
    const from = Number(number ?? 1);
    const approvals = input.strategy.steps.filter(
      ({ requires_approval }, index) => requires_approval && (isFull ? index + 1 >= from : index + 1 === from),
    );
    if (approvals.length === 0 || (!isFull && base !== 'await_promotion')) return;
    const started = {
      tenantId: operation.tenantId,
      deploymentId: input.deploymentId,
      startedBy: operation.requestedBy,
    };
    await this.plans.assertMayApprove(tx, started, principal);
  }

  private async promote({ operation, input }: RolloutContext) {
    return done({
      message: `${input.revisionName} is active.`,
      operationResult: { outcome: 'promoted' },
      commit: async (tx) => {
        await this.setTraffic(tx, operation, 100);
        await this.revisions.activated(tx, {
          deploymentId: input.deploymentId,
          revisionId: input.revisionId,
          operationId: operation.id,
        });
        return { events: [this.event('rollout.promoted', operation, planOf(input))] };
      },
    });
  }

  private async revertTraffic({ operation, input }: RolloutContext) {
    return done({
      message: putBackMessage(input.foundRoute),
      commit: async (tx) => {
        await this.deployments.lockById(tx, input.deploymentId);
        await putBackRoute(tx, this.routes, operation, input);
        if (HEALTH_FAILURES.has(operation.failure?.code ?? ''))
          await this.instances.abandonSilentRequests(tx, operation.tenantId, input.revisionId);
        const wasActive = input.foundActiveRevisionId;
        if (input.foundRoute && wasActive)
          await this.revisions.activated(tx, {
            deploymentId: input.deploymentId,
            revisionId: wasActive,
            operationId: operation.id,
          });
      },
    });
  }

  /** Gives the candidate its share. The rest goes to the revision that was active when the rollout began. */
  private async setTraffic(tx: Tx, operation: OperationRow<RolloutInput>, percent: number): Promise<void> {
    const { input } = operation;
    await this.deployments.lockById(tx, input.deploymentId);
    // If the spec is that of the active revision, it is the same revision, and keeps all traffic.
    const weight = input.revisionId === input.foundActiveRevisionId ? 100 : percent;
    const targets: RouteTarget[] = [{ revisionId: input.revisionId, revisionName: input.revisionName, weight }];
    if (weight < 100) targets.unshift(...(await this.stableTargets(tx, input, 100 - weight)));
    await this.routes.apply(tx, { ...this.change(operation), targets });
    // A pause ends as soon as traffic moves again.
    await this.deployments.update(tx, input.deploymentId, { state: 'progressing' });
  }

  private async stableTargets(tx: Tx, input: RolloutInput, weight: number): Promise<RouteTarget[]> {
    const stable = await this.revisions.get(tx, input.foundActiveRevisionId as string);
    return [{ revisionId: stable.id, revisionName: stable.name, weight }];
  }

  private change(operation: OperationRow<RolloutInput>) {
    const { input } = operation;
    return {
      tenantId: operation.tenantId,
      deploymentId: input.deploymentId,
      deploymentName: input.deploymentName,
      updatedBy: operation.requestedBy,
      reason: operation.reason,
      operationId: operation.id,
      keepPreviousSeconds: input.keepPreviousSeconds,
    };
  }

  /** Ends the rollout: releases the traffic and the deployment, and keeps the candidate warm or stops retaining it. */
  async finish(tx: Tx, operation: OperationRow<RolloutInput>, outcome: OperationOutcome, failure?: OperationFailure) {
    const { input } = operation;
    if (input.isUnchanged) return undefined;
    const deployment = await this.deployments.lockById(tx, input.deploymentId);
    const isCandidate = outcome === 'succeeded' && !movesTraffic(input.strategy);
    if (isCandidate) await this.instances.retain(tx, input.revisionId, 'warm', input.keepPreviousSeconds);
    const { stops = [] } = input.changeover ?? {};
    const isDown = outcome !== 'succeeded' && (await this.recreate.isPreviousDown(tx, operation));
    for (const revisionId of [input.revisionId, ...stops.map((one) => one.revisionId)])
      await this.instances.release(tx, revisionId, `operation:${operation.id}`);
    // Last, because it writes an event if a hold remains.
    if (movesTraffic(input.strategy)) await this.routes.releaseTraffic(tx, input.deploymentId, operation.id);
    if (deployment?.currentOperationId === operation.id) {
      const active = isDown ? 'degraded' : 'active';
      const resting = deployment.activeRevisionId ? active : outcome === 'failed' ? 'failed' : 'creating';
      await this.deployments.update(tx, deployment.id, {
        currentOperationId: null,
        candidateRevisionId: isCandidate ? input.revisionId : null,
        state: resting,
      });
    }
    if (isCandidate)
      return {
        result: { outcome: 'candidate_ready' },
        message: candidateMessage(await this.routes.current(tx, input.deploymentId), input),
      };
    if (outcome === 'succeeded') return;
    return {
      result: { outcome: isDown ? 'failed_down' : 'reverted' },
      events: [
        ...(await this.candidate.retireUnbuilt(tx, input.revisionId, operation.id)),
        // The operation has the message.
        this.event('rollout.reverted', operation, { outcome, error_code: failure?.code, ...planOf(input) }),
      ],
    };
  }

  /**
   * A retry is refused if the deployment is being deleted, has another live operation, or now requires a plan. If it
   * fails again, it restores the route from the time of the retry.
   */
  async reclaim(tx: Tx, operation: OperationRow<RolloutInput>): Promise<Partial<RolloutInput>> {
    const { input } = operation;
    if (input.isUnchanged) return {};
    const deployment = await this.deployments.lock(tx, operation.tenantId, input.deploymentName);
    assertRolloutAllowed(deployment);
    assertAdmitted(deployment, input.planId);
    if (movesTraffic(input.strategy)) await this.routes.takeTraffic(tx, input.deploymentId, operation.id);
    const foundRoute = (await this.routes.current(tx, input.deploymentId)) ?? null;
    const changeover = input.changeover && { ...input.changeover, stops: stopsOf(foundRoute, input.revisionId) };
    await this.revisions.setState(tx, input.revisionId, 'pending', { from: ['failed', 'retired'] });
    await this.deployments.update(tx, deployment.id, {
      currentOperationId: operation.id,
      candidateRevisionId: input.revisionId,
      state: 'progressing',
    });
    return { foundRoute, foundActiveRevisionId: deployment.activeRevisionId, changeover };
  }

  private event(type: string, operation: OperationRow<RolloutInput>, data: Record<string, unknown>) {
    const { input } = operation;
    return {
      type,
      subject: `deployments/${input.deploymentName}`,
      actor: WORKER,
      operationId: operation.id,
      revisionId: input.revisionId,
      data: { operation_id: operation.id, revision: input.revisionName, ...data },
    };
  }
}

/** The plan that a rollout executes, as its events name it. */
function planOf({ planId }: RolloutInput): { plan_id?: string } {
  return planId ? { plan_id: planId } : {};
}
