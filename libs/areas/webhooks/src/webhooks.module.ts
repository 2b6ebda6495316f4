import { Module } from '@nestjs/common';
import { DeliveryWork } from './delivery/delivery-work.js';
import { FanOut } from './delivery/fan-out.js';
import { LaneSender } from './delivery/lane-sender.js';
import { Lanes } from './delivery/lanes.js';
import { WebhookEgress } from './webhook-egress.js';
import { WebhooksController } from './webhooks.controller.js';
import { WebhooksService } from './webhooks.service.js';

/** The api answers; a process that runs operations also turns events into deliveries and sends them. */
@Module({
  controllers: [WebhooksController],
  providers: [WebhookEgress, WebhooksService, Lanes, FanOut, LaneSender, DeliveryWork],
})
export class WebhooksModule {}
