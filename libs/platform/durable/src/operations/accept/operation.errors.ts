import { defineErrors } from '@slipway/platform-http';

export const operationErrors = defineErrors({
  operation_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The operation does not exist.',
    remediation: 'List operations with GET /api/v1/operations.',
  },
  operation_in_progress: {
    status: 409,
    category: 'conflict',
    retryable: true,
    message: 'Another operation is running on this resource.',
    remediation: 'Wait until it has ended or cancel it. A rollback supersedes a running rollout.',
  },
  operation_not_retryable: {
    status: 409,
    category: 'conflict',
    message: 'Only a failed operation that is marked retryable can be retried.',
    remediation: 'Start a new operation.',
  },
  operation_not_cancellable: {
    status: 409,
    category: 'conflict',
    message: 'The operation has ended, or it has passed the step after which it cannot be cancelled.',
    remediation: 'Roll back instead.',
  },
  operation_not_paused: {
    status: 409,
    category: 'conflict',
    message: 'The operation is not paused and is not waiting for a person.',
    remediation: 'Resume only operations that are paused or wait for an approval or a decision.',
  },
  operation_not_pausable: {
    status: 409,
    category: 'conflict',
    message: 'The operation has ended, undoes its steps, or has nothing left that a pause would hold.',
    remediation: 'Pause only rollouts that still have traffic to move. A rollback cannot be paused.',
  },
  operation_not_promotable: {
    status: 409,
    category: 'conflict',
    message: 'The operation has no running step that a person may pass.',
    remediation: 'Promote a rollout while it soaks, is judged, or waits for an approval or a decision.',
  },
});
