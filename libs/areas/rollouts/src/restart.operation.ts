import { counted, WORKER, type DeploymentState } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import {
  defineOperation,
  done,
  DurableOperation,
  inputOf,
  sleep,
  StepFailed,
  type OperationOf,
  type OperationOutcome,
  type OperationRow,
  type StepContext,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import {
  instanceFailures,
  INSTANCES,
  type InstancesPort,
  type Member,
  type MemberGeneration,
  type WorkloadStatus,
} from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { ROUTES, type RoutesPort } from '@slipway/ports/routing';
import { assertRolloutAllowed } from './acceptance.js';
import { Changeover } from './steps/changeover.js';
import { putBackRoute } from './steps/route.js';

/** The instances of one revision, as the restart was accepted. */
export interface RestartedRevision {
  revisionId: string;
  revisionName: string;
  /** An instance is restarted once it is ready with a later generation. */
  instances: MemberGeneration[];
}

export interface RestartInput {
  deploymentId: string;
  deploymentName: string;
  revisions: RestartedRevision[];
  /** How long an instance may take until it is ready. */
  deadlineSeconds: number;
  /** How long a request waits at most, if requests have to wait. */
  holdSeconds: number;
  estimatedSeconds: number | null;
  /** The state that its end restores. */
  stateBefore: DeploymentState;
}

/**
 * Replaces the instances of a deployment one after the other, as the next generation of the same revision.
 *
 *   add_instance → hold_requests → replace_instances → release_requests → remove_instance
 *   on failure or cancel: restore_instances
 *
 * With capacity for one more instance, that one starts first, so the others never do the work of the one that restarts.
 * Without it, each restarts in place while the others serve. The only instance of a revision without such capacity
 * restarts while requests wait at the gateways, as in a recreate.
 * An instance of the revision is never stopped while no other serves, unless requests wait. A failed restart stops no
 * further instance.
 */
export const RESTART = defineOperation({
  kind: 'restart',
  input: inputOf<RestartInput>(),
  steps: ['add_instance', 'hold_requests', 'replace_instances', 'release_requests', 'remove_instance'],
  // A retry adds the instance and holds the requests again. It skips what is restarted.
  unwind: { restore_instances: ['add_instance', 'hold_requests', 'replace_instances', 'release_requests'] },
});

type RestartContext = StepContext<RestartInput>;

/** Short, because the wake-up of a change may arrive while the step is running. */
const LOOK_MS = 500;
/** Longer than any drain, so that the deployment's own limit applies. */
const OWN_DRAIN_SECONDS = 1_000_000;

@Injectable()
@DurableOperation(RESTART)
export class RestartOperation implements OperationOf<typeof RESTART> {
  readonly steps = {
    add_instance: (context: RestartContext) => this.addInstance(context),
    hold_requests: (context: RestartContext) => this.holdRequests(context),
    replace_instances: (context: RestartContext) => this.replaceInstances(context),
    release_requests: (context: RestartContext) => this.releaseRequests(context),
    remove_instance: (context: RestartContext) => this.removeInstance(context),
  };
  readonly unwind = { restore_instances: (context: RestartContext) => this.restoreInstances(context) };

  constructor(
    private readonly database: Database,
    private readonly changeover: Changeover,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
    @Inject(ROUTES) private readonly routes: RoutesPort,
  ) {}

  private async addInstance(context: RestartContext): Promise<StepOutcome> {
    const { operation, input, state, step } = context;
    if (!state)
      return sleep({
        forMs: 0,
        status: 'running',
        state: { isAsked: true },
        commit: async (tx) => {
          const { deploymentId } = input;
          const { tenantId } = operation;
          await this.deployments.lockById(tx, deploymentId);
          for (const { revisionId, revisionName, instances } of input.revisions) {
            if (instances.length === 0) continue;
            const { spec } = await this.revisions.get(tx, revisionId);
            await this.instances.addSpare(tx, { tenantId, deploymentId, revisionId, revisionName, spec });
          }
        },
      });
    const found = await this.look(input);
    const spares = found.flatMap(({ hasSpare, members, ...one }) =>
      hasSpare ? [{ ...one, spare: members.find(({ isSpare }) => isSpare) }] : [],
    );
    const waiting = spares.find(({ spare }) => spare?.state !== 'ready');
    if (!waiting) {
      const without = found.filter(({ hasSpare }) => !hasSpare);
      const isHeld = without.some(({ members, pending }) => members.length === 1 && pending.length > 0);
      const added = { added: spares.map(({ revisionName }) => revisionName), isHeld };
      if (spares.length === 0) return done({ skipped: true, result: added, message: textWithoutSpare(input, isHeld) });
      return done({ result: added, message: `${counted(spares.length, 'additional instance')} ready.` });
    }
    this.assertInTime(waiting.spare, step.elapsedMs(), input, waiting.revisionName);
    const { revisionId, revisionName, spare } = waiting;
    return this.wait(context, [revisionId], `Starting one more instance of ${revisionName}${textOf(spare)}`, state);
  }

  private async holdRequests(context: RestartContext): Promise<StepOutcome> {
    const { input, results } = context;
    if (!isHeld(results)) return done({ skipped: true, message: 'No request has to wait.' });
    const { holdSeconds: maxSeconds, estimatedSeconds } = input;
    return this.changeover.hold(context, { maxSeconds, estimatedSeconds });
  }

  /** Restarts the next instance once the one before is ready. A repeat continues with the instance that is restarting. */
  private async replaceInstances(context: RestartContext): Promise<StepOutcome> {
    const { input, results, state, step } = context;
    const found = await this.look(input);
    const restarted = found.reduce((sum, one) => sum + one.restarted, 0);
    const all = found.reduce((sum, one) => sum + one.pending.length, restarted);
    const next = found.find(({ pending }) => pending.length > 0);
    if (!next) return done({ message: `${counted(all, 'instance')} restarted.`, operationResult: { restarted: all } });
    const { revisionId, revisionName, members, pending } = next;
    // First the one that is already restarting, then those that do not serve.
    const one = pending.find((member) => isRestarting(member, next)) ?? pending.find(isDown) ?? (pending[0] as Member);
    const elapsedMs = step.elapsedMs();
    // Its requests in flight have a limit of their own.
    const isSame = state?.['id'] === one.id && !one.isReplaced;
    const sinceMs = isSame ? Number(state?.['sinceMs']) : elapsedMs;
    const kept = { id: one.id, sinceMs };
    const message = `${restarted} of ${counted(all, 'instance')} restarted. Restarting ${one.id} of ${revisionName}${textOf(one)}`;
    if (isRestarting(one, next)) {
      if (!one.isReplaced) this.assertInTime(one, elapsedMs - sinceMs, input, revisionName);
      return this.wait(context, [revisionId], message, kept);
    }
    const isOtherReady = members.some(({ id, state: is }) => id !== one.id && is === 'ready');
    const mayStop = isDown(one) || isOtherReady || isHeld(results);
    if (elapsedMs - sinceMs > input.deadlineSeconds * 1_000)
      throw new StepFailed(
        instanceFailures.target_not_ready,
        mayStop
          ? `${one.id} of ${revisionName} could not be restarted within ${input.deadlineSeconds} s${textOf(one)}`
          : `No other instance of ${revisionName} was ready within ${input.deadlineSeconds} s, so its last one was not stopped.`,
      );
    if (!mayStop)
      return this.wait(context, [revisionId], `Waiting for another instance of ${revisionName} to be ready.`, kept);
    const drainSeconds = isHeld(results) ? input.holdSeconds : OWN_DRAIN_SECONDS;
    return sleep({
      forMs: LOOK_MS,
      status: 'running',
      message,
      state: kept,
      commit: async (tx) => {
        await this.deployments.lockById(tx, input.deploymentId);
        await this.instances.replace(tx, revisionId, one, drainSeconds);
        await this.instances.wakeOnChange(tx, revisionId, context.operation.id);
      },
    });
  }

  private async releaseRequests(context: RestartContext): Promise<StepOutcome> {
    const { isHeld, gapSeconds, message } = await this.changeover.gap(context);
    if (!isHeld) return done({ skipped: true, message: 'No requests wait.' });
    return done({ message, operationResult: { gap_seconds: gapSeconds }, commit: (tx) => this.release(tx, context) });
  }

  private async removeInstance({ input, results }: RestartContext): Promise<StepOutcome> {
    const { added = [] } = (results['add_instance'] ?? {}) as { added?: string[] };
    const commit = (tx: Tx) => this.removeSpares(tx, input);
    if (added.length === 0) return done({ skipped: true, commit });
    return done({ message: 'The additional instances stop once their requests have ended.', commit });
  }

  /** Lets the instance that is restarting come back before requests are released, for as long as they may wait. */
  private async restoreInstances(context: RestartContext): Promise<StepOutcome> {
    const { input, step } = context;
    const { isHeld, gapSeconds } = await this.changeover.gap(context);
    const found = isHeld ? await this.look(input) : [];
    const down = found.filter(({ members }) => members.length > 0 && !members.some(({ state }) => state === 'ready'));
    if (down.length > 0 && step.elapsedMs() < input.holdSeconds * 1_000) {
      const ids = down.map(({ revisionId }) => revisionId);
      return this.wait(context, ids, 'Waiting for the instance that is restarting.', { isRestoring: true });
    }
    return done({
      ...(isHeld && { operationResult: { gap_seconds: gapSeconds } }),
      commit: async (tx) => {
        await this.removeSpares(tx, input);
        if (isHeld) await this.release(tx, context);
      },
    });
  }

  async finish(tx: Tx, operation: OperationRow<RestartInput>, outcome: OperationOutcome) {
    const { deploymentId, deploymentName, revisions, stateBefore } = operation.input;
    const deployment = await this.deployments.lockById(tx, deploymentId);
    // Last, because it writes an event if a hold remains.
    await this.routes.releaseTraffic(tx, deploymentId, operation.id);
    if (deployment?.currentOperationId === operation.id)
      await this.deployments.update(tx, deploymentId, { currentOperationId: null, state: stateBefore });
    const data = {
      operation_id: operation.id,
      revisions: revisions.map(({ revisionName }) => revisionName),
      restarted: Number(operation.result['restarted'] ?? 0),
      outcome,
    };
    const about = { subject: `deployments/${deploymentName}`, actor: WORKER, operationId: operation.id };
    return { events: [{ type: 'restart.completed', ...about, data }] };
  }

  async reclaim(tx: Tx, operation: OperationRow<RestartInput>): Promise<void> {
    const { deploymentId, deploymentName } = operation.input;
    const deployment = await this.deployments.lock(tx, operation.tenantId, deploymentName);
    assertRolloutAllowed(deployment);
    await this.routes.takeTraffic(tx, deploymentId, operation.id);
    await this.deployments.update(tx, deploymentId, { currentOperationId: operation.id, state: 'progressing' });
  }

  /** Reads what is left to restart. An instance that has stopped for good needs no restart. */
  private look({ revisions }: RestartInput) {
    return this.database.tx('system', async (tx) => {
      const found = [];
      for (const revision of revisions) {
        const { members, hasSpare } = await this.instances.members(tx, revision.revisionId);
        const accepted = members.filter(({ id }) => revision.instances.some((one) => one.id === id));
        const pending = accepted.filter((member) => !isRestarted(member, revision));
        found.push({ ...revision, members, hasSpare, pending, restarted: accepted.length - pending.length });
      }
      return found;
    });
  }

  private wait(
    { operation }: RestartContext,
    revisionIds: readonly string[],
    message: string,
    state: Record<string, unknown>,
  ): StepOutcome {
    return sleep({
      forMs: LOOK_MS,
      status: 'running',
      message,
      state,
      commit: async (tx) => {
        for (const id of revisionIds) await this.instances.wakeOnChange(tx, id, operation.id);
      },
    });
  }

  /** @throws StepFailed if no waiting makes the instance ready, or the time is over */
  private assertInTime(member: Member | undefined, elapsedMs: number, input: RestartInput, name: string): void {
    const status = member && statusOf(member);
    if (status) this.instances.assertMayBecomeReady(status);
    if (elapsedMs <= input.deadlineSeconds * 1_000) return;
    const trouble = this.instances.troubleText(status);
    throw new StepFailed(
      this.instances.lateFailure(status),
      `An instance of ${name} was not ready within ${input.deadlineSeconds} s${trouble ? `: ${trouble}` : '.'}`,
    );
  }

  /** Publishes the same route without a hold. */
  private async release(tx: Tx, { operation, input }: RestartContext): Promise<void> {
    await this.deployments.lockById(tx, input.deploymentId);
    const route = await this.routes.current(tx, input.deploymentId);
    if (route) await putBackRoute(tx, this.routes, operation, { ...input, foundRoute: route });
  }

  private async removeSpares(tx: Tx, { deploymentId, revisions }: RestartInput): Promise<void> {
    await this.deployments.lockById(tx, deploymentId);
    for (const { revisionId } of revisions) await this.instances.removeSpare(tx, revisionId);
  }
}

const isHeld = (results: Record<string, unknown>): boolean =>
  (results['add_instance'] as { isHeld?: boolean } | undefined)?.isHeld === true;

function textWithoutSpare({ revisions }: RestartInput, isHeld: boolean): string {
  if (revisions.every(({ instances }) => instances.length === 0)) return 'No instance was running at the request.';
  return isHeld
    ? 'There is no capacity for one more instance, so requests wait during the restart.'
    : 'There is no capacity for one more instance. Each restarts while the others serve.';
}

const isDown = ({ state }: Member): boolean => state !== 'ready';

/** Whether its next generation has begun, or begins as soon as its requests have ended. */
function isRestarting({ id, generation, isReplaced }: Member, { instances }: RestartedRevision): boolean {
  return isReplaced || instances.some((one) => one.id === id && one.generation < generation);
}

function isRestarted(member: Member, revision: RestartedRevision): boolean {
  return member.state === 'ready' && !member.isReplaced && isRestarting(member, revision);
}

const textOf = (member: Member | undefined): string => (member?.message ? `: ${member.message}` : '.');

/** The state of one instance as that of a workload with no other. */
function statusOf({ message, reason, failure, failedStarts, progress }: Member): WorkloadStatus {
  const counts = { desired: 1, ready: 0, alive: 1, restarts: 0, baseUrls: [] };
  return { ...counts, message, reason, failure, failedStarts, progress };
}
