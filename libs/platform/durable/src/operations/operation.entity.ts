import { Column, Entity, PrimaryColumn } from 'typeorm';
import {
  type Actor,
  LIVE_STATUSES,
  type OperationStatus,
  sqlList,
  type StepStatus,
  type WaitingFor,
} from '@slipway/contracts';
import { rfc3339, wholeNumber } from '@slipway/platform-database';
import type { OperationFailure, OperationPause, OperationPromotion } from './operation.row.js';

@Entity({ name: 'operations' })
export class OperationEntity {
  @PrimaryColumn({ type: 'text' })
  id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @Column({ type: 'text' })
  kind: string;

  @Column({ type: 'text' })
  resource_type: string;

  @Column({ type: 'text' })
  resource_name: string;

  @Column({ type: 'text' })
  resource_id: string;

  @Column({ type: 'text' })
  stream: string;

  @Column({ type: 'text', default: 'pending' })
  status: OperationStatus;

  @Column({ type: 'text', default: 'forward' })
  phase: 'forward' | 'unwinding';

  @Column({ type: 'jsonb', nullable: true })
  failure: OperationFailure | null;

  @Column({ type: 'int', default: 0 })
  progress: number;

  @Column({ type: 'int', default: 0 })
  attempt: number;

  @Column({ type: 'int', default: 5 })
  max_attempts: number;

  @Column({ type: 'boolean', default: false })
  cancel_requested: boolean;

  @Column({ type: 'text', default: '' })
  current_step: string;

  @Column({ type: 'text', default: 'pending' })
  current_step_status: StepStatus;

  @Column({ type: 'text', nullable: true })
  awaiting: 'approval' | 'pause' | null;

  @Column({ type: 'boolean', default: false })
  is_resumed: boolean;

  @Column({ type: 'text', nullable: true })
  waiting_for: WaitingFor | null;

  @Column({ type: 'jsonb', nullable: true })
  pause: OperationPause | null;

  @Column({ type: 'jsonb', nullable: true })
  promotion: OperationPromotion | null;

  @Column({ type: 'int', default: 0 })
  control_version: number;

  @Column({ type: 'text', nullable: true })
  error_code: string | null;

  @Column({ type: 'text', default: '' })
  message: string;

  @Column({ type: 'jsonb', default: {} })
  result: Record<string, unknown>;

  @Column({ type: 'boolean', default: false })
  retryable: boolean;

  @Column({ type: 'jsonb', default: {} })
  input: Record<string, unknown>;

  @Column({ type: 'jsonb' })
  requested_by: Actor;

  @Column({ type: 'text', nullable: true })
  reason: string | null;

  @Column({ type: 'text', nullable: true })
  cancel_reason: string | null;

  @Column({ type: 'text', nullable: true })
  superseded_by: string | null;

  @Column({ type: 'text', nullable: true })
  method: string | null;

  @Column({ type: 'text', nullable: true })
  path: string | null;

  @Column({ type: 'text', nullable: true })
  idempotency_key: string | null;

  @Column({ type: 'text', nullable: true })
  fingerprint: string | null;

  @Column({ type: 'text', nullable: true })
  request_id: string | null;

  @Column({ type: 'bigint', transformer: wholeNumber, default: 0 })
  lease_version: number;

  @Column({ type: 'text', nullable: true })
  lease_owner: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  lease_expires_at: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  wake_at: string | null;

  @Column({ type: 'boolean', insert: false, update: false })
  is_held: boolean;

  @Column({ type: 'timestamptz', nullable: true, insert: false, update: false, transformer: rfc3339 })
  due_at: string | null;

  @Column({ type: 'int', default: 1 })
  dispatch: number;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  dispatched_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  created_at: string;

  @Column({ type: 'timestamptz', default: () => 'now()', transformer: rfc3339 })
  updated_at: string;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  completed_at: string | null;
}

@Entity({ name: 'operation_steps' })
export class OperationStepEntity {
  @PrimaryColumn({ type: 'text' })
  operation_id: string;

  @Column({ type: 'text' })
  tenant_id: string;

  @PrimaryColumn({ type: 'text' })
  name: string;

  @Column({ type: 'int' })
  index: number;

  @Column({ type: 'boolean', default: false })
  is_unwind: boolean;

  @Column({ type: 'text', default: 'pending' })
  status: StepStatus;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  started_at: string | null;

  @Column({ type: 'timestamptz', nullable: true, transformer: rfc3339 })
  completed_at: string | null;

  @Column({ type: 'text', default: '' })
  message: string;

  @Column({ type: 'jsonb', nullable: true })
  evidence: unknown;

  @Column({ type: 'jsonb', nullable: true })
  result: unknown;

  @Column({ type: 'jsonb', nullable: true })
  state: Record<string, unknown> | null;

  @Column({ type: 'double precision', default: 0 })
  paused_ms: number;
}

/** SQL: whether the operation whose id is in the column is live. False if there is no such operation. */
export const isLiveOperation = (column: string): string =>
  `exists (select from operations where operations.id = ${column} and operations.status in (${sqlList(LIVE_STATUSES)}))`;

/**
 * SQL: what the live operation whose id is in the column does now. It `works`, `soaks` (it also waits for requests to
 * judge), or is `paused` until a person continues it. A pause that was requested while it works begins when it waits.
 * Null if there is no such operation, or if it has ended.
 */
export const operationActivity = (column: string): string => `(
  select case
    when o.status <> 'waiting' or o.phase = 'unwinding' or o.waiting_for = 'capacity' then 'works'
    when o.pause is not null or o.awaiting is not null or o.waiting_for in ('approval','decision','resume') then 'paused'
    when o.waiting_for in ('soak','traffic') then 'soaks'
    else 'works' end
  from operations o where o.id = ${column} and o.status in (${sqlList(LIVE_STATUSES)}))`;
