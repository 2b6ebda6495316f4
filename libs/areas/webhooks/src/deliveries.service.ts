import { Inject, Injectable } from '@nestjs/common';
import { In, IsNull, LessThan, LessThanOrEqual, MoreThan, Not } from 'typeorm';
import { actorText, EVENT_TYPES, namesOf } from '@slipway/contracts';
import { CONFIG, quotasOf, type QuotaConfig } from '@slipway/platform-config';
import { Database, findPage, newId, timesBetween, type Tx } from '@slipway/platform-database';
import { pageOf, reply, type PageOf, type PageRequest, type Principal, type Reply } from '@slipway/platform-http';
import { appendAudit, Mutations } from '@slipway/platform-durable/mutations';
import { reserveQuota } from '@slipway/platform-durable/quotas';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { DeliveryEntity, DeliveryQueueEntity } from './delivery/delivery.entity.js';
import { firstOf, isLater, NEXT_LEASE } from './delivery/delivery-queues.js';
import { ADD_DELIVERY_QUEUES, COUNT_PENDING_DELIVERIES, LOCK_DELIVERY_QUEUES } from './delivery/fan-out.query.js';
import { SHOWN_OF_A_DELIVERY, type ShownDelivery } from './webhook-answers.js';
import type { DeliveryFilterDto, SendWebhookEventDto, WebhookDeliveryDto } from './webhook.dto.js';
import { WebhookEntity } from './webhook.entity.js';
import { webhookErrors } from './webhook.errors.js';
import { FIND_EVENT, LOCK_PENDING_QUEUES, WAKE_WAITING_QUEUES } from './webhook.query.js';
import { findWebhook, lock } from './webhooks.service.js';

const TEST_TYPE = 'webhook.test';
/** Ended tests that the log keeps of a webhook. */
const TESTS_KEPT = 50;
const NOW = () => 'now()';
/** A delivery as it was before its first attempt. */
const FRESH = {
  status: 'pending',
  attempts: 0,
  response_status: null,
  error: null,
  duration_ms: null,
  last_attempt_at: null,
  completed_at: null,
  next_attempt_at: NOW,
};

/**
 * The log of a webhook, and requests about single deliveries. Each request is one transaction that leaves the queue
 * due; a worker finds it within a second, without a message. Locks: webhook, queue, delivery.
 */
@Injectable()
export class DeliveriesService {
  constructor(
    @Inject(CONFIG) private readonly config: QuotaConfig,
    private readonly database: Database,
    private readonly mutations: Mutations,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
  ) {}

  async list(
    { tenantId }: Principal,
    id: string,
    { status, event_type: type }: DeliveryFilterDto,
    { limit, cursor, order = 'desc', since, until }: PageRequest,
  ): Promise<PageOf<WebhookDeliveryDto>> {
    const past = order === 'asc' ? MoreThan : LessThan;
    const found = await this.database.tx({ tenantId }, async (tx) => {
      const page = await findPage(tx, DeliveryEntity, {
        select: SHOWN_OF_A_DELIVERY,
        where: {
          tenant_id: tenantId,
          webhook_id: id,
          ...(status && { status }),
          ...(type && { event_type: In(namesOf(type, Object.keys(EVENT_TYPES))) }),
          ...timesBetween('created_at', since, until),
          ...(cursor && { event_id: past(String(cursor[0])) }),
        },
        order: { event_id: order === 'asc' ? 'ASC' : 'DESC' },
        key: 'event_id',
        limit,
      });
      if (page.rows.length === 0) await findWebhook(tx, tenantId, id);
      return page;
    });
    return pageOf(found, (row) => [row.event_id]);
  }

  async get({ tenantId }: Principal, id: string, eventId: string): Promise<WebhookDeliveryDto> {
    return this.database.tx({ tenantId }, (tx) => find(tx, tenantId, id, eventId));
  }

