import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, quotasOf, type Config, type QuotaConfig } from '@slipway/platform-config';
import { Database, findPage, newestFirst, newId, sealSecret, type Tx } from '@slipway/platform-database';
import { Egress } from '@slipway/platform-egress';
import {
  assertPreconditions,
  errors,
  pageOf,
  reply,
  type ExistenceCheck,
  type PageOf,
  type PageRequest,
  type Preconditions,
  type Principal,
  type Reply,
} from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { reserveQuota } from '@slipway/platform-durable/quotas';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { cancelPending, stopQueues } from './delivery/delivery-queues.js';
import { newSecret, sealContext } from './delivery/signature.js';
import { shown } from './webhook-answers.js';
import type {
  CreateWebhookDto,
  DeletedWebhookDto,
  UpdateWebhookDto,
  WebhookDto,
  WebhookFilterDto,
} from './webhook.dto.js';
import { WebhookEntity } from './webhook.entity.js';
import { webhookErrors } from './webhook.errors.js';
import { BEGIN_DELIVERY_QUEUES, LOCK_PENDING_QUEUES, LOCK_WEBHOOK, WAKE_WAITING_QUEUES } from './webhook.query.js';

/** The fields of a webhook that a patch changes. */
type Settings = Pick<WebhookEntity, 'url' | 'description' | 'event_types' | 'deployments' | 'state'>;

const NOW = () => 'now()';
const NEXT_VERSION = { version: () => 'version + 1' };

