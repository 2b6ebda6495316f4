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
import { appendAudit, type AuditEntry, forgetKeys, type MutationRequest, Mutations } from '../../mutations/index.js';
import { baseName, type InputOf, type OperationDefinition, type StepName } from '../define/operation.definition.js';
import { OperationDefinitions } from '../define/operation.definitions.js';
import { operationFailures } from '../operation.failures.js';
import { isDone, type OperationPromotion, type OperationRow, type StepRow } from '../operation.row.js';
import { dispatch } from './dispatch.js';
import { operationAnswer } from './operation.dto.js';
import { operationErrors } from './operation.errors.js';
import {
  CANCEL_OPERATION,
  END_OPERATION_PAUSE,
  FIND_OPERATION_RECORD,
  FORGET_OPERATION_KEYS,
  INSERT_OPERATION,
  LOCK_OPERATION,
  LOCK_OPERATION_FOR_EVENTS,
  OPERATION_BY_KEY,
  OPERATION_STEPS,
  PAUSE_OPERATION,
  PROMOTE_OPERATION,
  READ_OPERATION,
  RESUME_OPERATION,
  RETRY_OPERATION,
  RING_OUTBOX,
  START_OPERATION,
  SUPERSEDE_OPERATION,
} from './operation.query.js';

/** A request that starts an operation. */
export interface OperationClaim {
  operation: OperationDefinition;
  resourceType: string;
  resourceName: string;
  requestedBy: Actor;
  reason?: string | null;
  idempotency?: IdempotencyClaim;
}

/**
 * The operation of a claim. If `created` is false, an earlier request with this key made the operation: adopt it and
 * write nothing more.
 */
export interface ClaimResult {
  id: string;
  created: boolean;
}

/** The work of a claimed operation. */
export interface OperationStart<D extends OperationDefinition = OperationDefinition> {
  id: string;
  operation: D;
  resourceId: string;
  /** The stream that its events are appended to. */
  stream: string;
  input: InputOf<D>;
  /** Full step names in order. */
  steps: readonly StepName<D>[];
  /** The initial `result`; empty by default. */
  result?: Record<string, unknown>;
}

/**
 * Minimum time between two notifications of a process, and between two reads of the outbox by a relay, in milliseconds.
 */
export const OUTBOX_GAP_MS = 25;

/**
 * Notifies the relays, after the commit of an accepted operation, that the outbox has rows. This happens outside of
 * that transaction, because commits that notify wait for each other, which was more than half of the cost of accepting
 * an operation. A lost notification costs a second, because relays also poll.
 */
@Injectable()
export class OutboxBell {
  private readonly rings = new Batcher<string, void>(() => this.notify(), {
    most: 1,
    keyOf: (channel) => channel,
    waitMs: 1_000,
  });

  constructor(private readonly database: Database) {}

