import { Module } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Egress, PUBLIC_TLS } from '@slipway/platform-egress';
import { DeliveryWork } from './delivery/delivery-work.js';
import { WebhookEventRetention, FanOut } from './delivery/fan-out.js';
import { QueueSender } from './delivery/queue-sender.js';
import { DeliveryQueues } from './delivery/delivery-queues.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

/**
 * Events are sent to public servers over TLS. Plain http and internal addresses need the operator's permission
 * (`outbound.webhooks`).
 */
const egress = {
  provide: Egress,
  inject: [CONFIG],
  useFactory: ({ operator, ownPorts, outboundProxy: proxy }: Pick<Config, 'operator' | 'ownPorts' | 'outboundProxy'>) =>
    new Egress(() => [...PUBLIC_TLS, ...(operator.outbound?.webhooks ?? [])], { ownPorts, proxy }),
};

/** The api only serves requests. A process that runs operations also turns events into deliveries and sends them. */
@Module({
  controllers: [WebhooksController],
  providers: [egress, WebhooksService, DeliveryQueues, FanOut, QueueSender, DeliveryWork, WebhookEventRetention],
})
export class WebhooksModule {}
