import { TERMINAL_STATUSES, WORKER, type StepStatus } from '@slipway/contracts';
import type { Database, Tx, TxSettings } from '@slipway/platform-database';
import { counter } from '@slipway/platform-observability';
import type { NewEvent } from '../../events/index.js';
import { statusChanged } from '../accept/operation.store.js';
import { baseName } from '../define/operation.definition.js';
import type { RunnableOperation } from '../define/operation.definitions.js';
import type { StepDone, StepSleep, StepCommit, StepFailed, StepOutcome } from '../define/steps.js';
import { operationFailures } from '../operation.failures.js';
import {
  isDone,
  stepsAfter,
  type OperationFailure,
  type OperationRow,
  type OperationState,
  type StepRow,
  type StoredStep,
} from '../operation.row.js';
import { endOf, recordOf, unwindingOf, type PendingCommit, type UnwindCause } from './commit-record.js';
import { commitOf } from './commit.query.js';
import { GatheredCommits, LeaseLost } from './gathered-commits.js';

/** An operation under our lease, at its current step. */
export interface StepRun {
  runnable: RunnableOperation;
  operation: OperationRow;
  steps: readonly StepRow[];
  step: StepRow;
  next?: StepRow;
}

/** The row that a commit returns: the current operation, with those of its steps that the commit changed. */
type CommittedRow = OperationRow & { steps: StoredStep[] };

/** The additions of a step's effect to its commit. */
type StepEffect = Awaited<ReturnType<StepCommit>> | undefined;

/**
 * The transactions that a worker makes for an operation. Each is committed completely, under the lease, or not at all.
 */
export class OperationCommits {
  /** For commits that need no transaction of their own. */
  private readonly gathered: GatheredCommits<CommittedRow>;

  constructor(
    private readonly database: Pick<Database, 'tx' | 'once'>,
    private readonly leaseSeconds: number,
  ) {
    this.gathered = new GatheredCommits((...asked) => this.commitAll(...asked));
  }

  /**
   * Commits a step's result, its effect, the start of the next step and the events; after the last step also the end of
   * the operation.
   * @returns the state that Postgres has written, or undefined if the operation has ended
   * @throws LeaseLost
   */
  async stepDone(stepRun: StepRun, outcome: StepDone): Promise<OperationState | undefined> {
    const { runnable, operation, step, next } = stepRun;
    const { definition } = runnable;
    const unwinding = unwindingOf(operation);
    const status = outcome.skipped ? 'skipped' : 'succeeded';
    const progress = progressAfter(stepRun);
    const { message, evidence, result } = outcome;
    const stepPart = {
      ended: { name: step.name, status, message, evidence, result } as const,
      undone: step.isUnwind ? runnable.unwind.find(({ name }) => name === step.name)?.undoes : undefined,
    };
    const eventsWith = (extra?: StepEffect): NewEvent[] => {
      const events = [...(extra?.events ?? [])];
      if (definition.stepEvent && !step.isUnwind)
        events.push(advanced(definition.stepEvent, stepRun, status, progress));
      return events;
    };
    if (!next) {
      const end = (events: NewEvent[], tx?: Tx) => this.end(stepRun, unwinding, outcome, { ...stepPart, events }, tx);
      if (outcome.commit || runnable.finish)
        await this.alone(async (tx) => end(eventsWith(await outcome.commit?.(tx)), tx));
      else await this.gathered.add(await end(eventsWith()));
      return undefined;
    }
    const running = unwinding && operation.cancelRequested ? 'cancelling' : 'running';
    const { steps: changed, ...written } = await this.write(outcome, (extra) => ({
      operation,
      status: running,
      step: next.name,
      stepStatus: 'running',
      unwinding,
      progress,
      attempt: 1,
      message,
      leaseSeconds: this.leaseSeconds,
      result: outcome.operationResult,
      begins: next.name,
      ...stepPart,
      events: [
        ...eventsWith(extra),
        ...(operation.status === running ? [] : [statusChanged(operation, running, WORKER)]),
      ],
    }));
    return { operation: written, steps: stepsAfter(stepRun.steps, changed) };
  }

