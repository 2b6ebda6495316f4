import { Injectable } from '@nestjs/common';
import { newId, type Tx } from '@slipway/platform-database';
import { appendAudit } from './audit.js';
import { dispatch } from './dispatch.js';
import { appendEvents, type NewEvent } from './event.store.js';
import { operationErrors } from './operation.errors.js';
import { OperationDefinitions } from './operation.definitions.js';
import { CLAIM, FIND_BY_KEY, GET_RECORD, LOCK, READ, START, STEPS } from './operation.query.js';
import { LIVE_STATUSES, type OperationRow, type StepRow } from './operation.row.js';

/** Where a request's Idempotency-Key holds, and what it was sent with. */
export interface IdempotencyClaim {
  method: string;
  /** The concrete path, ids included. */
  path: string;
  key: string;
  /** SHA-256 over the query and the canonical body, hex. */
  fingerprint: string;
}

export interface Claim {
  kind: string;
  resourceType: string;
  resourceName: string;
  requestedBy: { type: string; id: string };
  reason?: string | null;
  idempotency?: IdempotencyClaim;
}

export interface Start {
  resourceId: string;
  stream: string;
  input: unknown;
  /** Full step names in order. */
  steps: readonly string[];
  /** What `result` holds from the beginning; usually nothing. */
  result?: Record<string, unknown>;
}

/** The rows of durable operations, as requests see and change them. Every method runs in the caller's transaction. */
@Injectable()
export class OperationStore {
  constructor(private readonly definitions: OperationDefinitions) {}

  /**
   * First statement of a durable mutation: makes the row, or finds the one that this key made before.
   * `created: false` means adopt it and write nothing more. Throws `idempotency_key_reused` (422) for another request.
   */
  async claim(tx: Tx, claim: Claim): Promise<{ id: string; created: boolean }> {
    const { idempotency: key } = claim;
    const values = [
      claim.kind,
      claim.resourceType,
      claim.resourceName,
      JSON.stringify(claim.requestedBy),
      claim.reason ?? null,
    ];
    const inserted = await tx.one<{ id: string }>(CLAIM, [
      newId('op'),
      tx.tenant,
      ...values,
      key?.method ?? null,
      key?.path ?? null,
      key?.key ?? null,
      key?.fingerprint ?? null,
    ]);
    if (inserted) return { id: inserted.id, created: true };
    const earlier = await tx.one<{ id: string; fingerprint: string }>(FIND_BY_KEY, [
      tx.tenant,
      key?.method,
      key?.path,
      key?.key,
    ]);
    if (!earlier) throw new Error('a claim found neither its own row nor the one that refused it');
    if (earlier.fingerprint !== key?.fingerprint) throw operationErrors.idempotency_key_reused();
    return { id: earlier.id, created: false };
  }

  /** Second half of a mutation that was not adopted: what the operation works on, its steps, and its first wake-up. */
  async start(tx: Tx, id: string, start: Start): Promise<void> {
    await tx.query(START, [
      id,
      start.resourceId,
      start.stream,
      JSON.stringify(start.input),
      start.steps,
      JSON.stringify(start.result ?? {}),
    ]);
  }

  /** The record of api.md 2.2 as JSON text, or undefined for an unknown or foreign id. */
  async record(tx: Tx, id: string): Promise<string | undefined> {
    return (await tx.one<{ json: string }>(GET_RECORD, [id, tx.tenant]))?.json;
  }

  async lock(tx: Tx, id: string): Promise<OperationRow> {
    const row = await tx.one<OperationRow>(LOCK, [id, tx.tenant]);
    if (!row) throw operationErrors.operation_not_found();
    return row;
  }

  /** Asks for a cancel; asking twice is the same. The worker that holds the operation sees it at its next commit or heartbeat. */
  async cancel(tx: Tx, id: string, actor: { type: string; id: string }): Promise<void> {
    const operation = await this.lock(tx, id);
    if (operation.cancelRequested && LIVE_STATUSES.includes(operation.status)) return;
    const steps = await tx.query<StepRow>(STEPS, [id]);
    const limit = this.definitions.find(operation.kind)?.pointOfNoReturn;
    const isPast = steps.some((step) => step.name === limit && step.status === 'succeeded');
    if (!LIVE_STATUSES.includes(operation.status) || isPast || operation.phase === 'unwinding')
      throw operationErrors.operation_not_cancellable();
    await tx.query(
      `update operations set cancel_requested = true, status = 'cancelling', wake_at = null, updated_at = now() where id = $1`,
      [id],
    );
    await dispatch(tx, id);
    await appendAudit(tx, { action: 'operation.cancel', resourceType: 'operation', resourceName: id });
    await this.append(tx, operation, statusChanged(operation, 'cancelling', actor));
  }

