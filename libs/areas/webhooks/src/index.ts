import type { SealedColumn } from '@slipway/platform-database';
import { sealContext } from './delivery/signature.js';
import { Webhooks1700000001400 } from './migrations/1700000001400-webhooks.js';
import { WebhookLanes1700000001401 } from './migrations/1700000001401-webhook-lanes.js';
import { WebhookDeliveries1700000001402 } from './migrations/1700000001402-webhook-deliveries.js';
import { PendingOfTenant1700000001403 } from './migrations/1700000001403-pending-of-tenant.js';
import { StoredWebhooks1700000001404 } from './migrations/1700000001404-stored-webhooks.js';
import { WebhookVerbs1700000001405 } from './migrations/1700000001405-webhook-verbs.js';

export { WebhooksModule } from './webhooks.module.js';
export { DELIVERY_TIMING, type DeliveryTiming } from './delivery/delivery-timing.js';

export const migrations = [
  Webhooks1700000001400,
  WebhookLanes1700000001401,
  WebhookDeliveries1700000001402,
  PendingOfTenant1700000001403,
  StoredWebhooks1700000001404,
  WebhookVerbs1700000001405,
];
export const sealed: readonly SealedColumn[] = ['sealed_secret', 'sealed_previous_secret'].map((column) => ({
  table: 'webhooks',
  id: 'id',
  column,
  renewed: (row, reseal) => reseal(row[column] as string, sealContext(row['id'] as string)),
}));
