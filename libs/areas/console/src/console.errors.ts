import { defineErrors } from '@slipway/platform-http';

export const consoleErrors = defineErrors({
  csrf_refused: {
    status: 403,
    category: 'permission',
    message: 'The request does not carry the x-csrf-token of the console session.',
    remediation: 'Send the csrf of GET /console/session in the header x-csrf-token.',
  },
  host_refused: {
    status: 403,
    category: 'permission',
    message: 'Console sessions do not answer to this Host.',
    remediation: 'Open the console at SLIPWAY_PUBLIC_URL; where that is unset, at localhost or an IP address.',
  },
  origin_refused: {
    status: 403,
    category: 'permission',
    message: 'Console sessions answer to pages of their own origin alone.',
    remediation: 'Programs send a bearer token to /api/v1.',
  },
});
