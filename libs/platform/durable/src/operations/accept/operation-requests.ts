import { Injectable } from '@nestjs/common';
import type { Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '../../events/index.js';
import { rehearsal, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit, Mutations, type AuditEntry, type MutationRequest } from '../../mutations/index.js';
import type { InputOf, OperationDefinition, StepName } from '../define/operation.definition.js';
import { operationAnswer } from './operation.dto.js';
import { OperationStore } from './operation.store.js';

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
