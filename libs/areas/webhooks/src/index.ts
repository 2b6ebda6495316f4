import type { SealedColumn } from '@slipway/platform-database';
import { sealContext } from './delivery/signature.js';
import { Webhooks1700000001400 } from './migrations/1700000001400-webhooks.js';
import { WebhookLanes1700000001401 } from './migrations/1700000001401-webhook-lanes.js';
import { WebhookDeliveries1700000001402 } from './migrations/1700000001402-webhook-deliveries.js';
import { PendingOfTenant1700000001403 } from './migrations/1700000001403-pending-of-tenant.js';
import { StoredWebhooks1700000001404 } from './migrations/1700000001404-stored-webhooks.js';

export { WebhooksModule } from './webhooks.module.js';
export { DELIVERY_TIMING, type DeliveryTiming } from './delivery/delivery-timing.js';

export const migrations = [
  Webhooks1700000001400,
  WebhookLanes1700000001401,
  WebhookDeliveries1700000001402,
  PendingOfTenant1700000001403,
  StoredWebhooks1700000001404,
];
export const sealed: readonly SealedColumn[] = [
  {
    table: 'webhooks',
    id: 'id',
    column: 'sealed_secret',
    renewed: ({ id, sealed_secret }, reseal) => reseal(sealed_secret as string, sealContext(id as string)),
  },
];
