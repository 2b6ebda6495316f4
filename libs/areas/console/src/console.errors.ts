import { defineErrors } from '@slipway/platform-http';

export const consoleErrors = defineErrors({
  csrf_refused: {
    status: 403,
    category: 'permission',
    message: 'The request lacks the x-csrf-token header of the console session.',
    remediation: 'Send the csrf value from GET /console/session in the x-csrf-token header.',
  },
  host_refused: {
    status: 403,
    category: 'permission',
    message: 'Console sessions do not accept this Host header.',
    remediation: 'Open the console at SLIPWAY_PUBLIC_URL. If it is not set, use localhost or an IP address.',
  },
  origin_refused: {
    status: 403,
    category: 'permission',
    message: 'Console sessions accept only requests from pages of their own origin.',
    remediation: 'Programs must send a bearer token to /api/v1.',
  },
});
