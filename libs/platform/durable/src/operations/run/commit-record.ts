import {
  TERMINAL_STATUSES,
  type OperationStatus,
  type StepStatus,
  type TerminalStatus,
  type WaitingFor,
} from '@slipway/contracts';
import { eventsAsWritten, type NewEvent } from '../../events/index.js';
import { operationFailures } from '../operation.failures.js';
import type { OperationFailure, OperationRow } from '../operation.row.js';
import type { CommitRecord } from './commit.query.js';

/** The failure that an unwinding operation carries, with the step at which it began. */
export type UnwindCause = OperationFailure & { step: string };

/**
 * The new state of one operation's row, and the changes of its steps. A missing member is written as empty: no message,
 * no wait, no lease. `attempt`, `progress` and `result` keep their values instead.
 */
export interface PendingCommit {
  operation: OperationRow;
  status: OperationStatus;
  step: string;
  stepStatus: StepStatus;
  unwinding: UnwindCause | null;
  progress?: number;
  attempt?: number;
  message?: string;
  /** Without `sleepMs`, a person has to continue it. */
  waitingFor?: WaitingFor;
  /** Milliseconds until it is due again. */
  sleepMs?: number;
  /** Puts a wake-up into the outbox that is delivered after so many milliseconds. */
  dispatchMs?: number;
  /** For how many more seconds the lease is held; undefined gives it back. */
  leaseSeconds?: number;
  result?: Record<string, unknown>;
  ended?: { name: string; status: StepStatus; message?: string; evidence?: unknown; result?: unknown };
  begins?: string;
  asleep?: { name: string; status: StepStatus; message?: string; state?: unknown };
  /** Undo steps to add, the first of which begins. */
  wayBack?: { index: number; names: string[] };
  /** Base names of the forward steps whose effect no longer exists. */
  undone?: readonly string[];
  events: NewEvent[];
}

export function unwindingOf({ phase, failure }: OperationRow): UnwindCause | null {
  return phase === 'unwinding' ? (failure as UnwindCause) : null;
}

/** The final status of an operation that has nothing left to do. */
export function endOf(unwinding: UnwindCause | null): TerminalStatus {
  if (!unwinding) return 'succeeded';
  return unwinding.code === operationFailures.cancelled_by_user.code ? 'cancelled' : 'failed';
}

/** A value of this column keeps an operation from being due until a person acts. */
function awaitingOf(waitingFor: WaitingFor | undefined): 'approval' | 'pause' | undefined {
  if (waitingFor === 'approval') return 'approval';
  return waitingFor === 'decision' || waitingFor === 'resume' ? 'pause' : undefined;
}

/** The commit as the statement accepts it. */
export function recordOf(commit: PendingCommit): CommitRecord {
  const { operation, unwinding, ended, asleep } = commit;
  const isOver = TERMINAL_STATUSES.some((status) => status === commit.status);
  return {
    id: operation.id,
    lease_version: operation.leaseVersion,
    status: commit.status,
    step: commit.step,
    step_status: commit.stepStatus,
    progress: commit.progress ?? 0,
    attempt: commit.attempt ?? operation.attempt,
    message: commit.message ?? '',
    awaiting: commit.sleepMs === undefined ? awaitingOf(commit.waitingFor) : undefined,
    waiting_for: commit.waitingFor,
    control_version: operation.controlVersion,
    sleep_ms: commit.sleepMs,
    phase: unwinding ? 'unwinding' : 'forward',
    failure: unwinding,
    result: commit.result ?? {},
    error_code: isOver ? unwinding?.code : undefined,
    retryable: isOver && (unwinding?.retryable ?? false),
    lease_seconds: commit.leaseSeconds,
    dispatch_ms: commit.dispatchMs,
    is_cancel_seen: operation.cancelRequested,
    ended: ended?.name,
    ended_status: ended?.status,
    ended_message: ended?.message,
    evidence: ended?.evidence,
    step_result: ended?.result,
    begins: commit.begins,
    asleep: asleep?.name,
    asleep_status: asleep?.status,
    asleep_message: asleep?.message,
    state: asleep?.state,
    way_back: commit.wayBack?.names,
    way_back_index: commit.wayBack?.index,
    undone: commit.undone,
    events: commit.events.length > 0 ? eventsAsWritten(commit.events) : undefined,
  };
}
