import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { PausePoints } from '@slipway/platform-config';
import { Database, newId, type Statement } from '@slipway/platform-database';
import { counter, withLogContext } from '@slipway/platform-observability';
import { OPERATION_STEPS } from '../accept/operation.query.js';
import { baseName, priorityOf, type OperationPriority, type AnyInput } from '../define/operation.definition.js';
import { OperationDefinitions } from '../define/operation.definitions.js';
import { StepFailed, type Step, type StepSleep } from '../define/steps.js';
import { operationFailures } from '../operation.failures.js';
import {
  isDone,
  stepOf,
  stepsAfter,
  type OperationFailure,
  type OperationRow,
  type OperationState,
  type StepRow,
  type StoredStep,
} from '../operation.row.js';
import { Leases } from './leases.js';
import { LeaseLost } from './gathered-commits.js';
import { countEndsOf, OperationCommits, type StepRun } from './operation.commits.js';
import { ACQUIRE_OPERATION, CLAIM_OPERATIONS, HELD_OPERATION } from './run.query.js';
import type { ClaimRequest } from './worker-slots.js';

const UNKNOWN_KIND_RETRY_MS = 5_000;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** Minimum time for which an undo step is tried. Outages of its dependencies end sooner. */
const WAY_BACK_PATIENCE_MS = 600_000;

const stuck = counter(
  'slipway_operations_stuck_total',
  'Operations whose undo steps failed permanently; each needs a person.',
  ['kind'],
);

/** An operation whose lease this process has taken. */
export type LeasedOperation = OperationState & Pick<AcquiredRow, 'isLate'> & { signal: AbortSignal };

/** The row that the statement of `taking` returns for an operation. */
type AcquiredRow = OperationRow & {
  isLate: boolean;
  /** Their state before the statement. */
  steps: StoredStep[];
  /** The steps that the statement began. */
  changed: StoredStep[];
};

/** The action after the run of a step: continue with this state, read the state again, or stop. */
type NextMove = OperationState | 'again' | 'stop';

/**
 * Drives one operation as far as possible now. It takes the lease, runs step after step, and stops when the operation
 * sleeps or ends, or when another worker has it. Whatever happens between two lines, the row says how to continue.
 */
@Injectable()
export class OperationRunner implements OnApplicationBootstrap {
  private readonly logger = new Logger('operations');
  private readonly commits: OperationCommits;

  constructor(
    private readonly database: Database,
    private readonly definitions: OperationDefinitions,
    private readonly leases: Leases,
    private readonly pausePoints: PausePoints,
  ) {
    this.commits = new OperationCommits(database, leases.seconds);
  }

  onApplicationBootstrap(): void {
    for (const kind of this.definitions.kinds) {
      countEndsOf(kind);
      stuck.inc({ kind }, 0);
    }
  }

  /** Drives one operation, if it is due and no worker holds it. */
  async drive(operationId: string): Promise<void> {
    for (const acquired of await this.acquire(ACQUIRE_OPERATION, [operationId], 1)) await this.run(acquired);
  }

  /** Claims due operations, at most as many as requested. The caller must `run` each of them. */
  async claim({ priorities, limit, skip, outboundLimit, skipOutbound }: ClaimRequest): Promise<LeasedOperation[]> {
    const kinds = this.definitions.kindsOf(priorities);
    const outbound = this.definitions.kindsOf(['outbound']);
    // Without any kind, Postgres would read everything that is due and take nothing.
    const outboundMost = outbound.length > 0 ? outboundLimit : 0;
    if (kinds.length === 0 && outboundMost === 0) return [];
    return this.acquire(CLAIM_OPERATIONS, [limit, kinds, skip, outbound, skipOutbound, outboundMost], limit);
  }

  /** The priority of a claimed operation. */
  priorityOf({ operation }: LeasedOperation): OperationPriority {
    return priorityOf(this.definitions.find(operation.kind)?.definition ?? {});
  }

  async run(acquired: LeasedOperation): Promise<void> {
    const { operation, signal } = acquired;
    try {
      await withLogContext({ operation_id: operation.id, tenant_id: operation.tenantId }, async () => {
        let current: OperationState | undefined = acquired.isLate ? await this.reload(operation) : acquired;
        while (current) {
          const next: NextMove = await this.advance(current, signal);
          if (next === 'stop') return;
          current = next === 'again' ? await this.reload(operation) : next;
        }
      });
    } finally {
      this.leases.drop(operation.id, operation.leaseVersion);
    }
  }

