import { defineErrors } from '@slipway/platform-http';

export const instanceErrors = defineErrors({
  instance_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The deployment has no such instance.',
    remediation: 'List the instances with GET /api/v1/deployments/{name}/instances.',
  },
  logs_not_kept: {
    status: 409,
    category: 'conflict',
    message: 'The output of this instance is not kept, because Slipway did not start it.',
    remediation: 'Read the output where the server was started.',
  },
  logs_unavailable: {
    status: 503,
    category: 'capacity',
    retryable: true,
    message: 'The output cannot be read now.',
    remediation: 'Check that a worker runs on the host of the target, and retry.',
  },
});
