import { WORKER } from '@slipway/contracts';
import { Injectable, Logger } from '@nestjs/common';
import { PausePoints } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import { appendEvents } from '@slipway/platform-events';
import { withLogContext } from '@slipway/platform-observability';
import { STEPS } from '../accept/operation.query.js';
import { statusChanged } from '../accept/operation.store.js';
import { baseName } from '../define/operation.definition.js';
import { OperationDefinitions } from '../define/operation.definitions.js';
import { StepFailed, type Step } from '../define/steps.js';
import { operationFailures } from '../operation.failures.js';
import type { Failure, OperationRow, StepRow } from '../operation.row.js';
import { Leases } from './leases.js';
import { GuardLost, isDone, OperationCommits, type Standing, type Turn } from './operation.commits.js';
import { ACQUIRE, FIRST_STEP_BEGINS, HELD } from './run.query.js';

const UNKNOWN_KIND_RETRY_MS = 5_000;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 10_000;

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
    this.commits = new OperationCommits(leases.seconds);
  }

  async drive(operationId: string): Promise<void> {
    const acquired = await this.acquire(operationId);
    if (!acquired) return;
    const { operation } = acquired;
    const signal = this.leases.hold(operation.id, operation.leaseVersion);
    try {
      await withLogContext({ operation_id: operation.id, tenant_id: operation.tenantId }, async () => {
        let current: Standing | undefined = acquired;
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

  private async acquire(operationId: string): Promise<Standing | undefined> {
    const values = [operationId, this.leases.owner, this.leases.seconds];
    const acquired = await this.database.tx('system', async (tx) => {
      const row = await tx.one<OperationRow & { isFirst: boolean }>(ACQUIRE, values);
      if (!row) return undefined;
      if (!row.isFirst) return { operation: row, steps: await tx.query<StepRow>(STEPS, [row.id]) };
      const began = statusChanged({ ...row, status: 'pending' }, 'running', WORKER);
      // Sent together; Postgres runs them in this order.
      const [, steps] = await Promise.all([
        tx.query(FIRST_STEP_BEGINS, [row.id, row.currentStep]),
        tx.query<StepRow>(STEPS, [row.id]),
        appendEvents(tx, row.tenantId, row.stream, [began]),
      ]);
      return { operation: row, steps };
    });
    if (acquired) await this.pausePoints.reach('operation:acquired');
    return acquired;
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
    const outcome = await bodyOf(turn).run({
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
      await this.database.tx('system', (tx) => this.commits.stepSleeps(tx, turn, outcome));
      return 'stop';
    }
    const standing = await this.database.tx('system', (tx) => this.commits.stepDone(tx, turn, outcome));
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
      if (isForward && operation.attempt >= operation.maxAttempts)
        return await this.unwind(turn, exhausted(turn, message));
      const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** operation.attempt);
      const again = { delayMs, message: `attempt ${operation.attempt} failed: ${message}` };
      await this.database.tx('system', (tx) => this.commits.stepRetries(tx, turn, again));
      return 'stop';
    } catch (second) {
      if (second instanceof GuardLost) return 'again';
      // Postgres is away: the lease runs out and the repair finds the row.
      this.logger.error(`could not record the failure of ${step.name}: ${reasonOf(second)}`);
      return 'stop';
    }
  }

  private async unwind(turn: Turn, failure: Failure, found?: StepFailed['options']): Promise<Next> {
    await this.database.tx('system', (tx) => this.commits.beginUnwind(tx, turn, failure, found));
    await this.pausePoints.reach('operation:unwinding');
    return 'again';
  }

  /** A kind this process does not know (a newer version wrote it): leave it to a process that does. */
  private async putBack(operation: OperationRow, step: StepRow | undefined): Promise<Next> {
    this.logger.warn(`no definition here for kind ${operation.kind}`);
    if (!step) return 'stop';
    // That is no attempt.
    const turn = { operation: { ...operation, attempt: operation.attempt - 1 }, step };
    const again = { delayMs: UNKNOWN_KIND_RETRY_MS, message: '' };
    await this.database.tx('system', (tx) => this.commits.stepRetries(tx, turn, again));
    return 'stop';
  }
}

function bodyOf({ runnable, step }: Turn): Step<any> {
  const body = step.isUnwind
    ? runnable.unwind.find((one) => one.name === step.name)
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
