import { Injectable, Logger } from '@nestjs/common';
import { PausePoints } from '@slipway/platform-config';
import { Database, newId, type Statement } from '@slipway/platform-database';
import { counter, withLogContext } from '@slipway/platform-observability';
import { STEPS } from '../accept/operation.query.js';
import { baseName, laneOf, type AnyInput, type Lane } from '../define/operation.definition.js';
import { OperationDefinitions } from '../define/operation.definitions.js';
import { StepFailed, type Step } from '../define/steps.js';
import { operationFailures } from '../operation.failures.js';
import {
  stepOf,
  stepsAfter,
  type Failure,
  type OperationRow,
  type Standing,
  type StepRow,
  type StoredStep,
} from '../operation.row.js';
import { Leases } from './leases.js';
import { GuardLost } from './gathered-commits.js';
import { isDone } from './commit-record.js';
import { OperationCommits, type Turn } from './operation.commits.js';
import { ACQUIRE, CLAIM, HELD } from './run.query.js';
import type { Ask } from './worker-slots.js';

const UNKNOWN_KIND_RETRY_MS = 5_000;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 10_000;
/** For how long a step of the way back is tried, at the least: outages of what it needs end sooner. */
const WAY_BACK_PATIENCE_MS = 600_000;

/** An operation whose lease this process has taken. */
export type Acquired = Standing & Pick<Taken, 'isLate'> & { signal: AbortSignal };

/** What `taking` returns of an operation. */
type Taken = OperationRow & {
  isLate: boolean;
  /** As they stood before. */
  steps: StoredStep[];
  /** Those of them that the statement began. */
  changed: StoredStep[];
};

/** What follows a turn: go on with what stands now, look at what stands, or stop driving. */
type Next = Standing | 'again' | 'stop';

/**
 * Drives one operation as far as it goes now: takes the lease, runs step after step, and stops when the operation sleeps,
 * ends, or turns out to be somebody else's. Whatever happens between two lines, the row says where to go on.
 */
@Injectable()
export class OperationRunner {
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

  /** One operation, if it is due and nobody holds it. */
  async drive(operationId: string): Promise<void> {
    for (const acquired of await this.acquire(ACQUIRE, [operationId], 1)) await this.run(acquired);
  }

  /** Takes what is due, and no more than was asked for. Each of them must be `run`. */
  claim({ lanes, limit, skip, skipOutbound }: Ask): Promise<Acquired[]> {
    const kinds = this.definitions.kindsOf(lanes);
    const outbound = this.definitions.kindsOf(['outbound']);
    return this.acquire(CLAIM, [limit, kinds, skip, outbound, skipOutbound], limit);
  }

  /** The lane of what was claimed. */
  laneOf({ operation }: Acquired): Lane {
    return laneOf(this.definitions.find(operation.kind)?.definition ?? {});
  }

  async run(acquired: Acquired): Promise<void> {
    const { operation, signal } = acquired;
    try {
      await withLogContext({ operation_id: operation.id, tenant_id: operation.tenantId }, async () => {
        let current: Standing | undefined = acquired.isLate ? await this.reload(operation) : acquired;
        while (current) {
          const next: Next = await this.turn(current, signal);
          if (next === 'stop') return;
          current = next === 'again' ? await this.reload(operation) : next;
        }
      });
    } finally {
      this.leases.drop(operation.id, operation.leaseVersion);
    }
  }

  /** @param most operations that the statement may take */
  private async acquire(statement: Statement, which: readonly unknown[], most: number): Promise<Acquired[]> {
    const eventIds = Array.from({ length: most }, () => newId('evt'));
    const values = [this.leases.owner, this.leases.seconds, eventIds, ...which];
    const acquired = await this.database.once<Taken>('system', statement, values, { hasOnePlan: true });
    const held = acquired.map((row) => ({ ...standingOf(row), signal: this.leases.hold(row.id, row.leaseVersion) }));
    if (held.length > 0) await this.pausePoints.reach('operation:acquired');
    return held;
  }

  /** What stands after a commit, as long as the lease is still ours and there is something left to do; asked in one round trip. */
  private async reload({ id, leaseVersion }: OperationRow): Promise<Standing | undefined> {
    const [[operation], steps] = await Promise.all([
      this.database.read<OperationRow>('system', HELD, [id, leaseVersion]),
      this.database.read<StepRow>('system', STEPS, [id]),
    ]);
    return operation && { operation, steps };
  }

