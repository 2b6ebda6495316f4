import { Webhooks1700000001400 } from './migrations/1700000001400-webhooks.js';
import { WebhookLanes1700000001401 } from './migrations/1700000001401-webhook-lanes.js';
import { WebhookDeliveries1700000001402 } from './migrations/1700000001402-webhook-deliveries.js';

export { WebhooksModule } from './webhooks.module.js';
export { DELIVERY_TIMING, type DeliveryTiming } from './delivery/delivery-timing.js';

export const migrations = [Webhooks1700000001400, WebhookLanes1700000001401, WebhookDeliveries1700000001402];
