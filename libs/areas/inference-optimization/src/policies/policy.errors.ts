import { defineErrors } from '@slipway/platform-http';

export const policyErrors = defineErrors({
  policy_version_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The policy of this deployment has no such version, or it is no longer kept.',
    remediation: 'List versions with GET /api/v1/deployments/{name}/continual-optimization/policy/versions.',
  },
  policy_not_found: {
    status: 404,
    category: 'not_found',
    message: 'This deployment has no continual-optimization policy yet.',
    remediation: 'Set one with PUT /api/v1/deployments/{name}/continual-optimization/policy.',
  },
});
