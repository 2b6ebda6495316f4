import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  CurrentPrincipal,
  Page,
  Route,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { DeliveriesService } from './deliveries.service.js';
import { DeliveryFilterDto, SendWebhookEventDto, WebhookDeliveryDto, WebhookDeliveryListDto } from './webhook.dto.js';
import { WebhooksService } from './webhooks.service.js';

@Controller()
export class DeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Route({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'listWebhookDeliveries',
    summary: 'List webhook deliveries',
    description:
      'Returns deliveries, newest event first. Filter them by `status` and `event_type`. Ended deliveries are kept for 30 days.',
    ok: { 200: WebhookDeliveryListDto },
    errors: ['webhook_not_found'],
    paged: true,
    byTime: true,
    notFoundFirst: WebhooksService,
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Query() filter: DeliveryFilterDto,
    @Page('string') page: PageRequest,
  ): Promise<PageOf<WebhookDeliveryDto>> {
    return this.deliveries.list(who, id, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/webhooks/:id/deliveries/:event_id',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'getWebhookDelivery',
    summary: 'Inspect a webhook delivery',
    description: 'Returns the delivery of one event: its status, and the result of the last attempt.',
    ok: { 200: WebhookDeliveryDto },
    errors: ['webhook_not_found', 'webhook_delivery_not_found'],
  })
  get(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Param('event_id') eventId: string,
  ): Promise<WebhookDeliveryDto> {
    return this.deliveries.get(who, id, eventId);
  }

  @Route({
    method: 'POST',
    path: '/webhooks/:id/test',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'testWebhook',
    summary: 'Send a test event',
    description:
      'Posts an event of type `webhook.test` to this webhook, whatever its filter is: signed like all others, with one attempt. Returns its delivery; read that until its `status` is no longer `pending`. The log keeps the last 50 tests.',
    ok: { 201: WebhookDeliveryDto },
    errors: ['webhook_not_found', 'webhook_disabled', 'quota_exceeded'],
  })
  test(@CurrentPrincipal() who: Principal, @Param('id') id: string): Promise<Reply> {
    return this.deliveries.test(who, id);
  }

  @Route({
    method: 'POST',
    path: '/webhooks/:id/deliveries',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'sendWebhookEvent',
    summary: 'Send an event',
    description:
      'Sends an event of a deployment that this webhook did not get: one from before its creation, from while it was disabled, or outside of its filter. Returns 201 with the new delivery, or 200 if there is one already, which is then sent again.',
    example: { deployment: 'chat', sequence: 1 },
    ok: { 201: WebhookDeliveryDto, 200: WebhookDeliveryDto },
    errors: [
      'webhook_not_found',
      'deployment_not_found',
      'webhook_event_not_found',
      'webhook_disabled',
      'webhook_event_expired',
      'quota_exceeded',
    ],
    notFoundFirst: WebhooksService,
  })
  send(@CurrentPrincipal() who: Principal, @Param('id') id: string, @Body() body: SendWebhookEventDto): Promise<Reply> {
    return this.deliveries.sendEvent(who, id, body);
  }

  @Route({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:event_id/redeliver',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'redeliverWebhookEvent',
    summary: 'Send an event again',
    description:
      'Starts a delivery again with its first attempt, also one that succeeded, failed or was skipped. A pending one is sent now instead of at `next_attempt_at`. It has the same `webhook-id`, so a receiver can recognise the repetition. Ends a pause that the receiver has requested.',
    ok: { 200: WebhookDeliveryDto },
    errors: [
      'webhook_not_found',
      'webhook_delivery_not_found',
      'webhook_disabled',
      'webhook_event_expired',
      'quota_exceeded',
    ],
  })
  redeliver(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Param('event_id') eventId: string,
  ): Promise<Reply> {
    return this.deliveries.redeliver(who, id, eventId);
  }

  @Route({
    method: 'POST',
    path: '/webhooks/:id/deliveries/:event_id/skip',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'skipWebhookDelivery',
    summary: 'Skip a pending delivery',
    description:
      'Gives up a delivery that the receiver refuses, so that the later events of its stream are sent. A request in progress may still arrive. A skipped event can be sent again later.',
    ok: { 200: WebhookDeliveryDto },
    errors: ['webhook_not_found', 'webhook_delivery_not_found', 'webhook_delivery_ended'],
  })
  skip(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Param('event_id') eventId: string,
  ): Promise<Reply> {
    return this.deliveries.skip(who, id, eventId);
  }
}
