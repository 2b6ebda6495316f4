import { WORKER } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { type Tx, Database } from '@slipway/platform-database';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  sleep,
  type Failure,
  type OperationOf,
  type OperationRow,
  type Outcome,
  type StepContext,
} from '@slipway/platform-operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { INSTANCES, type InstancesPort } from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RouteTarget, type RoutesPort } from '@slipway/ports/routing';
import { Analyst } from './analyst.js';
import { Candidate, didNotStayUp } from './candidate.js';
import { rolloutAllowed, type RolloutInput } from './rollout.input.js';
import { movesTraffic, percentAt, ROLLOUT_STEPS, soakSecondsAt } from './rollout.plan.js';

/**
 * A rollout: build the candidate, prove it ready, and, if the strategy moves traffic, move it step by step.
 *
 *   validate → provision → await_ready → [ shift_traffic:n → soak:n → analyze:n → await_promotion:n ]… → promote → drain_previous
 *   on failure or cancel: revert_traffic → remove_candidate
 *
 * Which steps a rollout has is decided when it is accepted (rollout.plan.ts). No step touches the stable revision's
 * instances; they are held by the route until the route has left them.
 */
export const ROLLOUT = defineOperation({
  kind: 'rollout',
  input: inputOf<RolloutInput>(),
  steps: ROLLOUT_STEPS,
  unwind: {
    revert_traffic: ['shift_traffic', 'soak', 'analyze', 'await_promotion', 'promote', 'drain_previous'],
    remove_candidate: ['provision', 'await_ready'],
  },
  pointOfNoReturn: 'promote',
  stepEvent: 'rollout.step_advanced',
});

type Context = StepContext<RolloutInput>;

const SILENCE_LIMIT_MS = 15_000;
const SILENCE_LOOK_MS = 250;

@Injectable()
@DurableOperation(ROLLOUT)
export class RolloutOperation implements OperationOf<typeof ROLLOUT> {
  readonly steps = {
    validate: {
      run: (context: Context) => this.candidate.validate(context.operation.tenantId, context.input.revisionId),
    },
    provision: { run: (context: Context) => this.candidate.provision(context.operation, context.input) },
    await_ready: {
      run: (context: Context) =>
        this.candidate.awaitReady(context, context.input.revisionId, context.input.progressDeadlineSeconds),
    },
    shift_traffic: { run: (context: Context) => this.shiftTraffic(context) },
    soak: { run: (context: Context) => this.soak(context) },
    analyze: { run: (context: Context) => this.analyst.analyze(context) },
    await_promotion: { run: (context: Context) => this.awaitPromotion(context) },
    promote: { run: (context: Context) => this.promote(context) },
    drain_previous: { run: (context: Context) => this.drainPrevious(context) },
  };

  readonly unwind = {
    revert_traffic: { run: (context: Context) => this.revertTraffic(context) },
    remove_candidate: { run: (context: Context) => this.candidate.remove(context, context.input.revisionId) },
  };

