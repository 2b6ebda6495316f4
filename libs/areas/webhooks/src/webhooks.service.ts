import { randomBytes } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, newId, sealSecret, type Tx } from '@slipway/platform-database';
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
import { appendAudit } from '@slipway/platform-mutations';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { sealContext, SECRET_PREFIX } from './delivery/signature.js';
import type { CreateWebhookDto, DeletedWebhookDto } from './webhook.dto.js';
import { webhookErrors } from './webhook.errors.js';
import {
  COUNT_WEBHOOKS,
  DELETE_WEBHOOK,
  INSERT_LANES,
  INSERT_WEBHOOK,
  LIST_DELIVERIES,
  LIST_WEBHOOKS,
  WEBHOOK_EXISTS,
  type DeliveryRow,
  type WebhookRow,
} from './webhook.query.js';

/** Each event is sent once per webhook, so this bounds what one tenant's event costs. */
const MOST_PER_TENANT = 20;
const SECRET_BYTES = 32;

@Injectable()
export class WebhooksService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'secretKey'>,
    private readonly database: Database,
    private readonly egress: Egress,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  async create(who: Principal, body: CreateWebhookDto): Promise<Reply> {
    this.assertUrl(body.url);
    const id = newId('whk');
    const secret = SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
    const row = await this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const found = await tx.one<{ count: number }>(COUNT_WEBHOOKS, [who.tenantId, MOST_PER_TENANT]);
      if ((found?.count ?? 0) >= MOST_PER_TENANT) throw webhookErrors.quota_exceeded();
      const streams = await this.streamsOf(tx, who.tenantId, body.deployments);
      const sealed = sealSecret(this.config.secretKey, secret, sealContext(id));
      const actor = `${who.actor.type}:${who.actor.id}`;
      const inserted = await tx.one<WebhookRow>(INSERT_WEBHOOK, [
        id,
        who.tenantId,
        body.url,
        body.description ?? null,
        body.event_types,
        body.deployments,
        streams,
        sealed,
        actor,
      ]);
      await tx.query(INSERT_LANES, [id, who.tenantId]);
      await appendAudit(tx, { action: 'webhook.create', resourceType: 'webhook', resourceName: id, after: inserted });
      return inserted;
    });
    return reply(201, { ...row, secret });
  }

  async list(who: Principal, { limit, cursor }: PageRequest): Promise<PageOf<WebhookRow>> {
    const rows = await this.database.read<WebhookRow>({ tenantId: who.tenantId }, LIST_WEBHOOKS, [
      who.tenantId,
      cursor?.[0] ?? null,
      limit + 1,
    ]);
    return pageOf(rows, limit, (row) => [row.id]);
  }

  delete(who: Principal, id: string): Promise<DeletedWebhookDto> {
    return this.database.tx({ tenantId: who.tenantId }, async (tx) => {
      const row = await tx.one<WebhookRow>(DELETE_WEBHOOK, [who.tenantId, id]);
      if (!row) throw webhookErrors.webhook_not_found();
      await appendAudit(tx, { action: 'webhook.delete', resourceType: 'webhook', resourceName: id, before: row });
      return { id, state: 'deleted' };
    });
  }

  async deliveries(who: Principal, id: string, { limit, cursor }: PageRequest): Promise<PageOf<DeliveryRow>> {
    const scope = { tenantId: who.tenantId };
    const rows = await this.database.read<DeliveryRow>(scope, LIST_DELIVERIES, [
      who.tenantId,
      id,
      cursor?.[0] ?? null,
      limit + 1,
    ]);
    const exists = rows.length > 0 || (await this.database.read(scope, WEBHOOK_EXISTS, [who.tenantId, id])).length > 0;
    if (!exists) throw webhookErrors.webhook_not_found();
    return pageOf(rows, limit, (row) => [row.event_id]);
  }

  /** @throws validation_failed (422) */
  private assertUrl(url: string): void {
    const verdict = this.egress.check(url);
    if (verdict.ok) return;
    const message =
      verdict.code === 'url_not_allowed'
        ? 'url must be https, or what an endpoint target of the operator allows'
        : `url ${verdict.message}`;
    throw errors.validation_failed({ message, details: [{ field: 'url', code: verdict.code, message }] });
  }

  /** A filter means the deployment that has the name now, not one that may get it later. */
  private async streamsOf(tx: Tx, tenantId: string, names: readonly string[]): Promise<string[]> {
    const streams: string[] = [];
    for (const name of names) streams.push(deploymentStream((await this.deployments.get(tx, tenantId, name)).id));
    return streams;
  }
}