  /** Commits that the step sleeps: the lease is given back, and the wake-up is in the outbox. */
  async stepSleeps({ operation, step }: StepRun, outcome: StepSleep): Promise<void> {
    const { forMs, waitingFor, message, state } = outcome;
    const status = operation.status === 'cancelling' ? 'cancelling' : outcome.status;
    await this.write(outcome, (extra) => ({
      operation,
      status,
      step: step.name,
      stepStatus: outcome.status,
      unwinding: unwindingOf(operation),
      message,
      waitingFor,
      sleepMs: forMs,
      dispatchMs: forMs,
      asleep: { name: step.name, status: outcome.status, message, state },
      events: [
        ...(extra?.events ?? []),
        ...(operation.status === status ? [] : [statusChanged(operation, status, WORKER)]),
      ],
    }));
  }

  /** Schedules one more attempt: the lease is given back, and the attempt is counted. */
  async stepRetries(
    { operation, step }: Pick<StepRun, 'operation' | 'step'>,
    again: { delayMs: number; message: string },
  ): Promise<void> {
    await this.gathered.add({
      operation,
      status: operation.status === 'cancelling' ? 'cancelling' : 'running',
      step: step.name,
      stepStatus: 'running',
      unwinding: unwindingOf(operation),
      attempt: Math.min(operation.attempt + 1, operation.maxAttempts),
      message: again.message,
      sleepMs: again.delayMs,
      dispatchMs: again.delayMs,
      events: [],
    });
  }

  /**
   * Begins the unwind of an operation: marks the failing step and adds the undo steps that are needed. If none is
   * needed, the operation ends here.
   */
  async beginUnwind(stepRun: StepRun, failure: OperationFailure, found: StepFailed['options'] = {}): Promise<void> {
    const { runnable, operation, steps, step } = stepRun;
    const unwinding: UnwindCause = { ...failure, step: step.name };
    const isCancel = failure.code === operationFailures.cancelled_by_user.code;
    const { unwindsAcceptance, wayBackOf } = runnable.definition;
    const wayBack = wayBackOf?.(operation.input);
    const begun = steps.filter((one) => one.startedAt !== null && !one.isUnwind);
    const touched = new Set((unwindsAcceptance ? [step, ...begun] : begun).map((one) => baseName(one.name)));
    const needed = runnable.unwind.filter(
      ({ name, undoes }) => (wayBack?.includes(name) ?? true) && undoes.some((one) => touched.has(one)),
    );
    const ended = {
      name: step.name,
      status: isCancel ? 'cancelled' : 'failed',
      message: found.stepMessage ?? failure.message,
      evidence: found.evidence,
    } as const;
    const [first] = needed;
    const status = isCancel ? 'cancelling' : 'running';
    await this.alone(async (tx) => {
      await runnable.beginUnwind?.(tx, operation, failure);
      if (!first) return this.end(stepRun, unwinding, { operationResult: found.result }, { ended, events: [] }, tx);
      return {
        operation,
        status,
        step: first.name,
        stepStatus: 'running',
        unwinding,
        attempt: 1,
        message: failure.message,
        leaseSeconds: this.leaseSeconds,
        result: found.result,
        ended,
        wayBack: { index: steps.length, names: needed.map((one) => one.name) },
        events: operation.status === status ? [] : [statusChanged(operation, status, WORKER)],
      };
    });
  }

  /** Ends an operation that cannot be undone. */
  async wayBackFails(stepRun: StepRun, message: string): Promise<void> {
    const { operation, step } = stepRun;
    const { step: from } = operation.failure as UnwindCause;
    const failure: UnwindCause = {
      code: operationFailures.attempts_exhausted.code,
      message,
      retryable: true,
      step: from,
    };
    const ended = { name: step.name, status: 'failed', message } as const;
    await this.alone((tx) => this.end(stepRun, failure, {}, { ended, events: [] }, tx));
  }

