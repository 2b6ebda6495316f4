import type { Tx } from '@slipway/platform-database';
import { GUARD, STEP_SLEEP, STEPS_UNDONE } from './commit.query.js';
import { dispatch } from './dispatch.js';
import { appendEvents, type NewEvent } from './event.store.js';
import type {
  Failure,
  OperationDefinition,
  Outcome,
  StepFailed,
  StepOutcome,
  UnwindStep,
} from './operation.definition.js';
import type { OperationRow, OperationStatus, StepRow, StepStatus } from './operation.row.js';
import { statusChanged } from './operation.store.js';

/** The guard of a commit matched no row: another worker holds the lease, or a cancel came first. Everything rolls back. */
export class GuardLost extends Error {}

const WORKER = { type: 'system', id: 'worker' };

interface Write {
  status: OperationStatus;
  step: string;
  stepStatus: string;
  progress?: number;
  attempt?: number;
  message?: string;
  awaiting?: string;
  sleepMs?: number;
  /** Seconds the lease goes on; null gives it back. */
  leaseSeconds: number | null;
  result?: Record<string, unknown>;
  failure?: (Failure & { step: string }) | null;
  isTerminal?: boolean;
  /** The step that ends with this write. */
  ended?: EndedStep;
  /** The step that begins with it. */
  begins?: string;
}

interface EndedStep {
  name: string;
  status: StepStatus;
  message?: string;
  evidence?: unknown;
  result?: unknown;
}

async function guard(tx: Tx, operation: OperationRow, write: Write): Promise<void> {
  const failure = write.failure ?? null;
  const reason = write.isTerminal && failure ? failure : null;
  const { ended } = write;
  const row = await tx.one(GUARD, [
    operation.id,
    operation.leaseVersion,
    write.status,
    write.step,
    write.stepStatus,
    write.progress ?? 0,
    write.attempt ?? operation.attempt,
    write.message ?? '',
    write.awaiting ?? null,
    write.sleepMs ?? null,
    failure ? 'unwinding' : 'forward',
    failure ? JSON.stringify(failure) : null,
    JSON.stringify(write.result ?? {}),
    reason?.code ?? null,
    reason?.retryable ?? false,
    write.leaseSeconds,
    ended?.name ?? null,
    ended?.status ?? null,
    ended?.message ?? '',
    json(ended?.evidence),
    json(ended?.result),
    write.begins ?? null,
    operation.cancelRequested,
  ]);
  if (!row) throw new GuardLost();
}

/** The failure an unwinding operation carries, with the step at which it began. */
export type Unwinding = Failure & { step: string };

/** The transactions a worker makes of an operation; each either happens whole, under the lease, or not at all. */
export class OperationCommits {
  constructor(private readonly leaseSeconds: number) {}

  /** A step's result, its effect, the next step's beginning and the events; after the last step also the end of the operation. */
  async stepDone(
    tx: Tx,
    definition: OperationDefinition,
    operation: OperationRow,
    step: StepRow,
    next: StepRow | undefined,
    progress: number,
    outcome: Extract<StepOutcome, { kind: 'done' }>,
  ): Promise<void> {
    const extra = await outcome.commit?.(tx);
    const unwinding = operation.phase === 'unwinding' ? (operation.failure as Unwinding) : null;
    const events: NewEvent[] = [...(extra?.events ?? [])];
    const status = outcome.skipped ? 'skipped' : 'succeeded';
    if (definition.stepEvent && !step.isUnwind)
      events.push(this.advanced(definition.stepEvent, operation, step, status, progress));
    const ended = {
      name: step.name,
      status,
      message: outcome.message,
      evidence: outcome.evidence,
      result: outcome.result,
    } as const;
    if (next) {
      const running = operation.phase === 'unwinding' && operation.cancelRequested ? 'cancelling' : 'running';
      await guard(tx, operation, {
        status: running,
        step: next.name,
        stepStatus: 'running',
        progress,
        attempt: 1,
        leaseSeconds: this.leaseSeconds,
        result: outcome.operationResult,
        failure: unwinding,
        message: outcome.message,
        ended,
        begins: next.name,
      });
      if (operation.status !== running) events.push(statusChanged(operation, running, WORKER));
    } else {
      await this.end(tx, definition, operation, step, unwinding, outcome, events, ended);
    }
    await Promise.all([
      step.isUnwind ? tx.query(STEPS_UNDONE, [operation.id, unwindStep(definition, step.name).undoes]) : undefined,
      appendEvents(tx, operation.tenantId, operation.stream, events),
    ]);
  }

  /** The step sleeps: lease given back, wake-up in the outbox. */
  async stepSleeps(
    tx: Tx,
    operation: OperationRow,
    step: StepRow,
    outcome: Extract<StepOutcome, { kind: 'sleep' }>,
  ): Promise<void> {
    const extra = await outcome.commit?.(tx);
    const failure = operation.phase === 'unwinding' ? (operation.failure as Unwinding) : null;
    const status = operation.status === 'cancelling' ? 'cancelling' : outcome.status;
    await guard(tx, operation, {
      status,
      step: step.name,
      stepStatus: outcome.status,
      message: outcome.message,
      awaiting: outcome.awaiting,
      sleepMs: outcome.forMs,
      leaseSeconds: null,
      failure,
    });
    const events = [...(extra?.events ?? [])];
    if (operation.status !== status) events.push(statusChanged(operation, status, WORKER));
    // Sent together; Postgres runs them in this order, the events last.
    await Promise.all([
      tx.query(STEP_SLEEP, [operation.id, step.name, outcome.status, outcome.message ?? '', json(outcome.state)]),
      !outcome.awaiting && outcome.forMs !== undefined ? dispatch(tx, operation.id, outcome.forMs) : undefined,
      appendEvents(tx, operation.tenantId, operation.stream, events),
    ]);
  }

