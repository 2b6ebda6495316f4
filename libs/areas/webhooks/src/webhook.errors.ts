import { defineErrors } from '@slipway/platform-http';

export const webhookErrors = defineErrors({
  webhook_not_found: {
    status: 404,
    category: 'not_found',
    message: 'No webhook of this tenant has this id.',
    remediation: 'List them with GET /api/v1/webhooks.',
  },
});
