import { Body, Controller, Param } from '@nestjs/common';
import {
  CurrentPrincipal,
  Page,
  Route,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import {
  CreatedWebhookDto,
  CreateWebhookDto,
  DeletedWebhookDto,
  type WebhookDeliveryDto,
  WebhookDeliveryListDto,
  type WebhookDto,
  WebhookListDto,
} from './webhook.dto.js';
import { WebhooksService } from './webhooks.service.js';

@Controller()
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Route({
    method: 'POST',
    path: '/webhooks',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description:
      'Posts every new event to the URL as a CloudEvent (structured JSON), signed as standard-webhooks.com describes. Events are sent at least once, ' +
      'in order within their stream. A 2xx response within 10 s accepts an event. Other attempts are retried for about three days; 410 disables the webhook.',
    example: { url: 'https://hooks.example.com/slipway', event_types: ['rollout.*'] },
    ok: { 201: CreatedWebhookDto },
    errors: ['deployment_not_found', 'quota_exceeded'],
  })
  create(@CurrentPrincipal() who: Principal, @Body() body: CreateWebhookDto): Promise<Reply> {
    return this.webhooks.create(who, body);
  }

  @Route({
    method: 'GET',
    path: '/webhooks',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'listWebhooks',
    summary: 'List webhooks, newest first',
    description: 'Returns webhooks with the reason if one was disabled, never with their secret.',
    ok: { 200: WebhookListDto },
    paged: true,
  })
  list(@CurrentPrincipal() who: Principal, @Page('string') page: PageRequest): Promise<PageOf<WebhookDto>> {
    return this.webhooks.list(who, page);
  }

  @Route({
    method: 'DELETE',
    path: '/webhooks/:id',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Also deletes its delivery log. Pending events are not sent; a request in progress may still arrive.',
    ok: { 200: DeletedWebhookDto },
    errors: ['webhook_not_found'],
  })
  delete(@CurrentPrincipal() who: Principal, @Param('id') id: string): Promise<DeletedWebhookDto> {
    return this.webhooks.delete(who, id);
  }

  @Route({
    method: 'GET',
    path: '/webhooks/:id/deliveries',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'listWebhookDeliveries',
    summary: 'List webhook deliveries',
    description: 'Returns deliveries, newest event first. Ended deliveries are kept for 30 days.',
    ok: { 200: WebhookDeliveryListDto },
    errors: ['webhook_not_found'],
    paged: true,
  })
  deliveries(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Page('string') page: PageRequest,
  ): Promise<PageOf<WebhookDeliveryDto>> {
    return this.webhooks.deliveries(who, id, page);
  }
}
