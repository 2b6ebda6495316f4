import { defineErrors } from '@slipway/platform-http';

export const webhookErrors = defineErrors({
  webhook_not_found: { status: 404, category: 'not_found', message: 'No webhook of this tenant has this id.' },
  quota_exceeded: {
    status: 429,
    category: 'limit',
    message: 'The tenant has as many webhooks as it may have.',
    remediation: 'Delete one first.',
  },
});
