import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { LessThan } from 'typeorm';
import { CONFIG, quotasOf, type Config, type QuotaConfig } from '@slipway/platform-config';
import { Database, findPage, newestFirst, newId, sealSecret, type Tx } from '@slipway/platform-database';
import { Egress } from '@slipway/platform-egress';
import {
  errors,
  pageOf,
  reply,
  type PageOf,
  type PageRequest,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { reserveQuota } from '@slipway/platform-durable/quotas';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { DeliveryEntity } from './delivery/delivery.entity.js';
import { sealContext, SECRET_PREFIX } from './delivery/signature.js';
import type { CreateWebhookDto, DeletedWebhookDto, WebhookDeliveryDto, WebhookDto } from './webhook.dto.js';
import { WebhookEntity } from './webhook.entity.js';
import { webhookErrors } from './webhook.errors.js';
import { DELETE_WEBHOOK, INSERT_DELIVERY_QUEUES } from './webhook.query.js';

const SECRET_BYTES = 32;

const SHOWN_OF_A_DELIVERY = {
  event_id: true,
  event_type: true,
  status: true,
  attempts: true,
  response_status: true,
  error: true,
  next_attempt_at: true,
  last_attempt_at: true,
  created_at: true,
  completed_at: true,
} as const satisfies Record<keyof WebhookDeliveryDto, true>;

@Injectable()
export class WebhooksService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'> & QuotaConfig,
    private readonly database: Database,
    private readonly mutations: Mutations,
    private readonly egress: Egress,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  async create(who: Principal, body: CreateWebhookDto): Promise<Reply> {
    await this.assertUrl(who, body.url);
    const id = newId('whk');
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
    const created = await this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const webhooks = tx.repository(WebhookEntity);
      const streams = await this.streamsOf(tx, who.tenantId, body.deployments);
      const { tenantId } = who;
      const { webhooks: limit } = quotasOf(this.config, who.tenantName);
      await reserveQuota(tx, { tenantId, quota: 'webhooks', limit }, () => webhooks.countBy({ tenant_id: tenantId }));
      const row = webhooks.create({
        id,
        tenant_id: who.tenantId,
        url: body.url,
        description: body.description ?? null,
        event_types: body.event_types,
        deployments: body.deployments,
        streams,
        sealed_secret: sealSecret(this.config.keyRing, secret, sealContext(id)),
        disabled_reason: null,
        created_by: `${who.actor.type}:${who.actor.id}`,
        disabled_at: null,
      });
      await webhooks.insert(row);
      await tx.query(INSERT_DELIVERY_QUEUES, [id, who.tenantId]);
      const after = shown(row);
      await appendAudit(tx, { action: 'webhook.create', resourceType: 'webhook', resourceName: id, after });
      return after;
    });
    return reply(201, { ...created, secret });
  }

  async list({ tenantId }: Principal, page: PageRequest): Promise<PageOf<WebhookDto>> {
    const { rows, hasMore } = await this.database.tx({ tenantId }, (tx) =>
      findPage(tx, WebhookEntity, newestFirst(tenantId, page)),
    );
    return pageOf({ rows: rows.map(shown), hasMore }, (row) => [row.id]);
  }

  delete(who: Principal, id: string): Promise<DeletedWebhookDto> {
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const row = await tx.one<WebhookDto>(DELETE_WEBHOOK, [who.tenantId, id]);
      if (!row) throw webhookErrors.webhook_not_found();
      await appendAudit(tx, { action: 'webhook.delete', resourceType: 'webhook', resourceName: id, before: row });
      return { id, state: 'deleted' };
    });
  }

  async deliveries(
    { tenantId }: Principal,
    id: string,
    { limit, cursor }: PageRequest,
  ): Promise<PageOf<WebhookDeliveryDto>> {
    const found = await this.database.tx({ tenantId }, async (tx) => {
      const page = await findPage(tx, DeliveryEntity, {
        select: SHOWN_OF_A_DELIVERY,
        where: { tenant_id: tenantId, webhook_id: id, ...(cursor && { event_id: LessThan(String(cursor[0])) }) },
        order: { event_id: 'DESC' },
        key: 'event_id',
        limit,
      });
      const isKnown =
        page.rows.length > 0 || (await tx.repository(WebhookEntity).existsBy({ tenant_id: tenantId, id }));
      if (!isKnown) throw webhookErrors.webhook_not_found();
      return page;
    });
    return pageOf(found, (row) => [row.event_id]);
  }

  /** @throws validation_failed (422) */
  private async assertUrl({ tenantName }: Principal, url: string): Promise<void> {
    const check = await this.egress.checkNow(tenantName, url);
    if (check.ok) return;
    const message =
      check.code === 'url_not_allowed'
        ? 'url must be https, or a URL that the operator allows for webhooks'
        : `url ${check.message}`;
    throw errors.validation_failed({ message, details: [{ field: 'url', code: check.code, message }] });
  }

  /** A filter refers to the deployment that has the name now, not to one that gets it later. */
  private async streamsOf(tx: Tx, tenantId: string, names: readonly string[]): Promise<string[]> {
    const streams: string[] = [];
    for (const name of names) streams.push(deploymentStream((await this.deployments.get(tx, tenantId, name)).id));
    return streams;
  }
}

/** Returns the fields of a webhook that answers and audits show: nothing of its secret. */
function shown(webhook: WebhookEntity): WebhookDto {
  const { id, url, description, event_types, deployments, state, disabled_reason, created_by } = webhook;
  const { created_at, disabled_at } = webhook;
  return {
    id,
    url,
    description,
    event_types,
    deployments,
    state,
    disabled_reason,
    created_by,
    created_at,
    disabled_at,
  };
}