  /** Returns at once. All calls within the next 25 ms become one notification. */
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
   * Claims an operation. It is the first statement of a mutation that starts one.
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
      // Without a key, no earlier request can have inserted the row.
      tx.enqueue(INSERT_OPERATION, values);
      return { id, created: true };
    }
    if (await tx.one(INSERT_OPERATION, values)) return { id, created: true };
    const found = await tx.one<{ id: string; fingerprint: string }>(OPERATION_BY_KEY, [tx.tenant, method, path, key]);
    if (!found) throw new Error('the operation was not inserted, and no operation with its Idempotency-Key exists');
    if (found.fingerprint !== fingerprint) throw errors.idempotency_key_reused();
    return { id: found.id, created: false };
  }

  /** Starts a claimed operation: the second half of a mutation whose claim returned `created: true`. */
  async start<D extends OperationDefinition>(tx: Tx, start: OperationStart<D>): Promise<void> {
    const { id, resourceId, stream, input, steps, result = {} } = start;
    tx.enqueue(START_OPERATION, [id, resourceId, stream, JSON.stringify(input), steps, JSON.stringify(result)]);
    tx.afterCommit(() => this.bell.ring());
  }

  /**
   * Removes the Idempotency-Keys of the requests for a deleted resource. Otherwise a request for the next resource of
   * that name could adopt one of their operations.
   * @param path of the resource: `/api/v1/deployments/chat`
   */
  async forgetKeys(tx: Tx, tenantId: string, path: string): Promise<void> {
    await forgetKeys(tx, tenantId, path);
    await tx.query(FORGET_OPERATION_KEYS, [tenantId, path]);
  }

  /** The record of the operation as JSON text, or undefined if the id is unknown or belongs to another tenant. */
  async record(tx: Tx, id: string): Promise<string | undefined> {
    return (await tx.one<{ json: string }>(FIND_OPERATION_RECORD, [id, tx.tenant]))?.json;
  }

  async lock(tx: Tx, id: string): Promise<OperationRow> {
    const row = await tx.one<OperationRow>(LOCK_OPERATION, [id, tx.tenant]);
    if (!row) throw operationErrors.operation_not_found();
    return row;
  }

  /**
   * Requests a cancel. A second request changes nothing, and the first reason is kept. The worker that holds the
   * operation sees the request at its next commit or heartbeat.
   * @throws operation_not_found (404)
   * @throws operation_not_cancellable (409) if the operation has ended, unwinds, or has passed its point of no return
   */
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
   * Sets a failed operation back to `pending`; it continues at its first step that has not succeeded. The
   * implementation locks its resource before the row is locked here, because all other code takes these locks in that
   * order.
   * @throws operation_not_found (404)
   * @throws operation_not_retryable (409)
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

  /**
   * Holds an operation before its next step that moves something (`pausesBefore`). A second request changes nothing.
   * @throws operation_not_found (404)
   * @throws operation_not_pausable (409)
   */
  async pause(tx: Tx, id: string, { actor }: Principal, reason: string | null = null): Promise<void> {
    const operation = await this.lock(tx, id);
    const isPaused = operation.pause !== null || (operation.status === 'waiting' && operation.waitingFor === 'resume');
    if (isLive(operation) && isPaused) return;
    const held = this.definitions.find(operation.kind)?.definition.pausesBefore ?? [];
    const steps = await tx.query<StepRow>(OPERATION_STEPS, [id]);
    const isHeldLater = steps.some((step) => !isDone(step) && !step.isUnwind && held.includes(baseName(step.name)));
    if (!isInProgress(operation) || !isHeldLater) throw operationErrors.operation_not_pausable();
    await tx.query(PAUSE_OPERATION, [id, JSON.stringify(actor), reason]);
    await this.told(tx, operation, 'pause', controlled('operation.paused', operation, actor, { reason }));
  }

  /**
   * Ends a pause, or continues an operation that waits for a person.
   * @throws operation_not_found (404)
   * @throws operation_not_paused (409)
   * @throws the error of its implementation if this person may not do that
   */
  async resume(tx: Tx, id: string, principal: Principal, reason: string | null = null): Promise<void> {
    const { actor } = principal;
    const operation = await this.lock(tx, id);
    if (operation.pause && isInProgress(operation)) {
      await tx.query(END_OPERATION_PAUSE, [id]);
      await this.told(tx, operation, 'resume', controlled('operation.resumed', operation, actor, { reason }));
      return;
    }
    if (operation.status !== 'waiting' || !operation.awaiting) throw operationErrors.operation_not_paused();
    if (operation.isResumed) return;
    const request = { action: 'resume', isFull: false, principal } as const;
    await this.definitions.find(operation.kind)?.assertMay?.(tx, operation, request);
    await tx.query(RESUME_OPERATION, [id]);
    const event = statusChanged(operation, 'running', actor);
    await this.told(tx, operation, 'resume', { ...event, data: { ...event.data, reason } });
  }

  /**
   * Ends the running step as passed by a person; with `full`, all later steps that may be passed too. It ends a pause. A
   * second request for the same step changes nothing.
   * @throws operation_not_found (404)
   * @throws operation_not_promotable (409)
   * @throws the error of its implementation if this person may not do that
   */
  async promote(
    tx: Tx,
    id: string,
    principal: Principal,
    { to, reason = null }: { to: OperationPromotion['to']; reason?: string | null },
  ): Promise<void> {
    const { actor } = principal;
    const operation = await this.lock(tx, id);
    const runnable = this.definitions.find(operation.kind);
    const isPassable = runnable?.definition.passable?.includes(baseName(operation.currentStep));
    if (!isInProgress(operation) || !isPassable) throw operationErrors.operation_not_promotable();
    const { promotion } = operation;
    if (promotion?.to === 'full' || (promotion?.step === operation.currentStep && promotion.to === to)) return;
    await runnable?.assertMay?.(tx, operation, { action: 'promote', isFull: to === 'full', principal });
    await tx.query(PROMOTE_OPERATION, [id, JSON.stringify(actor), reason, to]);
    const data = { to, step: operation.currentStep, reason };
    await this.told(tx, operation, 'promote', controlled('operation.promoted', operation, actor, data));
  }

  /**
   * Ends a live operation in favour of another one, at once: its status, its fence and its successor are written in the
   * caller's transaction. Its worker can write nothing after this commit. The successor must clean up what the
   * operation had begun.
   * @throws operation_not_found (404)
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

  /** Writes the wake-up, the audit row and the event of a change that a person made. */
  private async told(tx: Tx, operation: OperationRow, action: string, event: NewEvent): Promise<void> {
    await dispatch(tx, operation.id);
    await appendAudit(tx, { action: `operation.${action}`, resourceType: 'operation', resourceName: operation.id });
    await appendEvents(tx, operation.tenantId, operation.stream, [event]);
  }
}

