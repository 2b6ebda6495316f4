import { Inject, Injectable, Optional } from '@nestjs/common';
import { IsNull, Not } from 'typeorm';
import { Database } from '@slipway/platform-database';
import { appendAudit } from '@slipway/platform-durable/mutations';
import { WebhookEntity } from '../webhook.entity.js';
import { DeliveryEntity, DeliveryQueueEntity } from './delivery.entity.js';
import type { DeliveryError } from './delivery-request.js';
import { DELIVERY_TIMING, PRODUCT_TIMING, retryDelayMs, type DeliveryTiming } from './delivery-timing.js';
import {
  CLAIM_DELIVERY_QUEUE,
  END_WEBHOOK_DELIVERY,
  POSTPONE_WEBHOOK_DELIVERY,
  type DeliveryQueueRow,
} from './delivery-queue.query.js';
import type { ClaimExclusions } from './sender-shares.js';

/** The fields of a delivery that a sender needs. */
export type PendingDelivery = Pick<DeliveryEntity, 'event_id' | 'sequence' | 'attempts'>;

/** The result of an attempt that was not accepted. */
export interface DeliveryRefusal {
  status: number | null;
  error: DeliveryError;
}

const SENDER = { type: 'system', id: 'webhooks' };
/** Then the queue goes to the end of the line, so that others get their share. */
const MAX_DELIVERIES_PER_RUN = 20;
const NOW = () => 'now()';

/**
 * The delivery queues in Postgres, rows of `webhook_lanes`: the events of one stream for one webhook. Methods that
 * write return whether the lease was still valid; without a valid lease they write nothing.
 */
@Injectable()
export class DeliveryQueues {
  readonly timing: DeliveryTiming;

  constructor(
    private readonly database: Database,
    @Optional() @Inject(DELIVERY_TIMING) timing?: DeliveryTiming,
  ) {
    this.timing = timing ?? PRODUCT_TIMING;
  }

  async claim({ tenants = [], webhooks = [], receivers = [] }: ClaimExclusions = {}): Promise<
    DeliveryQueueRow | undefined
  > {
    const values = [this.timing.leaseMs, tenants, webhooks, receivers];
    const [queue] = await this.database.read<DeliveryQueueRow>('system', CLAIM_DELIVERY_QUEUE, values);
    return queue;
  }

  /** Returns the deliveries that one run may send, oldest first. */
  pending({ tenant_id, webhook_id, stream }: DeliveryQueueRow): Promise<PendingDelivery[]> {
    return this.database.tx('system', (tx) =>
      tx
        .repository(DeliveryEntity)
        .find({
          select: { event_id: true, sequence: true, attempts: true },
          where: { tenant_id, webhook_id, stream, status: 'pending' },
          order: { sequence: 'ASC' },
          take: MAX_DELIVERIES_PER_RUN,
        }),
    );
  }

  async succeeded(queue: DeliveryQueueRow, delivery: PendingDelivery, status: number): Promise<boolean> {
    return this.ended(queue, delivery, 'succeeded', 1, status, null);
  }

  /** The event is no longer kept, so there is nothing to send. */
  async expired(queue: DeliveryQueueRow, delivery: PendingDelivery): Promise<boolean> {
    return this.ended(queue, delivery, 'failed', 0, null, 'event_expired');
  }

  /**
   * Postpones the delivery, or ends it after its last attempt. @returns whether the sender may continue with the next
   * one
   */
  async refused(
    queue: DeliveryQueueRow,
    delivery: PendingDelivery,
    { status, error }: DeliveryRefusal,
  ): Promise<boolean> {
    const delayMs = retryDelayMs(this.timing, delivery.attempts + 1);
    if (delayMs === undefined) return this.ended(queue, delivery, 'failed', 1, status, error);
    await this.database.read('system', POSTPONE_WEBHOOK_DELIVERY, [
      queue.webhook_id,
      queue.stream,
      queue.lease_version,
      delayMs,
      delivery.event_id,
      status,
      error,
    ]);
    return false;
  }

  /**
   * The receiver answered 410: no process sends to it any more. This disables the webhook first, then its queues, which
   * fences every sender, then its deliveries.
   */
  async gone({ tenant_id, webhook_id, url }: DeliveryQueueRow, { event_id }: PendingDelivery): Promise<void> {
    await this.database.tx({ tenantId: tenant_id }, async (tx) => {
      const disabled = await tx
        .repository(WebhookEntity)
        .update(
          { tenant_id, id: webhook_id, state: 'active' },
          { state: 'disabled', disabled_reason: 'gone', disabled_at: NOW },
        );
      if (!disabled.affected) return;
      await tx
        .repository(DeliveryQueueEntity)
        .update(
          { tenant_id, webhook_id, due_at: Not(IsNull()) },
          { due_at: null, lease_version: () => 'lease_version + 1' },
        );
      const deliveries = tx.repository(DeliveryEntity);
      await deliveries.update(
        { tenant_id, webhook_id, event_id, status: 'pending' },
        {
          status: 'failed',
          attempts: () => 'attempts + 1',
          response_status: 410,
          error: 'http_status',
          next_attempt_at: null,
          last_attempt_at: NOW,
          completed_at: NOW,
        },
      );
      await deliveries.update(
        { tenant_id, webhook_id, status: 'pending' },
        { status: 'cancelled', next_attempt_at: null, completed_at: NOW },
      );
      await appendAudit(tx, {
        action: 'webhook.disable',
        resourceType: 'webhook',
        resourceName: webhook_id,
        after: { id: webhook_id, url },
        actor: SENDER,
      });
    });
  }

  async release({ tenant_id, webhook_id, stream, lease_version }: DeliveryQueueRow): Promise<void> {
    await this.database.tx('system', async (tx) => {
      const queues = tx.repository(DeliveryQueueEntity);
      const lease = { tenant_id, webhook_id, stream, lease_version };
      // This also locks the queue, so that the check for pending deliveries sees everything that a fan-out has added.
      await queues.update(lease, { due_at: NOW });
      const pending = { tenant_id, webhook_id, stream, status: 'pending' };
      if (!(await tx.repository(DeliveryEntity).existsBy(pending))) await queues.update(lease, { due_at: null });
    });
  }

  private async ended(
    queue: DeliveryQueueRow,
    delivery: PendingDelivery,
    status: string,
    attempts: number,
    response: number | null,
    error: DeliveryError | null,
  ): Promise<boolean> {
    const values = [
      queue.webhook_id,
      queue.stream,
      queue.lease_version,
      this.timing.leaseMs,
      delivery.event_id,
      status,
      attempts,
      response,
      error,
    ];
    const rows = await this.database.read('system', END_WEBHOOK_DELIVERY, values);
    return rows.length > 0;
  }
}
