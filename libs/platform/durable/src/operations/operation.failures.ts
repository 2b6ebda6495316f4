import { defineFailures } from '@slipway/contracts';

/** How any operation may fail. What belongs to one area is defined there. */
export const operationFailures = defineFailures({
  validation_failed: [
    'What was accepted cannot be run as things stand now',
    'Read `message`, correct what it names, and start anew.',
  ],
  dependency_outage: [
    'Something that the operation needs did not answer',
    'Retry the operation once what `message` names answers again.',
  ],
  attempts_exhausted: [
    'A step failed each time it was tried, or its worker died each time',
    'Look at the evidence of the failed step and the log of the worker; mend that, then retry the operation.',
  ],
  cancelled_by_user: ['Somebody cancelled it', 'Nothing; start anew when it is wanted.'],
  superseded: ['Another operation ended it in its favour', 'Follow the operation in `superseded_by`.'],
  internal: ['A defect of Slipway', 'Quote the id of the operation when you report this.'],
});
