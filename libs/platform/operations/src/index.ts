export { OperationsModule } from './operations.module.js';
export {
  DurableOperation,
  done,
  sleep,
  StepFailed,
  type Failure,
  type FailureCode,
  type OperationDefinition,
  type Outcome,
  type Step,
  type StepContext,
  type StepCommit,
  type StepOutcome,
  type UnwindStep,
} from './operation.definition.js';
export { OperationDefinitions } from './operation.definitions.js';
export { OperationStore, statusChanged, type Claim, type IdempotencyClaim, type Start } from './operation.store.js';
export { HeldKey, IdempotentMutation, StoredAnswer } from './idempotency.js';
export { LIVE_STATUSES, type OperationRow, type OperationStatus } from './operation.row.js';
export { operationErrors } from './operation.errors.js';
export { GET_RECORD, LIST_RECORDS } from './operation.query.js';
export { OperationDto, OperationEnvelopeDto, operationAnswer } from './operation.dto.js';
export { OperationRunner } from './operation.runner.js';
export { Leases } from './leases.js';
export { dispatch, wake } from './dispatch.js';
export { appendEvents, EVENTS_CHANNEL, lockBeforeEvents, type NewEvent, type EventSource } from './event.store.js';
export { eventPage, type StoredEvent } from './event.store.js';
export { EventHub } from './event.hub.js';
export { EventDto, EventPageDto, EventQueryDto } from './event.dto.js';
export { EventList } from './event-list.js';
export { EventStreams } from './event-stream.js';
export { Client, EventFeed, type FeedClient } from './event-feed.js';
export { appendAudit, type AuditEntry } from './audit.js';
export { Sweeper, type DueWork } from './sweeper.js';
export { Retention } from './retention.js';
export { PausePoints } from './pause-points.js';
import { Operations1700000000020 } from './migrations/1700000000020-operations.js';
import { Outbox1700000000021 } from './migrations/1700000000021-outbox.js';
import { Events1700000000022 } from './migrations/1700000000022-events.js';
import { Idempotency1700000000023 } from './migrations/1700000000023-idempotency.js';
import { AuditLog1700000000024 } from './migrations/1700000000024-audit-log.js';
import { Retention1700000000025 } from './migrations/1700000000025-retention.js';

export const migrations = [
  Operations1700000000020,
  Outbox1700000000021,
  Events1700000000022,
  Idempotency1700000000023,
  AuditLog1700000000024,
  Retention1700000000025,
];
