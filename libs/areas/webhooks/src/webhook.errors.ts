import { defineErrors } from '@slipway/platform-http';

export const webhookErrors = defineErrors({
  webhook_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such webhook.',
    remediation: 'List webhooks with GET /api/v1/webhooks.',
  },
});
