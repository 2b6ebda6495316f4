import { defineFailures } from '@slipway/contracts';

/** The failures that any operation may have. Each area defines its own failures. */
export const operationFailures = defineFailures({
  validation_failed: [
    'The accepted request cannot run in the current state',
    'Read `message`, fix the problem that it names, and start a new operation.',
  ],
  dependency_outage: [
    'A dependency of the operation did not respond',
    'Retry the operation when the dependency named in `message` responds again.',
  ],
  attempts_exhausted: [
    'A step failed on every attempt, or its worker died on every attempt',
    'Read the evidence of the failed step and the log of the worker, fix the cause, and retry the operation.',
  ],
  cancelled_by_user: ['The operation was cancelled on request', 'Start a new operation if you still need it.'],
  superseded: ['Another operation superseded this one', 'Follow the operation in `superseded_by`.'],
  internal: ['A defect in Slipway', 'Quote the id of the operation when you report this.'],
});
