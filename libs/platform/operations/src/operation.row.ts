import type { Actor, OperationStatus, StepStatus } from '@slipway/contracts';

/** Why an operation turns round. */
export interface Failure {
  code: string;
  message: string;
  retryable: boolean;
}

/** One row of `operations` as a worker or a service sees it. */
export interface OperationRow<Input = any> {
  id: string;
  tenantId: string;
  kind: string;
  resourceType: string;
  resourceName: string;
  resourceId: string;
  stream: string;
  status: OperationStatus;
  phase: 'forward' | 'unwinding';
  failure: Failure | null;
  progress: number;
  attempt: number;
  maxAttempts: number;
  cancelRequested: boolean;
  isResumed: boolean;
  awaiting: string | null;
  currentStep: string;
  input: Input;
  result: Record<string, any>;
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
  /** Milliseconds from `startedAt` to when the row was read. */
  ageMs: number | null;
  result: any;
  state: Record<string, any> | null;
}

/** The select list that makes an `OperationRow`; `o` is the table's alias. */
export const OPERATION_COLUMNS = `
  o.id, o.tenant_id "tenantId", o.kind, o.resource_type "resourceType", o.resource_name "resourceName", o.resource_id "resourceId",
  o.stream, o.status, o.phase, o.failure, o.progress, o.attempt, o.max_attempts "maxAttempts", o.cancel_requested "cancelRequested",
  o.is_resumed "isResumed", o.awaiting, o.current_step "currentStep", o.input, o.result, o.requested_by "requestedBy", o.reason,
  o.retryable, o.fingerprint, o.lease_version "leaseVersion", o.created_at "createdAt"`;

export const STEP_COLUMNS = `s.name, s.index, s.is_unwind "isUnwind", s.status, s.started_at "startedAt",
  (extract(epoch from clock_timestamp() - s.started_at) * 1000)::float8 "ageMs", s.result, s.state`;