  /**
   * Brings a failed operation back to `pending`; it re-enters at its first step that has not succeeded. A cancel that came
   * too late for its failure is forgotten. The definition locks its resource before the row is locked here: the order in
   * which everybody else takes these locks.
   */
  async retry(tx: Tx, id: string, actor: { type: string; id: string }): Promise<void> {
    const seen = await tx.one<OperationRow>(READ, [id, tx.tenant]);
    if (!seen) throw operationErrors.operation_not_found();
    if (!isRetryable(seen)) throw operationErrors.operation_not_retryable();
    await this.definitions.find(seen.kind)?.reclaim?.(tx, seen);
    const operation = await this.lock(tx, id);
    if (!isRetryable(operation)) throw operationErrors.operation_not_retryable();
    await tx.query(`delete from operation_steps where operation_id = $1 and is_unwind`, [id]);
    await tx.query(
      `update operation_steps set status = 'pending', started_at = null, completed_at = null, message = '', state = null
       where operation_id = $1 and status not in ('succeeded','skipped')`,
      [id],
    );
    await tx.query(
      `update operations o set status = 'pending', phase = 'forward', failure = null, error_code = null, message = '', retryable = false, attempt = 0,
         completed_at = null, wake_at = null, lease_expires_at = null, updated_at = now(), current_step_status = 'pending', cancel_requested = false,
         current_step = (select s.name from operation_steps s where s.operation_id = o.id and s.status = 'pending' order by s.index limit 1),
         progress = (select 100 * count(*) filter (where s.status in ('succeeded','skipped')) / count(*) from operation_steps s where s.operation_id = o.id)
       where id = $1`,
      [id],
    );
    await dispatch(tx, id);
    await appendAudit(tx, { action: 'operation.retry', resourceType: 'operation', resourceName: id });
    await this.append(tx, operation, statusChanged(operation, 'pending', actor));
  }

  /** Lets an operation that waits for a person go on. */
  async resume(tx: Tx, id: string, actor: { type: string; id: string }): Promise<void> {
    const operation = await this.lock(tx, id);
    if (operation.status !== 'waiting' || !operation.awaiting) throw operationErrors.operation_not_paused();
    if (operation.isResumed) return;
    await tx.query(
      `update operations set is_resumed = true, awaiting = null, status = 'running', wake_at = null, updated_at = now() where id = $1`,
      [id],
    );
    await dispatch(tx, id);
    await appendAudit(tx, { action: 'operation.resume', resourceType: 'operation', resourceName: id });
    await this.append(tx, operation, statusChanged(operation, 'running', actor));
  }

  /**
   * Ends a live operation in favour of another, at once: status, fence and successor in the caller's transaction. Its worker
   * can write nothing after this commit. What it had begun is the successor's to clean up.
   */
  async supersede(
    tx: Tx,
    id: string,
    successor: { id: string; actor: { type: string; id: string } },
  ): Promise<OperationRow> {
    const operation = await this.lock(tx, id);
    await tx.query(
      `update operations set status = 'cancelled', error_code = 'superseded', message = $2, superseded_by = $3, retryable = false,
         lease_version = lease_version + 1, lease_expires_at = null, wake_at = null, awaiting = null, current_step_status = 'cancelled',
         updated_at = now(), completed_at = now() where id = $1`,
      [id, `superseded by ${successor.id}`, successor.id],
    );
    await tx.query(
      `update operation_steps set status = 'cancelled', completed_at = now() where operation_id = $1 and status in ('running','waiting')`,
      [id],
    );
    await this.append(tx, operation, {
      ...statusChanged(operation, 'cancelled', successor.actor),
      data: { status: 'cancelled', superseded_by: successor.id },
    });
    return operation;
  }

  private append(tx: Tx, operation: OperationRow, event: NewEvent): Promise<void> {
    return appendEvents(tx, operation.tenantId, operation.stream, [event]);
  }
}

function isRetryable(operation: OperationRow): boolean {
  return operation.status === 'failed' && operation.retryable;
}

export function statusChanged(operation: OperationRow, status: string, actor: { type: string; id: string }): NewEvent {
  return {
    type: 'operation.status_changed',
    subject: `operations/${operation.id}`,
    actor,
    operationId: operation.id,
    data: {
      operation_id: operation.id,
      kind: operation.kind,
      from: operation.status,
      status,
      resource_name: operation.resourceName,
    },
  };
}