  /** Posts an event of its own to this webhook alone, once, also while the receiver has requested a pause. */
  test(who: Principal, id: string): Promise<Reply> {
    const { tenantId, actor } = who;
    return this.mutations.run({ principal: who }, async (tx) => {
      const { state } = await lock(tx, tenantId, id);
      if (state !== 'active') throw webhookErrors.webhook_disabled();
      await this.reserve(tx, who);
      const stream = `webhook/${id}`;
      const queue = { tenant_id: tenantId, webhook_id: id, stream };
      await tx.query(ADD_DELIVERY_QUEUES, [stream, [id]]);
      await tx.query(LOCK_DELIVERY_QUEUES, [stream, [id]]);
      const queues = tx.repository(DeliveryQueueEntity);
      const sequence = (await queues.findOneByOrFail(queue)).sequence + 1;
      await queues.update(queue, { sequence });
      const time = (await tx.now()).toISOString();
      const eventId = newId('evt');
      const event = {
        specversion: '1.0',
        id: eventId,
        source: '/api/v1/webhooks',
        type: TEST_TYPE,
        subject: `webhooks/${id}`,
        time,
        datacontenttype: 'application/json',
        sequence,
        actor: actorText(actor),
        operationid: null,
        revisionid: null,
        data: { webhook_id: id, message: 'A test of this webhook. Nothing has changed.' },
      };
      const deliveries = tx.repository(DeliveryEntity);
      const body = JSON.stringify(event);
      await deliveries.insert({ ...queue, event_id: eventId, sequence, event_type: TEST_TYPE, body });
      await deliveries.delete({
        ...queue,
        sequence: LessThanOrEqual(sequence - TESTS_KEPT),
        completed_at: Not(IsNull()),
      });
      await wakeQueue(tx, queue, false);
      const delivery = await find(tx, tenantId, id, eventId);
      await audit(tx, 'webhook.test', id, { after: delivery });
      return reply(201, delivery);
    });
  }

  /**
   * Starts a delivery again with its first attempt, or ends the wait of a pending one. It also ends a pause that the
   * receiver has requested. A pending one that is due stays as it is: it is sent anyway.
   */
  redeliver(who: Principal, id: string, eventId: string): Promise<Reply> {
    const { tenantId } = who;
    return this.mutations.run({ principal: who }, async (tx) => {
      const webhook = await lock(tx, tenantId, id);
      return reply(200, await this.restart(tx, who, webhook, eventId));
    });
  }

  /**
   * Sends an event that has become no delivery of this webhook: it was before the webhook, while it was disabled, or
   * outside of its filter. If there is a delivery, it starts again.
   */
  sendEvent(who: Principal, id: string, { deployment, sequence }: SendWebhookEventDto): Promise<Reply> {
    const { tenantId } = who;
    return this.mutations.run({ principal: who }, async (tx) => {
      const webhook = await lock(tx, tenantId, id);
      const stream = deploymentStream((await this.deployments.get(tx, tenantId, deployment)).id);
      const event = await tx.one<{ id: string; type: string }>(FIND_EVENT, [tenantId, stream, sequence]);
      if (!event) throw webhookErrors.webhook_event_not_found();
      if (webhook.state !== 'active') throw webhookErrors.webhook_disabled();
      await endPause(tx, webhook);
      await tx.query(ADD_DELIVERY_QUEUES, [stream, [id]]);
      await tx.query(LOCK_DELIVERY_QUEUES, [stream, [id]]);
      const queue = { tenant_id: tenantId, webhook_id: id, stream };
      const deliveries = tx.repository(DeliveryEntity);
      // No fan-out adds it now, because each one locks the webhook.
      if (await deliveries.existsBy({ ...queue, event_id: event.id }))
        return reply(200, await this.restart(tx, who, webhook, event.id));
      await this.reserve(tx, who);
      const { isWaiting } = await firstOf(tx, queue);
      await deliveries.insert({ ...queue, event_id: event.id, sequence, event_type: event.type });
      await wakeQueue(tx, queue, isWaiting);
      const after = await find(tx, tenantId, id, event.id);
      await audit(tx, 'webhook.redeliver', id, { after });
      return reply(201, after);
    });
  }

  /** Gives up a pending delivery, so that the later ones of its stream follow at once. */
  skip(who: Principal, id: string, eventId: string): Promise<Reply> {
    const { tenantId } = who;
    return this.mutations.run({ principal: who }, async (tx) => {
      const { stream, sequence, status } = await lockDelivery(tx, tenantId, id, eventId);
      const before = await find(tx, tenantId, id, eventId);
      if (status === 'skipped') return reply(200, before);
      if (status !== 'pending') throw webhookErrors.webhook_delivery_ended();
      const queue = { tenant_id: tenantId, webhook_id: id, stream };
      const skipped = { status: 'skipped', next_attempt_at: null, completed_at: NOW };
      await tx.repository(DeliveryEntity).update({ ...queue, event_id: eventId }, skipped);
      const next = await firstOf(tx, queue);
      // If it was the first, the queue continues with the next one, and the fence ends a sender that has it under way.
      const wasFirst = next.sequence === undefined || next.sequence > sequence;
      const changes = () => 'changes + 1';
      await tx
        .repository(DeliveryQueueEntity)
        .update(queue, { changes, ...(wasFirst && { due_at: next.dueAt, ...NEXT_LEASE }) });
      const after = await find(tx, tenantId, id, eventId);
      await audit(tx, 'webhook.skip', id, { before, after });
      return reply(200, after);
    });
  }

