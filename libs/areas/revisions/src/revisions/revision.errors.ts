import { defineErrors } from '@slipway/platform-http';

export const revisionErrors = defineErrors({
  revision_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The deployment has no such revision.',
    remediation: 'List the revisions with GET /api/v1/deployments/{name}/revisions.',
  },
});
