import { defineErrors } from '@slipway/platform-http';

export const deploymentErrors = defineErrors({
  deployment_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The deployment does not exist.',
    remediation: 'List deployments with GET /api/v1/deployments.',
  },
  deployment_exists: {
    status: 409,
    category: 'conflict',
    message: 'A deployment with this name already exists.',
    remediation: 'Choose another name, or delete the existing deployment first.',
  },
});