  /** @param most maximum number of operations that the statement may take */
  private async acquire(statement: Statement, which: readonly unknown[], most: number): Promise<LeasedOperation[]> {
    const eventIds = Array.from({ length: most }, () => newId('evt'));
    const values = [this.leases.owner, this.leases.seconds, eventIds, ...which];
    const acquired = await this.database.once<AcquiredRow>('system', statement, values, { hasOnePlan: true });
    const held = acquired.map((row) => ({ ...stateOf(row), signal: this.leases.take(row.id, row.leaseVersion) }));
    if (held.length > 0) await this.pausePoints.reach('operation:acquired');
    return held;
  }

  /**
   * Reads the state after a commit in one round trip. Returns undefined once the lease is lost or the operation has
   * ended.
   */
  private async reload({ id, leaseVersion }: OperationRow): Promise<OperationState | undefined> {
    const [[operation], steps] = await Promise.all([
      this.database.read<OperationRow>('system', HELD_OPERATION, [id, leaseVersion]),
      this.database.read<StepRow>('system', OPERATION_STEPS, [id]),
    ]);
    return operation && { operation, steps };
  }

  private async advance({ operation, steps }: OperationState, signal: AbortSignal): Promise<NextMove> {
    const runnable = this.definitions.find(operation.kind);
    const isUnwinding = operation.phase === 'unwinding';
    const [step, next] = steps.filter((one) => one.isUnwind === isUnwinding && !isDone(one));
    if (!runnable || !step) return this.putBack(operation, step);
    const stepRun: StepRun = { runnable, operation, steps, step, next };
    try {
      if (!isUnwinding && operation.cancelRequested) return await this.unwind(stepRun, CANCELLED);
      if (!isUnwinding && operation.attempt > operation.maxAttempts)
        return await this.unwind(stepRun, exhausted(stepRun, 'its worker died each time'));
      if (isUnwinding && operation.attempt > operation.maxAttempts && (step.ageMs ?? 0) > WAY_BACK_PATIENCE_MS)
        return await this.giveUp(stepRun, 'its worker died each time');
      if (!isUnwinding && operation.pause && runnable.definition.pausesBefore?.includes(baseName(step.name))) {
        await this.commits.stepSleeps(stepRun, untilResumed(stepRun));
        return 'stop';
      }
      return await this.runStep(stepRun, signal);
    } catch (error) {
      // A lost guard means a cancel (the reload shows it and the next step run unwinds) or a lost lease (the reload
      // finds nothing).
      if (error instanceof LeaseLost) return 'again';
      return this.failed(stepRun, error);
    }
  }

  private async runStep(stepRun: StepRun, signal: AbortSignal): Promise<NextMove> {
    const { operation, steps, step } = stepRun;
    const readAt = performance.now();
    const outcome = await bodyOf(stepRun)({
      operation,
      input: operation.input,
      signal,
      state: step.state,
      resumed: operation.isResumed,
      results: Object.fromEntries(steps.filter((one) => one.result !== null).map((one) => [one.name, one.result])),
      step: {
        name: step.name,
        number: Number(step.name.split(':')[1] ?? 0),
        startedAt: step.startedAt ?? new Date(),
        elapsedMs: () => elapsedMs(stepRun, performance.now() - readAt),
      },
      effectKey: `${operation.id}-${step.name}`,
    });
    await this.pausePoints.reach(`operation:${step.name}:before-commit`);
    if (outcome.kind === 'sleep') {
      await this.commits.stepSleeps(stepRun, outcome);
      return 'stop';
    }
    const state = await this.commits.stepDone(stepRun, outcome);
    await this.pausePoints.reach(`operation:${step.name}:after-commit`);
    return state ?? 'stop';
  }

