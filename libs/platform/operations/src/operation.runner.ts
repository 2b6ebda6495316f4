import { Injectable, Logger } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { withLogContext } from '@slipway/platform-observability';
import { appendEvents } from './event.store.js';
import { Leases } from './leases.js';
import { baseName, GuardLost, OperationCommits } from './operation.commits.js';
import { StepFailed, type Failure, type OperationDefinition, type Step } from './operation.definition.js';
import { OperationDefinitions } from './operation.definitions.js';
import { ACQUIRE, FIRST_STEP_BEGINS, HELD, STEPS } from './operation.query.js';
import type { OperationRow, StepRow } from './operation.row.js';
import { statusChanged } from './operation.store.js';
import { PausePoints } from './pause-points.js';

const UNKNOWN_KIND_RETRY_MS = 5_000;
const BACKOFF_MIN_MS = 200;
const BACKOFF_MAX_MS = 10_000;

/** What `turn` found: go on with the row as it now stands, or stop driving. */
type Turn = 'again' | 'stop';

/** An operation under our lease, as it stands before a turn. */
interface Standing {
  operation: OperationRow;
  steps: readonly StepRow[];
}

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
        while (current && (await this.turn(current, signal)) === 'again') current = await this.reload(operation);
      });
    } finally {
      this.leases.drop(operation.id, operation.leaseVersion);
    }
  }

  private async acquire(operationId: string): Promise<Standing | undefined> {
    const acquired = await this.database.tx('system', async (tx) => {
      const row = await tx.one<OperationRow & { isFirst: boolean }>(ACQUIRE, [
        operationId,
        this.leases.owner,
        this.leases.seconds,
      ]);
      if (!row) return undefined;
      if (!row.isFirst) return { operation: row, steps: await tx.query<StepRow>(STEPS, [row.id]) };
      // Sent together; Postgres runs them in this order.
      const [, steps] = await Promise.all([
        tx.query(FIRST_STEP_BEGINS, [row.id, row.currentStep]),
        tx.query<StepRow>(STEPS, [row.id]),
        appendEvents(tx, row.tenantId, row.stream, [
          statusChanged({ ...row, status: 'pending' }, 'running', { type: 'system', id: 'worker' }),
        ]),
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

  private async turn({ operation, steps }: Standing, signal: AbortSignal): Promise<Turn> {
    const definition = this.definitions.find(operation.kind);
    const isUnwinding = operation.phase === 'unwinding';
    const open = steps.filter(
      (step) => step.isUnwind === isUnwinding && !['succeeded', 'skipped'].includes(step.status),
    );
    const step = open[0];
    if (!definition || !step) return this.putBack(operation, step);
    try {
      if (!isUnwinding && operation.cancelRequested) {
        return await this.unwind(definition, operation, step, steps, {
          code: 'cancelled_by_user',
          message: 'cancelled on request',
          retryable: false,
        });
      }
      if (!isUnwinding && operation.attempt > operation.maxAttempts) {
        return await this.unwind(
          definition,
          operation,
          step,
          steps,
          exhausted(operation, step, 'its worker died each time'),
        );
      }
      return await this.runStep(definition, operation, step, open[1], steps, signal);
    } catch (error) {
      // A lost guard means a cancel (the reload shows it and the next turn unwinds) or a lost lease (the reload finds nothing).
      if (error instanceof GuardLost) return 'again';
      return this.failed(definition, operation, step, steps, error);
    }
  }

  private async runStep(
    definition: OperationDefinition,
    operation: OperationRow,
    step: StepRow,
    next: StepRow | undefined,
    steps: readonly StepRow[],
    signal: AbortSignal,
  ): Promise<Turn> {
    const body = stepBody(definition, step);
    const outcome = await body.run({
      operation,
      input: operation.input,
      signal,
      state: step.state,
      resumed: operation.isResumed,
      results: Object.fromEntries(steps.filter((one) => one.result !== null).map((one) => [one.name, one.result])),
      step: { name: step.name, number: Number(step.name.split(':')[1] ?? 0), startedAt: step.startedAt ?? new Date() },
      effectKey: `${operation.id}-${step.name}`,
    });
    await this.pausePoints.reach(`operation:${step.name}:before-commit`);
    if (outcome.kind === 'sleep') {
      await this.database.tx('system', (tx) => this.commits.stepSleeps(tx, operation, step, outcome));
      return 'stop';
    }
    const forward = steps.filter((one) => !one.isUnwind);
    const completed = forward.filter((one) => ['succeeded', 'skipped'].includes(one.status)).length + 1;
    const progress = step.isUnwind ? 0 : Math.min(99, Math.round((100 * completed) / forward.length));
    await this.database.tx('system', (tx) =>
      this.commits.stepDone(tx, definition, operation, step, next, progress, outcome),
    );
    await this.pausePoints.reach(`operation:${step.name}:after-commit`);
    return next ? 'again' : 'stop';
  }

  private async failed(
    definition: OperationDefinition,
    operation: OperationRow,
    step: StepRow,
    steps: readonly StepRow[],
    error: unknown,
  ): Promise<Turn> {
    const message = error instanceof Error ? error.message : String(error);
    const isForward = operation.phase === 'forward';
    try {
      if (isForward && error instanceof StepFailed) {
        const failure = { code: error.code, message, retryable: error.options.retryable ?? true };
        return await this.unwind(definition, operation, step, steps, failure, error.options);
      }
      this.logger.warn(`step ${step.name} of ${operation.kind} failed, attempt ${operation.attempt}: ${message}`);
      if (isForward && operation.attempt >= operation.maxAttempts)
        return await this.unwind(definition, operation, step, steps, exhausted(operation, step, message));
      const delayMs = Math.min(BACKOFF_MAX_MS, BACKOFF_MIN_MS * 2 ** operation.attempt);
      await this.database.tx('system', (tx) =>
        this.commits.stepRetries(tx, operation, step, delayMs, `attempt ${operation.attempt} failed: ${message}`),
      );
      return 'stop';
    } catch (second) {
      if (second instanceof GuardLost) return 'again';
      // Postgres is away: the lease runs out and the sweeper finds the row.
      this.logger.error(
        `could not record the failure of ${step.name}: ${second instanceof Error ? second.message : String(second)}`,
      );
      return 'stop';
    }
  }

  private async unwind(
    definition: OperationDefinition,
    operation: OperationRow,
    step: StepRow,
    steps: readonly StepRow[],
    failure: Failure,
    found: StepFailed['options'] = {},
  ): Promise<Turn> {
    await this.database.tx('system', (tx) =>
      this.commits.beginUnwind(tx, definition, operation, step, steps, failure, found),
    );
    await this.pausePoints.reach('operation:unwinding');
    return 'again';
  }

  /** A kind this process does not know (a newer version wrote it): leave it to a process that does. */
  private async putBack(operation: OperationRow, step: StepRow | undefined): Promise<Turn> {
    this.logger.warn(`no definition here for kind ${operation.kind}`);
    if (step)
      await this.database.tx('system', (tx) =>
        this.commits.stepRetries(tx, { ...operation, attempt: operation.attempt - 1 }, step, UNKNOWN_KIND_RETRY_MS, ''),
      );
    return 'stop';
  }
}

function stepBody(definition: OperationDefinition, step: StepRow): Step<any> {
  const body = step.isUnwind
    ? definition.unwind.find((one) => one.name === step.name)
    : definition.steps[baseName(step.name)];
  if (!body)
    throw new StepFailed('internal', `this version of ${definition.kind} has no step ${step.name}`, {
      retryable: false,
    });
  return body;
}

function exhausted(operation: OperationRow, step: StepRow, reason: string): Failure {
  return {
    code: 'attempts_exhausted',
    message: `step ${step.name} failed ${operation.maxAttempts} times: ${reason}`,
    retryable: true,
  };
}
