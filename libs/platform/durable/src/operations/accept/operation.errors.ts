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
    message: 'The operation is not waiting for a person.',
    remediation: 'Resume only operations that wait at an approval or a pause.',
  },
});
