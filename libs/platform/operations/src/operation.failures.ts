import { defineFailures } from '@slipway/contracts';

/** How any operation may fail. What belongs to one area is defined there. */
export const operationFailures = defineFailures({
  validation_failed: 'What was accepted cannot be run as things stand now',
  dependency_outage: 'Something that the operation needs did not answer',
  attempts_exhausted: 'A step failed each time it was tried, or its worker died each time',
  cancelled_by_user: 'Somebody cancelled it',
  superseded: 'Another operation ended it in its favour',
  internal: 'A defect of Slipway',
});
