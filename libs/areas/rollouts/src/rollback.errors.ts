import { defineErrors } from '@slipway/platform-http';

export const rollbackErrors = defineErrors({
  no_previous_revision: {
    status: 404,
    category: 'not_found',
    message: 'There is no earlier revision to roll back to.',
    remediation: 'Name one with to_revision.',
  },
  revision_already_active: {
    status: 409,
    category: 'conflict',
    message: 'This revision already holds all traffic.',
    remediation: 'Name another revision with to_revision.',
  },
  revision_not_restorable: {
    status: 409,
    category: 'conflict',
    message: 'This revision cannot be brought up again.',
    remediation: 'Name another revision with to_revision, or roll out its spec anew.',
  },
});
