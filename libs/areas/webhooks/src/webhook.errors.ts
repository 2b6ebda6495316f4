import { defineErrors } from '@slipway/platform-http';

export const webhookErrors = defineErrors({
  webhook_not_found: {
    status: 404,
    category: 'not_found',
    message: 'There is no such webhook.',
    remediation: 'List webhooks with GET /api/v1/webhooks.',
  },
  webhook_delivery_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The webhook has no delivery of this event.',
    remediation: 'List deliveries with GET /api/v1/webhooks/{id}/deliveries. Ended ones are kept for 30 days.',
  },
  webhook_disabled: {
    status: 409,
    category: 'conflict',
    message: 'The webhook is disabled, so nothing is sent to it.',
    remediation: 'Enable it with PATCH /api/v1/webhooks/{id} {"state": "active"}.',
  },
  webhook_delivery_ended: {
    status: 409,
    category: 'conflict',
    message: 'The delivery has already ended, so it cannot be skipped.',
    remediation: 'Skip only deliveries whose status is pending.',
  },
  webhook_event_not_found: {
    status: 404,
    category: 'not_found',
    message: 'The deployment has no event with this sequence, or it is no longer kept.',
    remediation: 'List events with GET /api/v1/deployments/{name}/events.',
  },
  webhook_event_expired: {
    status: 410,
    category: 'not_found',
    message: 'The event is no longer kept, so it cannot be sent again.',
    remediation: 'Read the current state of the resource instead.',
  },
});
