import type { Actor, OperationStatus, StepStatus, WaitingFor } from '@slipway/contracts';
import type { AnyInput } from './define/operation.definition.js';

/** The reason why an operation unwinds. */
export interface OperationFailure {
  code: string;
  message: string;
  retryable: boolean;
}

/** A pause by a person, until a person ends it. */
export interface OperationPause {
  /** RFC 3339, by the clock of Postgres. */
  at: string;
  by: Actor;
  reason: string | null;
}

/** The last step that a person passed. */
export interface OperationPromotion extends OperationPause {
  /** `full` passes all later steps too. */
  to: 'next' | 'full';
  /** Full name of the step that ran at that time. */
  step: string;
}

/** One row of `operations` as a worker or a service reads it. */
export interface OperationRow<Input = AnyInput> {
  id: string;
  tenantId: string;
  kind: string;
  resourceType: string;
  resourceName: string;
  resourceId: string;
  stream: string;
  status: OperationStatus;
  phase: 'forward' | 'unwinding';
  failure: OperationFailure | null;
  progress: number;
  attempt: number;
  maxAttempts: number;
  cancelRequested: boolean;
  isResumed: boolean;
  awaiting: string | null;
  waitingFor: WaitingFor | null;
  pause: OperationPause | null;
  promotion: OperationPromotion | null;
  /** Rises with each change that a person makes to a running operation. */
  controlVersion: number;
  currentStep: string;
  input: Input;
  result: Record<string, unknown>;
  requestedBy: Actor;
  reason: string | null;
  retryable: boolean;
  fingerprint: string | null;
  leaseVersion: string;
  createdAt: Date;
}

export interface StepRow {
  name: string;
  index: number;
  isUnwind: boolean;
  status: StepStatus;
  startedAt: Date | null;
  /** Milliseconds from `startedAt` to the read of the row. */
  ageMs: number | null;
  /** Of those, the milliseconds in pauses that have ended. */
  pausedMs: number;
  result: unknown;
  state: Record<string, unknown> | null;
}

export function isDone({ status }: Pick<StepRow, 'status'>): boolean {
  return status === 'succeeded' || status === 'skipped';
}

/** A `StepRow` inside JSON. */
export type StoredStep = Omit<StepRow, 'startedAt'> & { startedAt: string | null };

/** The column of each member of an `OperationRow`. */
const OPERATION = {
  id: 'id',
  tenantId: 'tenant_id',
  kind: 'kind',
  resourceType: 'resource_type',
  resourceName: 'resource_name',
  resourceId: 'resource_id',
  stream: 'stream',
  status: 'status',
  phase: 'phase',
  failure: 'failure',
  progress: 'progress',
  attempt: 'attempt',
  maxAttempts: 'max_attempts',
  cancelRequested: 'cancel_requested',
  isResumed: 'is_resumed',
  awaiting: 'awaiting',
  waitingFor: 'waiting_for',
  pause: 'pause',
  promotion: 'promotion',
  controlVersion: 'control_version',
  currentStep: 'current_step',
  input: 'input',
  result: 'result',
  requestedBy: 'requested_by',
  reason: 'reason',
  retryable: 'retryable',
  fingerprint: 'fingerprint',
  leaseVersion: 'lease_version',
  createdAt: 'created_at',
} as const satisfies Record<keyof OperationRow, string>;

/** The same for a `StepRow`. The age is measured when the row is read. */
const STEP = {
  name: 's.name',
  index: 's.index',
  isUnwind: 's.is_unwind',
  status: 's.status',
  startedAt: 's.started_at',
  ageMs: '(extract(epoch from clock_timestamp() - s.started_at) * 1000)::float8',
  pausedMs: 's.paused_ms',
  result: 's.result',
  state: 's.state',
} as const satisfies Record<keyof StepRow, string>;

const quoted = (names: object) => Object.keys(names).map((name) => `"${name}"`);

/** The select list that makes an `OperationRow`; `o` is the table's alias. */
export const OPERATION_COLUMNS = Object.entries(OPERATION)
  .map(([name, column]) => `o.${column} "${name}"`)
  .join(', ');
/** The names in that list, for a query over its rows. */
export const OPERATION_NAMES = quoted(OPERATION).join(', ');

/** The select list that makes a `StepRow`; `s` is the table's alias. */
export const STEP_COLUMNS = Object.entries(STEP)
  .map(([name, value]) => `${value} "${name}"`)
  .join(', ');
export const STEP_NAMES = quoted(STEP).join(', ');

/** The current state of an operation and of its steps. */
export interface OperationState {
  operation: OperationRow;
  steps: readonly StepRow[];
}

/** The state of the steps after a statement that returned the steps that it changed. */
export function stepsAfter(before: readonly StepRow[], changed: readonly StoredStep[]): StepRow[] {
  const byName = new Map(changed.map((step) => [step.name, stepOf(step)]));
  return before.map((step) => byName.get(step.name) ?? step);
}

export function stepOf({ startedAt, ...step }: StoredStep): StepRow {
  return { ...step, startedAt: startedAt === null ? null : new Date(startedAt) };
}
