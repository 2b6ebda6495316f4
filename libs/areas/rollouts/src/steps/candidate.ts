import { setTimeout as delay } from 'node:timers/promises';
import { CAPACITY_REASONS, PERMANENT_REASONS, WORKER, type Actor } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import type { NewEvent } from '@slipway/platform-durable/events';
import {
  done,
  operationFailures,
  sleep,
  StepFailed,
  type OperationFailure,
  type OperationRow,
  type StepContext,
  type StepOutcome,
} from '@slipway/platform-durable/operations';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import {
  instanceFailures,
  INSTANCES,
  type InstancesPort,
  type RevisionSpecIssue,
  type Takeover,
  type WorkloadStatus,
} from '@slipway/ports/instances';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { rolloutFailures } from '../rollout.errors.js';

/**
 * The longest sleep of a readiness wait that nothing wakes. It is short, because the reconciler's wake-up may arrive
 * while the step is running.
 */
const READY_LOOK_MS = 500;
const GONE_LOOK_MS = 100;
/**
 * A worker reads a change of the operator's file up to a second later than the api that accepted the spec, and even
 * later if it is busy.
 */
const FILE_LAG = { looks: 6, lookMs: 500 };
/** A cancel must not wait for the whole grace period of an engine. The reconciler stops the engine in any case. */
const GONE_LIMIT_MS = { cancelled: 1_000, failed: 15_000 };

interface CandidateRevision {
  deploymentId: string;
  revisionId: string;
  revisionName: string;
}

/** The steps that start a revision and remove it again. Rollout and rollback share them. */
@Injectable()
export class Candidate {
  constructor(
    private readonly database: Database,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    @Inject(INSTANCES) private readonly instances: InstancesPort,
  ) {}

  /**
   * Checks the spec again, because the configuration may have changed since the request. This also checks what only a
   * running server can report, and a retry repeats it.
   */
  async validate(tenantId: string, revisionId: string): Promise<StepOutcome> {
    const judge = () =>
      this.database.tx('system', async (tx) => {
        const { spec } = await this.revisions.get(tx, revisionId);
        return { spec, issues: await this.instances.check(tx, tenantId, spec) };
      });
    let { spec, issues } = await judge();
    for (let looks = FILE_LAG.looks; issues.length > 0 && looks > 0; looks--) {
      await delay(FILE_LAG.lookMs);
      ({ spec, issues } = await judge());
    }
    if (issues.length > 0) throw refused(issues, { isRetryable: false });
    const found = await this.instances.examine({ tenantId, revisionId, spec });
    if (found.issues.length > 0) throw refused(found.issues, { isRetryable: true });
    return done({ message: found.message });
  }

  /** Retains the instances; the reconciler starts them. */
  async provision(operation: OperationRow, target: CandidateRevision, takesOver?: Takeover): Promise<StepOutcome> {
    return done({
      commit: async (tx) => {
        await this.deployments.lockById(tx, target.deploymentId);
        const revision = await this.revisions.get(tx, target.revisionId);
        const { tenantId, deploymentId, spec } = revision;
        await this.instances.want(
          tx,
          { tenantId, deploymentId, revisionId: revision.id, revisionName: revision.name, spec, takesOver },
          `operation:${operation.id}`,
        );
        await this.revisions.setState(tx, revision.id, 'provisioning', { from: ['pending', 'draining', 'retired'] });
      },
    });
  }

  async awaitReady(context: StepContext<unknown>, revisionId: string, deadlineSeconds: number): Promise<StepOutcome> {
    const status = await this.database.tx('system', (tx) => this.instances.status(tx, revisionId));
    const { desired = 1, ready = 0, reason = null } = status ?? {};
    const { failure } = status ?? {};
    const evidence = {
      ready,
      desired,
      restarts: status?.restarts ?? 0,
      ...(reason && { cause: reason }),
      ...(failure && { cause: failure.cause, exit_code: failure.exit_code, log_tail: failure.log_tail }),
    };
    if (ready >= desired) {
      return done({
        message: `${ready} of ${desired} instances are ready.`,
        result: { restarts: status?.restarts ?? 0, crashes: status?.crashes },
        commit: (tx) => this.markReady(tx, context, revisionId),
      });
    }
    if (status) this.instances.assertMayBecomeReady(status);
    const trouble = this.instances.troubleText(status);
    if (reason && PERMANENT_REASONS.has(reason)) {
      const stepMessage = `${ready} of ${desired} instances are ready, and waiting does not help.`;
      throw new StepFailed(instanceFailures.target_not_ready, trouble ?? reason, { stepMessage, evidence });
    }
    const leftMs = deadlineSeconds * 1_000 - context.step.elapsedMs();
    if (leftMs <= 0) {
      const counted = `${ready} of ${desired} instances were ready after ${deadlineSeconds} s`;
      const stepMessage = trouble ? counted : '';
      throw new StepFailed(this.instances.lateFailure(status), trouble ?? counted, { stepMessage, evidence });
    }
    const waitsForCapacity = reason !== null && CAPACITY_REASONS.has(reason);
    return sleep({
      forMs: Math.min(READY_LOOK_MS, leftMs),
      status: waitsForCapacity ? 'waiting' : 'running',
      waitingFor: waitsForCapacity ? 'capacity' : undefined,
      message: this.instances.waitMessage(status),
      commit: (tx) => this.instances.wakeOnChange(tx, revisionId, context.operation.id),
    });
  }