@Injectable()
export class WebhooksService implements ExistenceCheck {
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
    const secret = newSecret();
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
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
        created_by: `${who.actor.type}:${who.actor.id}`,
      });
      await webhooks.insert(row);
      await tx.query(BEGIN_DELIVERY_QUEUES, [id, tenantId]);
      const after = shown(await webhooks.findOneByOrFail({ tenant_id: tenantId, id }));
      await appendAudit(tx, { action: 'webhook.create', resourceType: 'webhook', resourceName: id, after });
      return reply(201, { ...after, secret }, { etag: after.etag });
    });
  }

  async list({ tenantId }: Principal, { state }: WebhookFilterDto, page: PageRequest): Promise<PageOf<WebhookDto>> {
    const { rows, hasMore } = await this.database.tx({ tenantId }, (tx) =>
      findPage(tx, WebhookEntity, newestFirst(tenantId, page, { ...(state && { state }) })),
    );
    return pageOf({ rows: rows.map(shown), hasMore }, (row) => [row.id]);
  }

  async get({ tenantId }: Principal, id: string): Promise<Reply> {
    const found = await this.database.tx({ tenantId }, (tx) => findWebhook(tx, tenantId, id));
    const answer = shown(found);
    return reply(200, answer, { etag: answer.etag });
  }

  async assertExists(tenantId: string, { id }: Record<string, string>): Promise<void> {
    await this.database.tx({ tenantId }, (tx) => findWebhook(tx, tenantId, String(id)));
  }

  /**
   * Locks (404), merges and checks (404, 422), compares the ETag (412) and writes. A patch that changes nothing writes
   * nothing. Pending deliveries are sent to the new URL, at once if they waited; they keep the filter that chose them.
   */
  async update(who: Principal, id: string, patch: UpdateWebhookDto, conditions: Preconditions): Promise<Reply> {
    const { tenantId } = who;
    if (patch.url !== undefined) {
      // The 404 of an unknown webhook takes precedence over a URL that is refused.
      await this.assertExists(tenantId, { id });
      if (patch.url === null) throw urlIsRequired();
      // A look-up of a name is no part of a transaction.
      await this.assertUrl(who, patch.url);
    }
    const answer = await this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const row = await lock(tx, tenantId, id);
      const current = shown(row);
      const before = settingsOf(row);
      const after = patched(before, patch);
      // The names may mean other deployments than when they were given.
      const streams =
        patch.deployments === undefined ? row.streams : await this.streamsOf(tx, tenantId, after.deployments);
      assertPreconditions(conditions, current.etag);
      if (isDeepStrictEqual([before, row.streams], [after, streams])) return current;
      await this.write(tx, row, after, streams);
      const found = shown(await findWebhook(tx, tenantId, id));
      await appendAudit(tx, {
        action: actionOf(before, after),
        resourceType: 'webhook',
        resourceName: id,
        before: current,
        after: found,
      });
      return found;
    });
    return reply(200, answer, { etag: answer.etag });
  }

  async delete(who: Principal, id: string, conditions: Preconditions): Promise<DeletedWebhookDto> {
    const { tenantId } = who;
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      // Locked, so that the audit shows the row as it was deleted: a sender may disable it in the meantime.
      const before = shown(await lock(tx, tenantId, id));
      assertPreconditions(conditions, before.etag);
      await tx.repository(WebhookEntity).delete({ tenant_id: tenantId, id });
      await appendAudit(tx, { action: 'webhook.delete', resourceType: 'webhook', resourceName: id, before });
      return { id, state: 'deleted' };
    });
  }

  /**
   * Requests carry the signatures of the new and of the current secret until the overlap ends. A secret before these
   * two ends now.
   */
  async rotateSecret(who: Principal, id: string, overlapSeconds: number): Promise<Reply> {
    const { tenantId } = who;
    const secret = newSecret();
    return this.mutations.run({ principal: who, locksAccess: true }, async (tx) => {
      const row = await lock(tx, tenantId, id);
      const sealed = sealSecret(this.config.keyRing, secret, sealContext(id));
      // By the clock of Postgres, which also decides what a sender signs with.
      const until = new Date((await tx.now()).getTime() + overlapSeconds * 1_000).toISOString();
      await tx
        .repository(WebhookEntity)
        .update(
          { tenant_id: tenantId, id },
          {
            sealed_secret: sealed,
            sealed_previous_secret: overlapSeconds > 0 ? row.sealed_secret : null,
            previous_secret_until: overlapSeconds > 0 ? until : null,
            ...NEXT_VERSION,
          },
        );
      const after = shown(await findWebhook(tx, tenantId, id));
      await appendAudit(tx, {
        action: 'webhook.rotate_secret',
        resourceType: 'webhook',
        resourceName: id,
        before: shown(row),
        after,
      });
      return reply(200, { ...after, secret }, { etag: after.etag });
    });
  }

  private async write(tx: Tx, row: WebhookEntity, after: Settings, streams: string[]): Promise<void> {
    const { tenant_id, id } = row;
    const isStopped = row.state === 'active' && after.state === 'disabled';
    const isStarted = row.state === 'disabled' && after.state === 'active';
    const isMoved = row.url !== after.url;
    await tx.repository(WebhookEntity).update(
      { tenant_id, id },
      {
        ...after,
        streams,
        ...(isStopped && { disabled_reason: 'requested', disabled_at: NOW }),
        ...(isStarted && { disabled_reason: null, disabled_at: null }),
        // Another receiver, or one that was repaired, has not requested a pause.
        ...((isMoved || isStarted) && { paused_until: null }),
        ...NEXT_VERSION,
      },
    );
    if (isStopped) {
      await stopQueues(tx, tenant_id, id);
      await cancelPending(tx, tenant_id, id);
    } else if (isStarted) {
      await tx.query(BEGIN_DELIVERY_QUEUES, [id, tenant_id]);
    } else if (isMoved && after.state === 'active') {
      await tx.query(LOCK_PENDING_QUEUES, [id]);
      await tx.query(WAKE_WAITING_QUEUES, [id, false]);
    }
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

/** @throws webhook_not_found (404) */
export async function findWebhook(tx: Tx, tenantId: string, id: string): Promise<WebhookEntity> {
  const found = await tx.repository(WebhookEntity).findOneBy({ tenant_id: tenantId, id });
  if (!found) throw webhookErrors.webhook_not_found();
  return found;
}

/** Locks a webhook before its queues and deliveries. */
export async function lock(tx: Tx, tenantId: string, id: string): Promise<WebhookEntity> {
  await tx.query(LOCK_WEBHOOK, [tenantId, id]);
  return findWebhook(tx, tenantId, id);
}

function settingsOf({ url, description, event_types, deployments, state }: WebhookEntity): Settings {
  return { url, description, event_types, deployments, state };
}

function patched(before: Settings, { url, description, event_types, deployments, state }: UpdateWebhookDto): Settings {
  return {
    url: url ?? before.url,
    description: description === undefined ? before.description : description,
    event_types: event_types === undefined ? before.event_types : (event_types ?? []),
    deployments: deployments === undefined ? before.deployments : (deployments ?? []),
    state: state === undefined ? before.state : (state ?? 'active'),
  };
}

/** The audit stores only digests, so its action shows that the state changed. */
function actionOf(before: Settings, after: Settings): string {
  if (before.state === after.state) return 'webhook.update';
  return after.state === 'active' ? 'webhook.enable' : 'webhook.disable';
}

function urlIsRequired(): Error {
  const message = 'url cannot be removed';
  return errors.validation_failed({ message, details: [{ field: 'url', code: 'required', message }] });
}
