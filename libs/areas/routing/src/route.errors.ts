import { defineErrors } from '@slipway/platform-http';

export const routeErrors = defineErrors({
  route_not_found: {
    status: 404,
    category: 'not_found',
    message: 'This deployment has no route yet.',
    remediation: 'Set one with PUT /api/v1/deployments/{name}/route, or roll out with a strategy that moves traffic.',
  },
  route_weights_invalid: {
    status: 422,
    category: 'invalid_request',
    message: 'The weights of a route are whole numbers of 0 to 100 that sum to 100, each revision once.',
    remediation: 'Correct the weights.',
  },
  revision_not_ready: {
    status: 409,
    category: 'conflict',
    retryable: true,
    message: 'A revision that is to get traffic is not ready.',
    remediation: 'Wait until it is ready, or roll it out again.',
  },
  route_owned_by_operation: {
    status: 409,
    category: 'conflict',
    retryable: true,
    message: 'A live operation moves the traffic of this deployment.',
    remediation: 'Wait until it has ended, cancel it, or roll back.',
  },
});