  /** One more try later: the lease is given back, the attempt counted. */
  async stepRetries(tx: Tx, operation: OperationRow, step: StepRow, delayMs: number, message: string): Promise<void> {
    const failure = operation.phase === 'unwinding' ? (operation.failure as Unwinding) : null;
    const attempt = Math.min(operation.attempt + 1, operation.maxAttempts);
    const status = operation.status === 'cancelling' ? 'cancelling' : 'running';
    await guard(tx, operation, {
      status,
      step: step.name,
      stepStatus: 'running',
      attempt,
      message,
      sleepMs: delayMs,
      leaseSeconds: null,
      failure,
    });
    await dispatch(tx, operation.id, delayMs);
  }

  /** Turns an operation round: the failing step is marked, the needed unwind steps are added; with none of them it ends here. */
  async beginUnwind(
    tx: Tx,
    definition: OperationDefinition,
    operation: OperationRow,
    step: StepRow | undefined,
    steps: readonly StepRow[],
    failure: Failure,
    found: StepFailed['options'],
  ): Promise<void> {
    await definition.beginUnwind?.(tx, operation, failure);
    const unwinding: Unwinding = { ...failure, step: step?.name ?? operation.currentStep };
    const wasCancelled = failure.code === 'cancelled_by_user';
    const touched = new Set(
      steps.filter((one) => one.startedAt !== null && !one.isUnwind).map((one) => baseName(one.name)),
    );
    const needed = definition.unwind.filter((one) => one.undoes.some((name) => touched.has(name)));
    const events: NewEvent[] = [];
    const first = needed[0];
    const ended =
      step &&
      ({
        name: step.name,
        status: wasCancelled ? 'cancelled' : 'failed',
        message: failure.message,
        evidence: found.evidence,
      } as const);
    if (first) {
      const status = wasCancelled ? 'cancelling' : 'running';
      await guard(tx, operation, {
        status,
        step: first.name,
        stepStatus: 'running',
        attempt: 1,
        message: failure.message,
        leaseSeconds: this.leaseSeconds,
        failure: unwinding,
        result: found.result,
        ended,
      });
      if (operation.status !== status) events.push(statusChanged(operation, status, WORKER));
      await tx.query(
        `insert into operation_steps (operation_id, tenant_id, name, index, is_unwind, status, started_at)
         select $1, $2, name, $4 + ordinality - 1, true, case when ordinality = 1 then 'running' else 'pending' end, case when ordinality = 1 then now() end
         from unnest($3::text[]) with ordinality as step(name, ordinality)`,
        [operation.id, operation.tenantId, needed.map((one) => one.name), steps.length],
      );
    } else {
      await this.end(tx, definition, operation, undefined, unwinding, { operationResult: found.result }, events, ended);
    }
    await appendEvents(tx, operation.tenantId, operation.stream, events);
  }

  private async end(
    tx: Tx,
    definition: OperationDefinition,
    operation: OperationRow,
    last: StepRow | undefined,
    unwinding: Unwinding | null,
    outcome: { operationResult?: Record<string, unknown>; message?: string },
    events: NewEvent[],
    ended: EndedStep | undefined,
  ): Promise<void> {
    const status: Outcome = unwinding ? (unwinding.code === 'cancelled_by_user' ? 'cancelled' : 'failed') : 'succeeded';
    const row = { ...operation, result: { ...operation.result, ...outcome.operationResult } };
    const finished = await definition.finish?.(tx, row, status, unwinding ?? undefined);
    await guard(tx, operation, {
      status,
      step: unwinding?.step ?? last?.name ?? operation.currentStep,
      stepStatus: status,
      progress: status === 'succeeded' ? 100 : 0,
      message: unwinding?.message ?? outcome.message,
      leaseSeconds: null,
      failure: unwinding,
      isTerminal: true,
      result: { ...outcome.operationResult, ...finished?.result },
      ended,
    });
    events.push(...(finished?.events ?? []), statusChanged(operation, status, WORKER));
  }

  private advanced(type: string, operation: OperationRow, step: StepRow, status: string, progress: number): NewEvent {
    return {
      type,
      subject: `operations/${operation.id}`,
      actor: WORKER,
      operationId: operation.id,
      revisionId: operation.input?.revisionId ?? null,
      data: { operation_id: operation.id, step: step.name, index: step.index, status, progress },
    };
  }
}

export function baseName(step: string): string {
  return step.split(':')[0] as string;
}

function unwindStep(definition: OperationDefinition, name: string): UnwindStep<any> {
  const step = definition.unwind.find((one) => one.name === name);
  if (!step) throw new Error(`${definition.kind} has no unwind step ${name}`);
  return step;
}

function json(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}
