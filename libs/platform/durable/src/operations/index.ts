import { Operations1700000000020 } from './migrations/1700000000020-operations.js';
import { Outbox1700000000021 } from './migrations/1700000000021-outbox.js';
import { Retention1700000000025 } from './migrations/1700000000025-retention.js';
import { UndoneSteps1700000000027 } from './migrations/1700000000027-undone-steps.js';
import { Due1700000000028 } from './migrations/1700000000028-due.js';
import { OperationRequest1700000000033 } from './migrations/1700000000033-operation-request.js';
import { CancelReason1700000000034 } from './migrations/1700000000034-cancel-reason.js';
import { StepRoom1700000000036 } from './migrations/1700000000036-step-room.js';
import { OperationControl1700000000038 } from './migrations/1700000000038-operation-control.js';
import { StoredOperations1700000000041 } from './migrations/1700000000041-stored-operations.js';

export { DurableOperationsModule } from './operations.module.js';
export {
  baseName,
  defineOperation,
  inputOf,
  type InputOf,
  type OperationPriority,
  type OperationDefinition,
  type StepName,
} from './define/operation.definition.js';
export { DurableOperation, OperationDefinitions } from './define/operation.definitions.js';
export {
  done,
  sleep,
  StepFailed,
  type OperationOf,
  type ControlRequest,
  type OperationOutcome,
  type Step,
  type StepContext,
  type StepOutcome,
} from './define/steps.js';
export { dispatch, wake } from './accept/dispatch.js';
export {
  OperationRequests,
  type AcceptedOperation,
  type OperationRequest,
  lockBeforeEvents,
  OperationStore,
  type OperationClaim,
  type ClaimResult,
  type OperationStart,
} from './accept/operation.store.js';
export { OperationDto, OperationEnvelopeDto, operationAnswer } from './accept/operation.dto.js';
export { operationErrors } from './accept/operation.errors.js';
export {
  GET_OPERATION_RECORD,
  LIST_OPERATION_RECORDS,
  NEWEST_OPERATION_RECORDS,
  tokenStartedOperation,
  waitsOf,
} from './accept/operation.query.js';
export { isLiveOperation, operationActivity, OperationEntity, OperationStepEntity } from './operation.entity.js';
export { operationFailures } from './operation.failures.js';
export type { OperationFailure, OperationPause, OperationPromotion, OperationRow } from './operation.row.js';
export { OutboxEntity } from './outbox.entity.js';
export { Leases } from './run/leases.js';
export { backlogOf, type Backlog } from './run/backlog.query.js';
export { OperationRunner } from './run/operation.runner.js';
export { LOOK_EVERY_MS, OperationWorker } from './run/operation.worker.js';

export const migrations = [
  Operations1700000000020,
  Outbox1700000000021,
  Retention1700000000025,
  UndoneSteps1700000000027,
  Due1700000000028,
  OperationRequest1700000000033,
  CancelReason1700000000034,
  StepRoom1700000000036,
  OperationControl1700000000038,
  StoredOperations1700000000041,
];