  /** @param tx is required if the operation has a `finish` */
  private async end(
    { runnable, operation, step }: StepRun,
    unwinding: UnwindCause | null,
    { operationResult, message }: Pick<StepDone, 'operationResult' | 'message'>,
    part: Pick<PendingCommit, 'ended' | 'undone' | 'events'>,
    tx?: Tx,
  ): Promise<PendingCommit> {
    const status = endOf(unwinding);
    const row = { ...operation, result: { ...operation.result, ...operationResult } };
    const finished = tx && (await runnable.finish?.(tx, row, status, unwinding ?? undefined));
    return {
      operation,
      status,
      step: unwinding?.step ?? step.name,
      stepStatus: status,
      unwinding,
      progress: status === 'succeeded' ? 100 : 0,
      message: unwinding?.message ?? finished?.message ?? message,
      result: { ...operationResult, ...finished?.result },
      ...part,
      events: [...part.events, ...(finished?.events ?? []), statusChanged(operation, status, WORKER)],
    };
  }

  /**
   * Writes a step's commit together with its effect, or, if it has no effect, together with the commits of other
   * operations.
   */
  private write(
    { commit: effect }: StepOutcome,
    commitWith: (extra: StepEffect) => PendingCommit,
  ): Promise<CommittedRow> {
    return effect ? this.alone(async (tx) => commitWith(await effect(tx))) : this.gathered.add(commitWith(undefined));
  }

  /**
   * Commits in a transaction of its own. If the guard refuses the commit, the other writes of the transaction are
   * rolled back.
   */
  private alone(commitIn: (tx: Tx) => Promise<PendingCommit>): Promise<CommittedRow> {
    return this.database
      .tx('system', async (tx) => {
        const { statement, values } = commitOf([recordOf(await commitIn(tx))]);
        const written = await tx.one<CommittedRow>(statement, values);
        if (!written) throw new LeaseLost();
        return written;
      })
      .then(counted);
  }

  /**
   * Writes the commits that the guard allows, in a transaction of their own and in one round trip. Of the others
   * nothing is written.
   */
  private commitAll(
    commits: readonly PendingCommit[],
    settings: TxSettings,
    committing: () => void,
  ): Promise<CommittedRow[]> {
    const { statement, values } = commitOf(commits.map(recordOf));
    committing();
    return this.database
      .once<CommittedRow>('system', statement, values, settings)
      .then((written) => written.map(counted));
  }
}

const ends = counter('slipway_operations_ended_total', 'Operations that ended, by kind and status', ['kind', 'status']);

/** Starts the counts of a kind at 0, because Prometheus sees no increase in a counter that begins at 1. */
export function countEndsOf(kind: string): void {
  for (const status of TERMINAL_STATUSES) ends.inc({ kind, status }, 0);
}

/** Counts the end of an operation that has just been committed. */
function counted(written: CommittedRow): CommittedRow {
  const { kind, status } = written;
  if ((TERMINAL_STATUSES as readonly string[]).includes(status)) ends.inc({ kind, status });
  return written;
}

/** Progress in percent after the step of this run; at most 99 until the end is committed. */
function progressAfter({ step, steps }: StepRun): number {
  if (step.isUnwind) return 0;
  const forward = steps.filter((one) => !one.isUnwind);
  const completed = forward.filter(isDone).length + 1;
  return Math.min(99, Math.round((100 * completed) / forward.length));
}

function advanced(type: string, { operation, step }: StepRun, status: StepStatus, progress: number): NewEvent {
  return {
    type,
    subject: `operations/${operation.id}`,
    actor: WORKER,
    operationId: operation.id,
    revisionId: operation.input?.revisionId ?? null,
    data: { operation_id: operation.id, step: step.name, index: step.index, status, progress },
  };
}