  private async failed(stepRun: StepRun, error: unknown): Promise<NextMove> {
    const { operation, step } = stepRun;
    const message = reasonOf(error);
    const isForward = operation.phase === 'forward';
    try {
      if (isForward && error instanceof StepFailed) {
        const failure = { code: error.code, message, retryable: error.options.retryable ?? true };
        return await this.unwind(stepRun, failure, error.options);
      }
      this.logger.warn(`step ${step.name} of ${operation.kind} failed on attempt ${operation.attempt}: ${message}`);
      if (operation.attempt >= operation.maxAttempts) {
        if (isForward) return await this.unwind(stepRun, exhausted(stepRun, message));
        if ((step.ageMs ?? 0) > WAY_BACK_PATIENCE_MS) return await this.giveUp(stepRun, message);
      }
      const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** operation.attempt);
      const again = { delayMs, message: `Attempt ${operation.attempt} failed: ${message}` };
      await this.commits.stepRetries(stepRun, again);
      return 'stop';
    } catch (second) {
      if (second instanceof LeaseLost) return 'again';
      // Postgres is down: the lease expires and the repair finds the row.
      this.logger.error(`could not record the failure of step ${step.name}: ${reasonOf(second)}`);
      return 'stop';
    }
  }

  private async unwind(stepRun: StepRun, failure: OperationFailure, found?: StepFailed['options']): Promise<NextMove> {
    await this.commits.beginUnwind(stepRun, failure, found);
    await this.pausePoints.reach('operation:unwinding');
    return 'again';
  }

  /**
   * Stops an unwind that can never succeed; nothing else ends it. The effects of the forward steps stay, and a person
   * must check them.
   */
  private async giveUp(stepRun: StepRun, reason: string): Promise<NextMove> {
    const { operation, step } = stepRun;
    const message = `Undo step ${step.name} failed: ${reason}. Reason for the undo: ${operation.failure?.message ?? ''}`;
    this.logger.error(`${operation.kind} ${operation.id}: ${message}`);
    await this.commits.wayBackFails(stepRun, message);
    stuck.inc({ kind: operation.kind });
    return 'stop';
  }

  /**
   * Puts back an operation of a kind that this process does not know, because a newer version wrote it. A process that
   * knows the kind runs it.
   */
  private async putBack(operation: OperationRow, step: StepRow | undefined): Promise<NextMove> {
    this.logger.warn(`this worker does not know operation kind ${operation.kind}; a newer worker must run it`);
    if (!step) return 'stop';
    // This does not count as an attempt.
    const stepRun = { operation: { ...operation, attempt: operation.attempt - 1 }, step };
    const again = { delayMs: UNKNOWN_KIND_RETRY_MS, message: '' };
    await this.commits.stepRetries(stepRun, again);
    return 'stop';
  }
}

function stateOf({ isLate, steps, changed, ...operation }: AcquiredRow): Omit<LeasedOperation, 'signal'> {
  return { operation, steps: stepsAfter(steps.map(stepOf), changed), isLate };
}

function bodyOf({ runnable, step }: StepRun): Step<AnyInput> {
  const body = step.isUnwind
    ? runnable.unwind.find((one) => one.name === step.name)?.run
    : runnable.steps[baseName(step.name)];
  if (body) return body;
  const message = `This version of Slipway has no step ${step.name} in operation kind ${runnable.definition.kind}`;
  throw new StepFailed(operationFailures.internal, message, { retryable: false });
}

/** Milliseconds since the step began, without the time for which the operation was paused. */
function elapsedMs({ operation: { pause }, step }: StepRun, sinceReadMs: number): number {
  const ageMs = (step.ageMs ?? 0) + sinceReadMs;
  const startedAt = step.startedAt?.getTime() ?? 0;
  const pausedForMs = pause ? startedAt + ageMs - Math.max(startedAt, Date.parse(pause.at)) : 0;
  return ageMs - step.pausedMs - Math.max(0, pausedForMs);
}

/** A paused operation waits before the step. */
function untilResumed({ runnable, operation, step }: StepRun): StepSleep {
  const reason = operation.pause?.reason;
  return {
    kind: 'sleep',
    status: 'waiting',
    waitingFor: 'resume',
    message: reason ? `Paused: ${reason}` : 'Paused by a person.',
    state: step.state ?? undefined,
    commit: async (tx) => ({ events: await runnable.atPause?.(tx, operation, step.name) }),
  };
}

const CANCELLED: OperationFailure = {
  code: operationFailures.cancelled_by_user.code,
  message: 'Cancelled on request.',
  retryable: false,
};

function exhausted({ operation, step }: StepRun, reason: string): OperationFailure {
  return {
    code: operationFailures.attempts_exhausted.code,
    message: `Step ${step.name} failed ${operation.maxAttempts} times: ${reason}`,
    retryable: true,
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
