import { LIVE_STATUSES, type Actor, type OperationStatus } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { newId, type Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-events';
import { errors, requestContext, type IdempotencyClaim } from '@slipway/platform-http';
import { appendAudit } from '@slipway/platform-mutations';
import type { InputOf, OperationDefinition, StepName } from '../define/operation.definition.js';
import { OperationDefinitions } from '../define/operation.definitions.js';
import { operationFailures } from '../operation.failures.js';
import type { OperationRow, StepRow } from '../operation.row.js';
import { dispatch } from './dispatch.js';
import { operationErrors } from './operation.errors.js';
import {
  CANCEL,
  CLAIM,
  FIND_BY_KEYS,
  FORGET_KEYS,
  LOCK,
  LOCK_FOR_EVENTS,
  READ,
  RECORDS,
  RESUME,
  RETRY,
  START,
  STEPS,
  SUPERSEDE,
  TAKE_BACK,
} from './operation.query.js';

/** A request that wants an operation. */
export interface Claim {
  operation: OperationDefinition;
  resourceType: string;
  resourceName: string;
  requestedBy: Actor;
  reason?: string | null;
  idempotency?: IdempotencyClaim;
}

/** The operation of a claim; `created: false` = an earlier request with this key made it, so adopt it and write nothing more. */
export interface Claimed {
  id: string;
  created: boolean;
}

/** What a claimed operation works on. */
export interface Start<D extends OperationDefinition = OperationDefinition> {
  id: string;
  operation: D;
  resourceId: string;
  /** The event stream its events go to. */
  stream: string;
  input: InputOf<D>;
  /** Full step names in order. */
  steps: readonly StepName<D>[];
  /** What `result` holds from the beginning; usually nothing. */
  result?: Record<string, unknown>;
}

/** The rows of durable operations, as requests see and change them. Every method runs in the caller's transaction. */
@Injectable()
export class OperationStore {
  constructor(private readonly definitions: OperationDefinitions) {}

  /**
   * First statement of a durable mutation, for one request or for several of one tenant. Answers in the order of the claims.
   * @throws idempotency_key_reused (422) if a key belongs to another request
   */
  async claim(tx: Tx, claims: readonly Claim[]): Promise<Claimed[]> {
    const rows = claims.map((claim) => ({ ...rowOf(claim), id: newId('op'), tenant_id: tx.tenant }));
    const made = await tx.each<{ id: string }>(CLAIM, rows);
    const refused = rows.filter((_, index) => made[index]!.length === 0);
    const found = await tx.each<Adopted>(FIND_BY_KEYS, refused);
    const earlier = new Map(refused.map(({ id }, index) => [id, found[index]![0]]));
    return rows.map(({ id, fingerprint }) => {
      if (!earlier.has(id)) return { id, created: true };
      const adopted = earlier.get(id);
      if (!adopted) throw new Error('a claim found neither its own row nor the one that refused it');
      if (adopted.fingerprint !== fingerprint) throw errors.idempotency_key_reused();
      return { id: adopted.id, created: false };
    });
  }

  /** Second half of a mutation that was not adopted. */
  async start<D extends OperationDefinition>(tx: Tx, starts: readonly Start<D>[]): Promise<void> {
    const rows = starts.map(({ id, resourceId, stream, input, steps, result = {} }) => ({
      id,
      resource_id: resourceId,
      stream,
      input,
      steps,
      result,
    }));
    await tx.each(START, rows);
  }

  /** Undoes claims of this transaction that came to nothing; their keys are free again. */
  async takeBack(tx: Tx, ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await tx.query(TAKE_BACK, [ids, tx.tenant]);
  }

  /**
   * Lets go of the Idempotency-Keys of requests for a resource that is gone, so that none of them is adopted by a request for the next
   * one of its name.
   * @param path of the resource: `/api/v1/deployments/chat`
   */
  async forgetKeys(tx: Tx, tenantId: string, path: string): Promise<void> {
    await tx.query(FORGET_KEYS, [tenantId, path]);
  }

  /** The record of api.md 2.2 as JSON text, or undefined for an unknown or foreign id. */
  async record(tx: Tx, id: string): Promise<string | undefined> {
    const [[found] = []] = await tx.each<{ json: string }>(RECORDS, [{ id, tenant_id: tx.tenant }]);
    return found?.json;
  }

  async lock(tx: Tx, id: string): Promise<OperationRow> {
    const row = await tx.one<OperationRow>(LOCK, [id, tx.tenant]);
    if (!row) throw operationErrors.operation_not_found();
    return row;
  }

  /** Asks for a cancel; asking twice is the same, and the first reason stays. The worker that holds the operation sees it at its next commit or heartbeat. */
  async cancel(tx: Tx, id: string, actor: Actor, reason: string | null = null): Promise<void> {
    const operation = await this.lock(tx, id);
    if (operation.cancelRequested && isLive(operation)) return;
    const steps = await tx.query<StepRow>(STEPS, [id]);
    const limit = this.definitions.find(operation.kind)?.definition.pointOfNoReturn;
    const isPast = steps.some((step) => step.name === limit && step.status === 'succeeded');
    if (!isLive(operation) || isPast || operation.phase === 'unwinding')
      throw operationErrors.operation_not_cancellable();
    await tx.query(CANCEL, [id, reason]);
    const event = statusChanged(operation, 'cancelling', actor);
    await this.told(tx, operation, 'cancel', { ...event, data: { ...event.data, reason } });
  }

  /**
   * Brings a failed operation back to `pending`; it goes on at its first step that has not succeeded. The implementation
   * locks its resource before the row is locked here: the order in which everybody else takes these locks.
   */
  async retry(tx: Tx, id: string, actor: Actor): Promise<void> {
    const seen = await tx.one<OperationRow>(READ, [id, tx.tenant]);
    if (!seen) throw operationErrors.operation_not_found();
    if (!isRetryable(seen)) throw operationErrors.operation_not_retryable();
    const changedInput = await this.definitions.find(seen.kind)?.reclaim?.(tx, seen);
    const operation = await this.lock(tx, id);
    if (!isRetryable(operation)) throw operationErrors.operation_not_retryable();
    await tx.query(RETRY, [id, JSON.stringify(changedInput ?? {})]);
    await this.told(tx, operation, 'retry', statusChanged(operation, 'pending', actor));
  }

  /** Lets an operation that waits for a person go on. */
  async resume(tx: Tx, id: string, actor: Actor): Promise<void> {
    const operation = await this.lock(tx, id);
    if (operation.status !== 'waiting' || !operation.awaiting) throw operationErrors.operation_not_paused();
    if (operation.isResumed) return;
    await tx.query(RESUME, [id]);
    await this.told(tx, operation, 'resume', statusChanged(operation, 'running', actor));
  }

  /**
   * Ends a live operation in favour of another, at once: status, fence and successor in the caller's transaction. Its worker
   * can write nothing after this commit. What it had begun is the successor's to clean up.
   */
  async supersede(tx: Tx, id: string, successor: { id: string; actor: Actor }): Promise<OperationRow> {
    const operation = await this.lock(tx, id);
    await tx.query(SUPERSEDE, [id, `superseded by ${successor.id}`, successor.id, operationFailures.superseded.code]);
    const event = statusChanged(operation, 'cancelled', successor.actor);
    await appendEvents(tx, operation.tenantId, operation.stream, [
      { ...event, data: { status: 'cancelled', superseded_by: successor.id } },
    ]);
    return operation;
  }

  /** The wake-up, the audit row and the event of what a person asked for. */
  private async told(tx: Tx, operation: OperationRow, action: string, event: NewEvent): Promise<void> {
    await dispatch(tx, operation.id);
    await appendAudit(tx, { action: `operation.${action}`, resourceType: 'operation', resourceName: operation.id });
    await appendEvents(tx, operation.tenantId, operation.stream, [event]);
  }
}

/**
 * Before an append that stands in the middle of a step's commit: the commit itself locks the operation afterwards, and a
 * cancel locks the operation before its stream, so taking them in the other order here could deadlock with it.
 */
export async function lockBeforeEvents(tx: Tx, operationId: string): Promise<void> {
  await tx.query(LOCK_FOR_EVENTS, [operationId]);
}

interface Adopted {
  id: string;
  fingerprint: string;
}

function rowOf({ operation, resourceType, resourceName, requestedBy, reason, idempotency }: Claim) {
  const { method, path, key, fingerprint } = idempotency ?? {};
  return {
    kind: operation.kind,
    resource_type: resourceType,
    resource_name: resourceName,
    requested_by: requestedBy,
    reason: reason ?? null,
    method,
    path,
    key,
    fingerprint,
    request_id: requestContext().requestId || null,
  };
}

function isLive({ status }: OperationRow): boolean {
  return LIVE_STATUSES.some((live) => live === status);
}

function isRetryable(operation: OperationRow): boolean {
  return operation.status === 'failed' && operation.retryable;
}

export function statusChanged(operation: OperationRow, status: OperationStatus, actor: Actor): NewEvent {
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
