import { defineErrors } from '@slipway/platform-http';

export const routeErrors = defineErrors({
  route_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The deployment has no route yet.',
    remediation:
      'Set a route with PUT /api/v1/deployments/{name}/route, or create a rollout with a strategy that moves traffic.',
  },
  route_weights_invalid: {
    status: 422,
    category: 'invalid_request',
    message:
      'The weights of a route must be whole numbers from 0 to 100 that sum to 100, and each revision may occur only once.',
    remediation: 'Correct the weights.',
  },
  revision_not_ready: {
    status: 409,
    category: 'conflict',
    retryable: true,
    message: 'A revision that should get traffic is not ready.',
    remediation: 'Wait until the revision is ready, or roll it out again.',
  },
  route_owned_by_operation: {
    status: 409,
    category: 'conflict',
    retryable: true,
    message: 'A running operation controls the traffic of this deployment.',
    remediation: 'Wait until the operation has ended, cancel it, or roll back.',
  },
});
