import { Module } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { OperationRunner } from '@slipway/platform-durable/operations';
import { Egress, PUBLIC_TLS, resolveWithSystem } from '@slipway/platform-egress';
import { DeliveryMetrics } from './delivery/delivery-metrics.js';
import { DeliveryWork } from './delivery/delivery-work.js';
import { WebhookEventRetention, FanOut } from './delivery/fan-out.js';
import { ReceiverNames } from './delivery/receiver-names.js';
import { QueueSender } from './delivery/queue-sender.js';
import { DeliveryQueues } from './delivery/delivery-queues.js';
import { DeliveriesController } from './deliveries.controller.js';
import { DeliveriesService } from './deliveries.service.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

/**
 * Events are sent to public servers over TLS. Plain http and internal addresses need the operator's permission
 * (`outbound.webhooks`).
 */
const egress = {
  provide: Egress,
  inject: [CONFIG, { token: OperationRunner, optional: true }],
  useFactory: (
    { operator, ownPorts, outboundProxy: proxy }: Pick<Config, 'operator' | 'ownPorts' | 'outboundProxy'>,
    runner: OperationRunner | undefined,
  ) =>
    new Egress(() => [...PUBLIC_TLS, ...(operator.outbound?.webhooks ?? [])], {
      ownPorts,
      proxy,
      // Only a process that sends: the check of a new URL must not wait for slow names.
      ...(runner && { resolve: new ReceiverNames(resolveWithSystem).resolve }),
    }),
};

/** The api only serves requests. A process that runs operations also turns events into deliveries and sends them. */
@Module({
  controllers: [WebhooksController, DeliveriesController],
  providers: [
    egress,
    WebhooksService,
    DeliveriesService,
    DeliveryQueues,
    FanOut,
    QueueSender,
    DeliveryWork,
    DeliveryMetrics,
    WebhookEventRetention,
  ],
})
export class WebhooksModule {}
