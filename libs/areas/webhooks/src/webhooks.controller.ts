import { Body, Controller, Param, Query } from '@nestjs/common';
import {
  CurrentPrincipal,
  Conditions,
  Page,
  Route,
  type PageOf,
  type PageRequest,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import {
  CreatedWebhookDto,
  CreateWebhookDto,
  DeletedWebhookDto,
  RotatedWebhookDto,
  RotateWebhookSecretDto,
  UpdateWebhookDto,
  WebhookDto,
  WebhookListDto,
  WebhookFilterDto,
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
      'in order within their stream. A 2xx response within 10 s accepts an event. Other attempts are retried for about three days, not before the `Retry-After` of the receiver; 410 disables the webhook.',
    example: { url: 'https://hooks.example.com/slipway', event_types: ['rollout.*'] },
    ok: { 201: CreatedWebhookDto },
    errors: ['deployment_not_found', 'quota_exceeded'],
    secrets: ['secret'],
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
    byTime: true,
  })
  list(
    @CurrentPrincipal() who: Principal,
    @Query() filter: WebhookFilterDto,
    @Page('string') page: PageRequest,
  ): Promise<PageOf<WebhookDto>> {
    return this.webhooks.list(who, filter, page);
  }

  @Route({
    method: 'GET',
    path: '/webhooks/:id',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'getWebhook',
    summary: 'Inspect a webhook',
    description: 'Returns the webhook, never its secrets. Send its `etag` as `If-Match` with a change.',
    ok: { 200: WebhookDto },
    errors: ['webhook_not_found'],
  })
  get(@CurrentPrincipal() who: Principal, @Param('id') id: string): Promise<Reply> {
    return this.webhooks.get(who, id);
  }

  @Route({
    method: 'PATCH',
    path: '/webhooks/:id',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'updateWebhook',
    summary: 'Change a webhook',
    description:
      'Applies a JSON merge patch (RFC 7386). Fields in the patch change, and `null` resets a field to its default. A filter applies to events from now on. Pending deliveries are sent to a new `url` at once. `state` disables the webhook, or enables it with the next event.',
    example: { event_types: ['rollout.*'], description: 'The chat of the team' },
    ok: { 200: WebhookDto },
    errors: ['webhook_not_found', 'deployment_not_found'],
    conditional: true,
    notFoundFirst: WebhooksService,
  })
  update(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Body() patch: UpdateWebhookDto,
    @Conditions() conditions: Preconditions,
  ): Promise<Reply> {
    return this.webhooks.update(who, id, patch, conditions);
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
    conditional: true,
  })
  delete(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Conditions() conditions: Preconditions,
  ): Promise<DeletedWebhookDto> {
    return this.webhooks.delete(who, id, conditions);
  }

  @Route({
    method: 'POST',
    path: '/webhooks/:id/rotate-secret',
    scope: 'admin',
    tag: 'Monitoring',
    operationId: 'rotateWebhookSecret',
    summary: 'Rotate the signing secret',
    description:
      'Returns a new secret, once. Until `overlap_seconds` have passed, `webhook-signature` has a signature of the new and one of the previous secret, as standard-webhooks.com describes, so that receivers can change in between. A second rotation within an overlap ends the oldest secret.',
    example: { overlap_seconds: 3600 },
    ok: { 200: RotatedWebhookDto },
    errors: ['webhook_not_found'],
    secrets: ['secret'],
    notFoundFirst: WebhooksService,
  })
  rotateSecret(
    @CurrentPrincipal() who: Principal,
    @Param('id') id: string,
    @Body() { overlap_seconds }: RotateWebhookSecretDto,
  ): Promise<Reply> {
    return this.webhooks.rotateSecret(who, id, overlap_seconds);
  }
}
