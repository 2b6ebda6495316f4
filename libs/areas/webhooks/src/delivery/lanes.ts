import { Inject, Injectable, Optional } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { appendAudit } from '@slipway/platform-mutations';
import type { DeliveryError } from './delivery-request.js';
import { DELIVERY_TIMING, PRODUCT_TIMING, retryDelayMs, type DeliveryTiming } from './delivery-timing.js';
import {
  CANCEL_DELIVERIES,
  CLAIM_LANE,
  CLOSE_LANES,
  DISABLE_WEBHOOK,
  END_DELIVERY,
  FAIL_GONE,
  LOCK_LANE,
  PENDING,
  PUT_OFF,
  RELEASE_LANE,
  type LaneRow,
  type PendingRow,
} from './lane.query.js';

/** How an attempt ended, without an acceptance. */
export interface Refusal {
  status: number | null;
  error: DeliveryError;
}

const SENDER = { type: 'system', id: 'webhooks' };

/** The lanes in Postgres. Methods that write answer whether the lease still held; without it nothing was written. */
@Injectable()
export class Lanes {
  readonly timing: DeliveryTiming;

  constructor(
    private readonly database: Database,
    @Optional() @Inject(DELIVERY_TIMING) timing?: DeliveryTiming,
  ) {
    this.timing = timing ?? PRODUCT_TIMING;
  }

  async claim(exceptWebhooks: readonly string[]): Promise<LaneRow | undefined> {
    const [lane] = await this.database.read<LaneRow>('system', CLAIM_LANE, [this.timing.leaseMs, exceptWebhooks]);
    return lane;
  }

  pending(lane: LaneRow): Promise<PendingRow[]> {
    return this.database.read<PendingRow>('system', PENDING, [lane.webhook_id, lane.stream]);
  }

  async succeeded(lane: LaneRow, delivery: PendingRow, status: number): Promise<boolean> {
    return this.ended(lane, delivery, 'succeeded', 1, status, null);
  }

  /** The event is no longer kept, so there is nothing to send. */
  async expired(lane: LaneRow, delivery: PendingRow): Promise<boolean> {
    return this.ended(lane, delivery, 'failed', 0, null, 'event_expired');
  }

  /** Puts the delivery off, or ends it after its last attempt. @returns whether the sender may go on with the next one */
  async refused(lane: LaneRow, delivery: PendingRow, { status, error }: Refusal): Promise<boolean> {
    const delayMs = retryDelayMs(this.timing, delivery.attempts + 1);
    if (delayMs === undefined) return this.ended(lane, delivery, 'failed', 1, status, error);
    await this.database.read('system', PUT_OFF, [
      lane.webhook_id,
      lane.stream,
      lane.lease_version,
      delayMs,
      delivery.event_id,
      status,
      error,
    ]);
    return false;
  }

  /** The receiver answered 410: nothing is sent to it any more, by anybody. */
  async gone(lane: LaneRow, delivery: PendingRow): Promise<void> {
    await this.database.tx({ tenantId: lane.tenant_id }, async (tx) => {
      const webhook = await tx.one(DISABLE_WEBHOOK, [lane.webhook_id]);
      if (!webhook) return;
      await tx.query(CLOSE_LANES, [lane.webhook_id]);
      await tx.query(FAIL_GONE, [lane.webhook_id, delivery.event_id]);
      await tx.query(CANCEL_DELIVERIES, [lane.webhook_id]);
      await appendAudit(tx, {
        action: 'webhook.disable',
        resourceType: 'webhook',
        resourceName: lane.webhook_id,
        after: webhook,
        actor: SENDER,
      });
    });
  }

  async release(lane: LaneRow): Promise<void> {
    await this.database.tx('system', async (tx) => {
      const held = await tx.one(LOCK_LANE, [lane.webhook_id, lane.stream, lane.lease_version]);
      if (held) await tx.query(RELEASE_LANE, [lane.webhook_id, lane.stream]);
    });
  }

  private async ended(
    lane: LaneRow,
    delivery: PendingRow,
    status: string,
    attempts: number,
    response: number | null,
    error: DeliveryError | null,
  ): Promise<boolean> {
    const values = [
      lane.webhook_id,
      lane.stream,
      lane.lease_version,
      this.timing.leaseMs,
      delivery.event_id,
      status,
      attempts,
      response,
      error,
    ];
    const rows = await this.database.read('system', END_DELIVERY, values);
    return rows.length > 0;
  }
}
