import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type Actor, LIVE_STATUSES, OUTBOX_CHANNEL, type OperationStatus } from '@slipway/contracts';
import { Batcher, Database, newId, type Tx } from '@slipway/platform-database';
import {
  errors,
  type IdempotencyClaim,
  type Principal,
  rehearsal,
  type Reply,
  requestContext,
} from '@slipway/platform-http';
import { appendEvents, type NewEvent } from '../../events/index.js';
import { appendAudit, type AuditEntry, type MutationRequest, Mutations } from '../../mutations/index.js';
import type { InputOf, OperationDefinition, StepName } from '../define/operation.definition.js';
import { OperationDefinitions } from '../define/operation.definitions.js';
import { operationFailures } from '../operation.failures.js';
import type { OperationRow, StepRow } from '../operation.row.js';
import { dispatch } from './dispatch.js';
import { operationAnswer } from './operation.dto.js';
import { operationErrors } from './operation.errors.js';
import {
  CANCEL_OPERATION,
  FIND_OPERATION_RECORD,
  FORGET_OPERATION_KEYS,
  INSERT_OPERATION,
  LOCK_OPERATION,
  LOCK_OPERATION_FOR_EVENTS,
  OPERATION_BY_KEY,
  OPERATION_STEPS,
  READ_OPERATION,
  RESUME_OPERATION,
  RETRY_OPERATION,
  RING_OUTBOX,
  START_OPERATION,
  SUPERSEDE_OPERATION,
} from './operation.query.js';

/** A request that wants an operation. */
export interface OperationClaim {
  operation: OperationDefinition;
  resourceType: string;
  resourceName: string;
  requestedBy: Actor;
  reason?: string | null;
  idempotency?: IdempotencyClaim;
}

/** The operation of a claim; `created: false` = an earlier request with this key made it, so adopt it and write nothing more. */
export interface ClaimResult {
  id: string;
  created: boolean;
}

/** What a claimed operation works on. */
export interface OperationStart<D extends OperationDefinition = OperationDefinition> {
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

/** Least time between two rings of a process, and between two reads of the outbox by a relay. */
export const OUTBOX_GAP_MS = 25;

/**
 * Tells the relays, after the commit of an accepted operation, that the outbox has rows. Not in that transaction: commits that notify wait for
 * each other, which took more than half of what accepting an operation costs. A ring that is lost costs a second, because relays also poll.
 */
@Injectable()
export class OutboxBell {
  private readonly rings = new Batcher<string, void>(() => this.notify(), {
    most: 1,
    keyOf: (channel) => channel,
    waitMs: 1_000,
  });

  constructor(private readonly database: Database) {}

  /** Returns at once. Further rings of the next 25 ms are one. */
  ring(): void {
    void this.rings.add(OUTBOX_CHANNEL);
  }

  private async notify(): Promise<[]> {
    await this.database.once('system', RING_OUTBOX).catch(() => undefined);
    await delay(OUTBOX_GAP_MS, undefined, { ref: false });
    return [];
  }
}

/** The rows of durable operations, as requests see and change them. Every method runs in the caller's transaction. */
@Injectable()
export class OperationStore {
  constructor(
    private readonly definitions: OperationDefinitions,
    private readonly bell: OutboxBell,
  ) {}

  /**
   * First statement of a mutation that starts an operation.
   * @throws idempotency_key_reused (422) if the key belongs to another request
   */
  async claim(tx: Tx, claim: OperationClaim): Promise<ClaimResult> {
    const { operation, resourceType, resourceName, requestedBy, reason = null, idempotency } = claim;
    const { method = null, path = null, key = null, fingerprint = null } = idempotency ?? {};
    const id = newId('op');
    const resource = [operation.kind, resourceType, resourceName, JSON.stringify(requestedBy), reason];
    const request = [method, path, key, fingerprint, requestContext().requestId || null];
    const values = [id, tx.tenant, ...resource, ...request];
    if (!idempotency) {
      // Without a key no earlier request can have made the row.
      tx.enqueue(INSERT_OPERATION, values);
      return { id, created: true };
    }
    if (await tx.one(INSERT_OPERATION, values)) return { id, created: true };
    const found = await tx.one<{ id: string; fingerprint: string }>(OPERATION_BY_KEY, [tx.tenant, method, path, key]);
    if (!found) throw new Error('the operation was not inserted, and no operation with its Idempotency-Key exists');
    if (found.fingerprint !== fingerprint) throw errors.idempotency_key_reused();
    return { id: found.id, created: false };
  }

  /** Second half of a mutation that was not adopted. */
  async start<D extends OperationDefinition>(tx: Tx, start: OperationStart<D>): Promise<void> {
    const { id, resourceId, stream, input, steps, result = {} } = start;
    tx.enqueue(START_OPERATION, [id, resourceId, stream, JSON.stringify(input), steps, JSON.stringify(result)]);
    tx.afterCommit(() => this.bell.ring());
  }

  /**
   * Lets go of the Idempotency-Keys of requests for a resource that is gone, so that none of them is adopted by a request for the next
   * one of its name.
   * @param path of the resource: `/api/v1/deployments/chat`
   */
  async forgetKeys(tx: Tx, tenantId: string, path: string): Promise<void> {
    await tx.query(FORGET_OPERATION_KEYS, [tenantId, path]);
  }

  /** The record of the operation as JSON text, or undefined for an unknown or foreign id. */
  async record(tx: Tx, id: string): Promise<string | undefined> {
    return (await tx.one<{ json: string }>(FIND_OPERATION_RECORD, [id, tx.tenant]))?.json;
  }

  async lock(tx: Tx, id: string): Promise<OperationRow> {
    const row = await tx.one<OperationRow>(LOCK_OPERATION, [id, tx.tenant]);
    if (!row) throw operationErrors.operation_not_found();
    return row;
  }