  /** @param webhook locked */
  private async restart(tx: Tx, who: Principal, webhook: WebhookEntity, eventId: string): Promise<ShownDelivery> {
    const { tenant_id: tenantId, id } = webhook;
    const before = await find(tx, tenantId, id, eventId);
    if (webhook.state !== 'active') throw webhookErrors.webhook_disabled();
    // It locks all queues in order, so it is before the lock of one.
    await endPause(tx, webhook);
    const { stream, sequence, status, next_attempt_at: next, body } = await lockDelivery(tx, tenantId, id, eventId);
    if (status === 'pending' && !isLater(next, await tx.now())) return find(tx, tenantId, id, eventId);
    if (body === null && !(await tx.one(FIND_EVENT, [tenantId, stream, sequence])))
      throw webhookErrors.webhook_event_expired();
    if (status !== 'pending') await this.reserve(tx, who);
    const queue = { tenant_id: tenantId, webhook_id: id, stream };
    const { isWaiting } = await firstOf(tx, queue);
    await tx.repository(DeliveryEntity).update({ ...queue, event_id: eventId }, FRESH);
    await wakeQueue(tx, queue, isWaiting);
    const after = await find(tx, tenantId, id, eventId);
    await audit(tx, 'webhook.redeliver', id, { before, after });
    return after;
  }

  /** @throws quota_exceeded (429) if there may not be one more */
  private async reserve(tx: Tx, { tenantId, tenantName }: Principal): Promise<void> {
    const { webhook_deliveries: limit } = quotasOf(this.config, tenantName);
    const count = async () => {
      const pending = await tx.one<{ count: number }>(COUNT_PENDING_DELIVERIES, [tenantId, limit + 1]);
      return pending?.count ?? 0;
    };
    await reserveQuota(tx, { tenantId, quota: 'webhook_deliveries', limit }, count, 1);
  }
}

async function find(tx: Tx, tenantId: string, webhookId: string, eventId: string): Promise<ShownDelivery> {
  const found = await tx
    .repository(DeliveryEntity)
    .findOne({ select: SHOWN_OF_A_DELIVERY, where: { tenant_id: tenantId, webhook_id: webhookId, event_id: eventId } });
  if (found) return found;
  await findWebhook(tx, tenantId, webhookId);
  throw webhookErrors.webhook_delivery_not_found();
}

/**
 * A request to send is one of a person who knows more than the receiver has said: everything that waits for the end of
 * the pause is due.
 */
async function endPause(tx: Tx, { tenant_id, id, paused_until: pausedUntil }: WebhookEntity): Promise<void> {
  if (pausedUntil === null) return;
  await tx.query(LOCK_PENDING_QUEUES, [id]);
  await tx.query(WAKE_WAITING_QUEUES, [id, true]);
  await tx.repository(WebhookEntity).update({ tenant_id, id }, { paused_until: null });
}

/** Locks the queue of a delivery, so that no sender ends the delivery in the meantime. */
async function lockDelivery(tx: Tx, tenantId: string, webhookId: string, eventId: string): Promise<DeliveryEntity> {
  const own = { tenant_id: tenantId, webhook_id: webhookId, event_id: eventId };
  const read = () => tx.repository(DeliveryEntity).findOneBy(own);
  const unlocked = await read();
  if (unlocked) await tx.query(LOCK_DELIVERY_QUEUES, [unlocked.stream, [webhookId]]);
  const found = unlocked && (await read());
  if (found) return found;
  await findWebhook(tx, tenantId, webhookId);
  throw webhookErrors.webhook_delivery_not_found();
}

/**
 * Makes a queue due that is idle or waits. Any other is due already or has a sender, which gives it back for the oldest
 * pending delivery.
 * @param isWaiting whether its first delivery waited before this transaction
 */
async function wakeQueue(
  tx: Tx,
  queue: Pick<DeliveryQueueEntity, 'tenant_id' | 'webhook_id' | 'stream'>,
  isWaiting: boolean,
): Promise<void> {
  const due = isWaiting ? queue : { ...queue, due_at: IsNull() };
  await tx.repository(DeliveryQueueEntity).update(due, { due_at: NOW, ...NEXT_LEASE });
}

async function audit(
  tx: Tx,
  action: string,
  resourceName: string,
  change: { before?: object; after: object },
): Promise<void> {
  await appendAudit(tx, { action, resourceType: 'webhook', resourceName, ...change });
}