/**
 * Call this before an append in the middle of a step's commit. The commit itself locks the operation only afterwards,
 * and a cancel locks the operation before its stream. Without this lock the two could deadlock.
 */
export async function lockBeforeEvents(tx: Tx, operationId: string): Promise<void> {
  await tx.query(LOCK_OPERATION_FOR_EVENTS, [operationId]);
}

function isLive({ status }: OperationRow): boolean {
  return LIVE_STATUSES.some((live) => live === status);
}

/** Whether a person can still direct it. */
function isInProgress(operation: OperationRow): boolean {
  return isLive(operation) && operation.phase === 'forward' && !operation.cancelRequested;
}

function controlled(type: string, operation: OperationRow, actor: Actor, data: Record<string, unknown>): NewEvent {
  const { id, kind, resourceName } = operation;
  return {
    type,
    subject: `operations/${id}`,
    actor,
    operationId: id,
    data: { operation_id: id, kind, resource_name: resourceName, ...data },
  };
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
  /** By default that of the current request. */
  idempotency?: IdempotencyClaim;
}

/** An operation whose request has passed every check and has written its own rows. */
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
  /** The parts of a dry run's answer in addition to the steps, for routes that support dry runs. */
  rehearsal?: { would: string; diff?: readonly object[]; more?: object };
}

@Injectable()
export class OperationRequests {
  constructor(
    private readonly mutations: Mutations,
    private readonly operations: OperationStore,
  ) {}

  /**
   * Accepts an operation in one transaction. It claims the Idempotency-Key, runs `change`, and writes the operation
   * with its wake-up and the audit row. The events come last, because an append locks their stream until the commit. A
   * repeat gets the operation of the first request. A refusal writes nothing, so that its key stays usable.
   * @param change locks, checks and writes; `operationId` is the id that the operation will have
   * @returns 202 with the operation, 200 for a repeat or a dry run
   * @throws idempotency_key_reused (422)
   */
  accept<D extends OperationDefinition>(
    operation: D,
    request: OperationRequest,
    change: (tx: Tx, operationId: string) => Promise<AcceptedOperation<D>>,
  ): Promise<Reply> {
    const { principal, isDryRun, resourceType, resourceName, reason } = request;
    const idempotency = request.idempotency ?? requestContext().keyed?.take();
    const claim = { operation, resourceType, resourceName, requestedBy: principal.actor, reason };
    return this.mutations.run({ principal, isDryRun }, async (tx): Promise<Reply> => {
      // A rehearsal claims the key too, and gives it back: it must be refused if the request would be.
      const { id, created } = await this.operations.claim(tx, { ...claim, idempotency });
      if (!created) return operationAnswer(id, (await this.operations.record(tx, id)) as string, false);
      const { audit, events = [], rehearsal: { would, diff, more } = { would: '' }, ...start } = await change(tx, id);
      // These are sent in this order in one message, and answered in one.
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