  /** Asks for a cancel; asking twice is the same, and the first reason stays. The worker that holds the operation sees it at its next commit or heartbeat. */
  async cancel(tx: Tx, id: string, actor: Actor, reason: string | null = null): Promise<void> {
    const operation = await this.lock(tx, id);
    if (operation.cancelRequested && isLive(operation)) return;
    const steps = await tx.query<StepRow>(OPERATION_STEPS, [id]);
    const limit = this.definitions.find(operation.kind)?.definition.pointOfNoReturn;
    const isPast = steps.some((step) => step.name === limit && step.status === 'succeeded');
    if (!isLive(operation) || isPast || operation.phase === 'unwinding')
      throw operationErrors.operation_not_cancellable();
    await tx.query(CANCEL_OPERATION, [id, reason]);
    const event = statusChanged(operation, 'cancelling', actor);
    await this.told(tx, operation, 'cancel', { ...event, data: { ...event.data, reason } });
  }

  /**
   * Brings a failed operation back to `pending`; it goes on at its first step that has not succeeded. The implementation
   * locks its resource before the row is locked here: the order in which everybody else takes these locks.
   */
  async retry(tx: Tx, id: string, actor: Actor): Promise<void> {
    const seen = await tx.one<OperationRow>(READ_OPERATION, [id, tx.tenant]);
    if (!seen) throw operationErrors.operation_not_found();
    if (!isRetryable(seen)) throw operationErrors.operation_not_retryable();
    const changedInput = await this.definitions.find(seen.kind)?.reclaim?.(tx, seen);
    const operation = await this.lock(tx, id);
    if (!isRetryable(operation)) throw operationErrors.operation_not_retryable();
    await tx.query(RETRY_OPERATION, [id, JSON.stringify(changedInput ?? {})]);
    await this.told(tx, operation, 'retry', statusChanged(operation, 'pending', actor));
  }

  /** Lets an operation that waits for a person go on. */
  async resume(tx: Tx, id: string, actor: Actor): Promise<void> {
    const operation = await this.lock(tx, id);
    if (operation.status !== 'waiting' || !operation.awaiting) throw operationErrors.operation_not_paused();
    if (operation.isResumed) return;
    await tx.query(RESUME_OPERATION, [id]);
    await this.told(tx, operation, 'resume', statusChanged(operation, 'running', actor));
  }

  /**
   * Ends a live operation in favour of another, at once: status, fence and successor in the caller's transaction. Its worker
   * can write nothing after this commit. What it had begun is the successor's to clean up.
   */
  async supersede(tx: Tx, id: string, successor: { id: string; actor: Actor }): Promise<OperationRow> {
    const operation = await this.lock(tx, id);
    await tx.query(SUPERSEDE_OPERATION, [
      id,
      `Superseded by ${successor.id}.`,
      successor.id,
      operationFailures.superseded.code,
    ]);
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
  await tx.query(LOCK_OPERATION_FOR_EVENTS, [operationId]);
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

/** A request that starts an operation on a resource. */
export interface OperationRequest extends MutationRequest {
  principal: Principal;
  resourceType: string;
  resourceName: string;
  reason?: string;
}

/** An operation whose request has passed every check and has written what is its own. */
export interface AcceptedOperation<D extends OperationDefinition = OperationDefinition> {
  resourceId: string;
  /** The stream that its events are appended to. */
  stream: string;
  input: InputOf<D>;
  /** Full step names in order. */
  steps: readonly StepName<D>[];
  /** The initial `result`; empty by default. */
  result?: Record<string, unknown>;
  audit: AuditEntry;
  events?: readonly NewEvent[];
  /** What the answer of a dry run says beyond the steps; for routes that have dry runs. */
  rehearsal?: { would: string; diff?: readonly object[]; more?: object };
}

@Injectable()
export class OperationRequests {
  constructor(
    private readonly mutations: Mutations,
    private readonly operations: OperationStore,
  ) {}

  /**
   * Accepts an operation in one transaction: claims the Idempotency-Key, runs `change`, and writes the operation with its wake-up, the audit
   * row and, last, the events, because an append locks their stream until the commit. A repeat gets the operation of the first request. A
   * refusal leaves nothing, so that its key stays usable.
   * @param change locks, checks and writes; `operationId` is the id that the operation will have
   * @returns 202 with the operation, 200 for a repeat or a dry run
   * @throws idempotency_key_reused (422)
   */
  accept<D extends OperationDefinition>(
    operation: D,
    request: OperationRequest,
    change: (tx: Tx, operationId: string) => Promise<AcceptedOperation<D>>,
  ): Promise<Reply> {
    const { principal, idempotency, isDryRun, resourceType, resourceName, reason } = request;
    const claim = { operation, resourceType, resourceName, requestedBy: principal.actor, reason };
    return this.mutations.run({ principal, isDryRun }, async (tx): Promise<Reply> => {
      const { id, created } = await this.operations.claim(tx, isDryRun ? claim : { ...claim, idempotency });
      if (!created) return operationAnswer(id, (await this.operations.record(tx, id)) as string, false);
      const { audit, events = [], rehearsal: { would, diff, more } = { would: '' }, ...start } = await change(tx, id);
      // Sent in this order in one message, and answered in one.
      const [, , , record] = await Promise.all([
        this.operations.start(tx, { id, operation, ...start }),
        appendAudit(tx, audit),
        appendEvents(tx, principal.tenantId, start.stream, events),
        this.operations.record(tx, id),
      ]);
      return isDryRun ? rehearsal(would, start.steps, diff, more) : operationAnswer(id, record as string, true);
    });
  }
}