  constructor(
    private readonly database: Database,
    private readonly candidate: Candidate,
    private readonly analyst: Analyst,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  private async shiftTraffic({ operation, input, step }: Context) {
    const percent = percentAt(input.strategy, step.number);
    return done({
      message: `${percent} % of the traffic goes to ${input.revisionName}`,
      result: { traffic_percent: percent },
      commit: (tx) => this.setTraffic(tx, operation, percent),
    });
  }

  /** Sleeps in Postgres; the reconciler wakes it when an instance of the candidate changes, so a crash is seen at once. */
  private async soak(context: Context) {
    const { operation, input, step, state } = context;
    const soakMs = soakSecondsAt(input.strategy, step.number) * 1_000;
    const status = await this.database.tx('system', (tx) =>
      this.candidate.standing(tx, context, input.revisionId, input.revisionName),
    );
    // Without a crash, no answer may only mean that this worker has just started and has not looked yet.
    const silentSince = status?.ready === 0 ? Number(state?.['silentSince'] ?? step.elapsedMs()) : undefined;
    if (silentSince !== undefined && step.elapsedMs() - silentSince > SILENCE_LIMIT_MS)
      throw didNotStayUp(input.revisionName, status, 0);
    const leftMs = soakMs - step.elapsedMs();
    if (leftMs <= 0 && silentSince === undefined) return done({ message: `soaked for ${soakMs / 1_000} s` });
    return sleep({
      forMs: silentSince === undefined ? leftMs : SILENCE_LOOK_MS,
      status: 'waiting',
      state: { silentSince },
      message: `soaking until ${new Date(step.startedAt.getTime() + soakMs).toISOString()}`,
      commit: (tx) => this.instances.wakeOnChange(tx, input.revisionId, operation.id),
    });
  }

  private async awaitPromotion({ operation, input, step, resumed }: Context) {
    if (resumed) return done({ message: 'approved' });
    return sleep({
      status: 'waiting',
      awaiting: 'approval',
      message: `waits for POST /api/v1/operations/${operation.id}/resume`,
      commit: async (tx) => {
        await this.deployments.lockById(tx, input.deploymentId);
        await this.deployments.update(tx, input.deploymentId, { state: 'paused' });
        return { events: [this.event('rollout.paused', operation, { step: step.name, reason: 'approval' })] };
      },
    });
  }

  private async promote({ operation, input }: Context) {
    return done({
      message: `${input.revisionName} is active`,
      operationResult: { outcome: 'promoted' },
      commit: async (tx) => {
        await this.setTraffic(tx, operation, 100);
        await this.revisions.activated(tx, {
          deploymentId: input.deploymentId,
          revisionId: input.revisionId,
          operationId: operation.id,
        });
        return { events: [this.event('rollout.promoted', operation, {})] };
      },
    });
  }

  private drainPrevious(context: Context) {
    const { foundRoute, revisionId } = context.input;
    const previous = foundRoute?.targets.filter((target) => target.revisionId !== revisionId) ?? [];
    return this.candidate.drain(
      context,
      previous.map((target) => target.revisionId),
    );
  }

  private async revertTraffic({ operation, input }: Context) {
    return done({
      message: input.foundRoute ? 'the route it found is back' : 'it found no route, and there is none again',
      commit: async (tx) => {
        await this.deployments.lockById(tx, input.deploymentId);
        const actor = { ...operation.requestedBy };
        if (!input.foundRoute) return this.routes.remove(tx, input.deploymentId, actor, operation.id);
        const { targets, affinity } = input.foundRoute;
        await this.routes.apply(tx, {
          ...this.change(operation),
          targets,
          affinity,
          isRestore: true,
          keepPreviousSeconds: 0,
        });
        const wasActive = input.foundActiveRevisionId;
        if (wasActive)
          await this.revisions.activated(tx, {
            deploymentId: input.deploymentId,
            revisionId: wasActive,
            operationId: operation.id,
          });
      },
    });
  }

  /** Gives the candidate its share; what is left goes to the revision that was active when the rollout began. */
  private async setTraffic(tx: Tx, operation: OperationRow<RolloutInput>, percent: number): Promise<void> {
    const { input } = operation;
    await this.deployments.lockById(tx, input.deploymentId);
    const targets: RouteTarget[] = [
      { revisionId: input.revisionId, revisionName: input.revisionName, weight: percent },
    ];
    if (percent < 100) targets.unshift(...(await this.stableTargets(tx, input, 100 - percent)));
    await this.routes.apply(tx, { ...this.change(operation), targets });
    // A pause is over as soon as traffic moves again.
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

  /** Ends the rollout: traffic and the deployment are free again, and its hold on the candidate turns into warmth or nothing. */
  async finish(tx: Tx, operation: OperationRow<RolloutInput>, outcome: Outcome, failure?: Failure) {
    const { input } = operation;
    const deployment = await this.deployments.lockById(tx, input.deploymentId);
    if (movesTraffic(input.strategy)) await this.routes.releaseTraffic(tx, input.deploymentId, operation.id);
    const isCandidate = outcome === 'succeeded' && !movesTraffic(input.strategy);
    if (isCandidate) await this.instances.hold(tx, input.revisionId, 'warm', input.keepPreviousSeconds);
    await this.instances.release(tx, input.revisionId, `operation:${operation.id}`);
    if (deployment?.currentOperationId === operation.id) {
      const resting = deployment.activeRevisionId ? 'active' : outcome === 'failed' ? 'failed' : 'creating';
      await this.deployments.update(tx, deployment.id, {
        currentOperationId: null,
        candidateRevisionId: isCandidate ? input.revisionId : null,
        state: resting,
      });
    }
    if (outcome === 'succeeded') return isCandidate ? { result: { outcome: 'candidate_ready' } } : undefined;
    return {
      result: { outcome: 'reverted' },
      events: [
        this.event('rollout.reverted', operation, { outcome, error_code: failure?.code, message: failure?.message }),
      ],
    };
  }

  /** A retry lives only if no other operation does, and puts back the route that stands now, if it fails again. */
  async reclaim(tx: Tx, operation: OperationRow<RolloutInput>): Promise<Partial<RolloutInput>> {
    const { input } = operation;
    const deployment = await this.deployments.lock(tx, operation.tenantId, input.deploymentName);
    rolloutAllowed(deployment);
    if (movesTraffic(input.strategy)) await this.routes.takeTraffic(tx, input.deploymentId, operation.id);
    const foundRoute = (await this.routes.current(tx, input.deploymentId)) ?? null;
    await this.revisions.setState(tx, input.revisionId, 'pending', { from: ['failed', 'retired'] });
    await this.deployments.update(tx, deployment.id, {
      currentOperationId: operation.id,
      candidateRevisionId: input.revisionId,
      state: 'progressing',
    });
    return { foundRoute, foundActiveRevisionId: deployment.activeRevisionId };
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
