import { defineErrors } from '@slipway/platform-http';

export const eventErrors = defineErrors({
  cursor_expired: {
    status: 410,
    category: 'invalid_request',
    message: 'Events at this position are no longer kept.',
    remediation: 'Read the list from its beginning and continue from there.',
  },
});