  private async turn({ operation, steps }: Standing, signal: AbortSignal): Promise<Next> {
    const runnable = this.definitions.find(operation.kind);
    const isUnwinding = operation.phase === 'unwinding';
    const [step, next] = steps.filter((one) => one.isUnwind === isUnwinding && !isDone(one));
    if (!runnable || !step) return this.putBack(operation, step);
    const turn: Turn = { runnable, operation, steps, step, next };
    try {
      if (!isUnwinding && operation.cancelRequested) return await this.unwind(turn, CANCELLED);
      if (!isUnwinding && operation.attempt > operation.maxAttempts)
        return await this.unwind(turn, exhausted(turn, 'its worker died each time'));
      if (isUnwinding && operation.attempt > operation.maxAttempts && (step.ageMs ?? 0) > WAY_BACK_PATIENCE_MS)
        return await this.giveUp(turn, 'its worker died each time');
      return await this.runStep(turn, signal);
    } catch (error) {
      // A lost guard means a cancel (the reload shows it and the next turn unwinds) or a lost lease (the reload finds nothing).
      if (error instanceof GuardLost) return 'again';
      return this.failed(turn, error);
    }
  }

  private async runStep(turn: Turn, signal: AbortSignal): Promise<Next> {
    const { operation, steps, step } = turn;
    const readAt = performance.now();
    const outcome = await bodyOf(turn)({
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
        elapsedMs: () => (step.ageMs ?? 0) + performance.now() - readAt,
      },
      effectKey: `${operation.id}-${step.name}`,
    });
    await this.pausePoints.reach(`operation:${step.name}:before-commit`);
    if (outcome.kind === 'sleep') {
      await this.commits.stepSleeps(turn, outcome);
      return 'stop';
    }
    const standing = await this.commits.stepDone(turn, outcome);
    await this.pausePoints.reach(`operation:${step.name}:after-commit`);
    return standing ?? 'stop';
  }

  private async failed(turn: Turn, error: unknown): Promise<Next> {
    const { operation, step } = turn;
    const message = reasonOf(error);
    const isForward = operation.phase === 'forward';
    try {
      if (isForward && error instanceof StepFailed) {
        const failure = { code: error.code, message, retryable: error.options.retryable ?? true };
        return await this.unwind(turn, failure, error.options);
      }
      this.logger.warn(`step ${step.name} of ${operation.kind} failed, attempt ${operation.attempt}: ${message}`);
      if (operation.attempt >= operation.maxAttempts) {
        if (isForward) return await this.unwind(turn, exhausted(turn, message));
        if ((step.ageMs ?? 0) > WAY_BACK_PATIENCE_MS) return await this.giveUp(turn, message);
      }
      const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** operation.attempt);
      const again = { delayMs, message: `attempt ${operation.attempt} failed: ${message}` };
      await this.commits.stepRetries(turn, again);
      return 'stop';
    } catch (second) {
      if (second instanceof GuardLost) return 'again';
      // Postgres is away: the lease runs out and the repair finds the row.
      this.logger.error(`could not record the failure of ${step.name}: ${reasonOf(second)}`);
      return 'stop';
    }
  }

  private async unwind(turn: Turn, failure: Failure, found?: StepFailed['options']): Promise<Next> {
    await this.commits.beginUnwind(turn, failure, found);
    await this.pausePoints.reach('operation:unwinding');
    return 'again';
  }

  /** What was done forward stays as it is, and a person must look: nothing else ends a way back that can never succeed. */
  private async giveUp(turn: Turn, reason: string): Promise<Next> {
    const { operation, step } = turn;
    const message = `the way back failed at ${step.name}: ${reason}; it began because: ${operation.failure?.message ?? ''}`;
    this.logger.error(`${operation.kind} ${operation.id}: ${message}`);
    await this.commits.wayBackFails(turn, message);
    counter('slipway_operations_stuck_total', 'Operations whose way back failed for good: look at each.', ['kind']).inc(
      { kind: operation.kind },
    );
    return 'stop';
  }

  /** A kind this process does not know (a newer version wrote it): leave it to a process that does. */
  private async putBack(operation: OperationRow, step: StepRow | undefined): Promise<Next> {
    this.logger.warn(`no definition here for kind ${operation.kind}`);
    if (!step) return 'stop';
    // That is no attempt.
    const turn = { operation: { ...operation, attempt: operation.attempt - 1 }, step };
    const again = { delayMs: UNKNOWN_KIND_RETRY_MS, message: '' };
    await this.commits.stepRetries(turn, again);
    return 'stop';
  }
}

function standingOf({ isLate, steps, changed, ...operation }: Taken): Omit<Acquired, 'signal'> {
  return { operation, steps: stepsAfter(steps.map(stepOf), changed), isLate };
}

function bodyOf({ runnable, step }: Turn): Step<AnyInput> {
  const body = step.isUnwind
    ? runnable.unwind.find((one) => one.name === step.name)?.run
    : runnable.steps[baseName(step.name)];
  if (body) return body;
  const message = `this version of ${runnable.definition.kind} has no step ${step.name}`;
  throw new StepFailed(operationFailures.internal, message, { retryable: false });
}

const CANCELLED: Failure = {
  code: operationFailures.cancelled_by_user.code,
  message: 'cancelled on request',
  retryable: false,
};

function exhausted({ operation, step }: Turn, reason: string): Failure {
  return {
    code: operationFailures.attempts_exhausted.code,
    message: `step ${step.name} failed ${operation.maxAttempts} times: ${reason}`,
    retryable: true,
  };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