  /**
   * Returns the candidate's current status. A crash since it was ready fails the operation in the step that notices it
   * first, because the records of a dead candidate would show the same less clearly. An additional instance, which is
   * started for more load, may need several attempts.
   * @throws StepFailed if the candidate did not stay up
   */
  async assertUp(
    tx: Tx,
    context: StepContext<unknown>,
    revisionId: string,
    revisionName: string,
  ): Promise<WorkloadStatus | undefined> {
    const status = await this.instances.status(tx, revisionId);
    const crashes = crashesOf(status) - crashesOf(context.results['await_ready'] as CrashCounts | undefined);
    if (status && crashes <= 0) return status;
    throw didNotStayUp(revisionName, status, crashes);
  }

  /** Whether at least one instance is ready, and all ready ones answer a request now. */
  async answers(revisionId: string): Promise<boolean> {
    const { answered, asked } = await this.instances.probe(revisionId);
    return asked > 0 && answered === asked;
  }

  async hasReadyInstances(tx: Tx, revisionId: string): Promise<boolean> {
    return ((await this.instances.status(tx, revisionId))?.ready ?? 0) > 0;
  }

  /** Ends the operation's reason to retain the candidate, and gives the processes a moment to exit. */
  async remove(context: StepContext<unknown>, revisionId: string): Promise<StepOutcome> {
    const { operation, state, step } = context;
    const failure = operation.failure as OperationFailure;
    if (!state) {
      return sleep({
        forMs: GONE_LOOK_MS,
        status: 'running',
        state: { isReleased: true },
        commit: async (tx) => {
          await this.instances.release(tx, revisionId, `operation:${operation.id}`);
          await this.instances.release(tx, revisionId, 'warm');
          return this.markFailed(tx, operation, revisionId, failure);
        },
      });
    }
    const status = await this.database.tx('system', (tx) => this.instances.status(tx, revisionId));
    const limitMs =
      failure.code === operationFailures.cancelled_by_user.code ? GONE_LIMIT_MS.cancelled : GONE_LIMIT_MS.failed;
    const isOver = step.elapsedMs() > limitMs;
    if (status && status.alive > 0 && status.desired === 0 && !isOver)
      return sleep({ forMs: GONE_LOOK_MS, status: 'running', state });
    return done();
  }

  /**
   * Retires a revision for which no instance was ever requested. Nothing else would retire it, because none of its
   * instances stops.
   */
  async retireUnbuilt(tx: Tx, revisionId: string, operationId: string, actor: Actor = WORKER): Promise<NewEvent[]> {
    const moved = await this.revisions.setState(tx, revisionId, 'retired', { from: ['pending'] });
    return moved ? [this.revisions.event('revision.retired', moved, { actor, operationId })] : [];
  }

  private async markReady(tx: Tx, context: StepContext<unknown>, revisionId: string) {
    const moved = await this.revisions.setState(tx, revisionId, 'ready', { from: ['pending', 'provisioning'] });
    return {
      events: moved
        ? [this.revisions.event('revision.ready', moved, { actor: WORKER, operationId: context.operation.id })]
        : [],
    };
  }

  /** A revision that served before stays restorable. A cancel does not mark a candidate as failed. */
  private async markFailed(tx: Tx, operation: OperationRow, revisionId: string, failure: OperationFailure) {
    if (
      failure.code === operationFailures.cancelled_by_user.code ||
      (await this.revisions.wasEverActive(tx, revisionId))
    )
      return;
    const moved = await this.revisions.setState(tx, revisionId, 'failed', { message: failure.message });
    // The operation has the message.
    const data = { error_code: failure.code };
    const about = { actor: WORKER, operationId: operation.id, data };
    return { events: moved ? [this.revisions.event('revision.failed', moved, about)] : [] };
  }
}

export function refused(issues: readonly RevisionSpecIssue[], { isRetryable }: { isRetryable: boolean }): StepFailed {
  const message = issues.map((issue) => `${issue.field}: ${issue.message}`).join('; ');
  return new StepFailed(operationFailures.validation_failed, message, { retryable: isRetryable, evidence: issues });
}

type CrashCounts = Partial<Pick<WorkloadStatus, 'restarts' | 'crashes'>>;

/** The result of a step of a previous version has only the restarts. */
function crashesOf({ crashes, restarts = 0 }: CrashCounts = {}): number {
  return crashes ?? restarts;
}

/** The failure of a candidate that was ready and no longer is. */
export function didNotStayUp(revisionName: string, status: WorkloadStatus | undefined, restarts: number): StepFailed {
  return new StepFailed(
    rolloutFailures.health_regression,
    `${revisionName} did not stay up: ${status?.message ?? 'no instance responds to its probe'}`,
    { evidence: { restarts, ready: status?.ready ?? 0, desired: status?.desired ?? 0 } },
  );
}
