import { Inject, Injectable, Optional } from '@nestjs/common';
import { IsNull, LessThan, Not, Or } from 'typeorm';
import { Database, type Tx } from '@slipway/platform-database';
import { appendAudit } from '@slipway/platform-durable/mutations';
import { WebhookEntity } from '../webhook.entity.js';
import { DeliveryEntity, DeliveryQueueEntity } from './delivery.entity.js';
import type { DeliveryError, DeliveryOutcome, DeliveryRefusal } from './delivery-request.js';
import {
  DELIVERY_TIMING,
  MAX_RETRY_AFTER_MS,
  PRODUCT_TIMING,
  retryDelayMs,
  type DeliveryTiming,
} from './delivery-timing.js';
import {
  CLAIM_DELIVERY_QUEUE,
  END_WEBHOOK_DELIVERY,
  POSTPONE_WEBHOOK_DELIVERY,
  type DeliveryQueueRow,
} from './delivery-queue.query.js';
import { LOCK_DELIVERY_QUEUES } from './fan-out.query.js';
import type { ClaimExclusions } from './sender-shares.js';

/** A delivery as a sender needs it. */
export interface PendingDelivery {
  event_id: string;
  sequence: number;
  attempts: number;
  /** The CloudEvent, if it is in no stream. */
  body: string | null;
  /** Whether it may be sent now, as far as it alone is concerned. */
  is_due: boolean;
}

type AcceptedAnswer = Pick<Extract<DeliveryOutcome, { kind: 'accepted' }>, 'status' | 'error' | 'durationMs'>;
type RefusedAnswer = Omit<DeliveryRefusal, 'kind'>;

/** The end of a delivery, for its log. */
interface DeliveryEnd {
  status: 'succeeded' | 'failed';
  /** How many attempts it adds. */
  attempts: 0 | 1;
  response: number | null;
  error: DeliveryError | null;
  durationMs: number | null;
}

/** A receiver means all requests with these, and not only the event that it refused. */
const REFUSES_ALL = new Set<number | null>([429, 503]);
const SENDER = { type: 'system', id: 'webhooks' };
/** Then the queue goes to the end of the line, so that others get their share. */
const MAX_DELIVERIES_PER_RUN = 20;
const NOW = () => 'now()';
/** Fences the sender that has the queue. */
export const NEXT_LEASE = { lease_version: () => 'lease_version + 1' };

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

  /**
   * Returns the deliveries that one run may send, oldest first. One that is sent again may be before one that still
   * waits for its next attempt.
   */
  pending({ tenant_id, webhook_id, stream }: DeliveryQueueRow): Promise<PendingDelivery[]> {
    return this.database.tx('system', async (tx) => {
      const rows = await tx
        .repository(DeliveryEntity)
        .find({
          select: { event_id: true, sequence: true, attempts: true, body: true, next_attempt_at: true },
          where: { tenant_id, webhook_id, stream, status: 'pending' },
          order: { sequence: 'ASC' },
          take: MAX_DELIVERIES_PER_RUN,
        });
      const now = await tx.now();
      return rows.map(({ next_attempt_at: next, ...row }) => ({ ...row, is_due: !isLater(next, now, TOLERANCE_MS) }));
    });
  }

  async succeeded(queue: DeliveryQueueRow, delivery: PendingDelivery, answer: AcceptedAnswer): Promise<boolean> {
    const { status: response, error, durationMs } = answer;
    return this.ended(queue, delivery, { status: 'succeeded', attempts: 1, response, error, durationMs });
  }

  /** The event is no longer kept, so there is nothing to send. */
  async expired(queue: DeliveryQueueRow, delivery: PendingDelivery): Promise<boolean> {
    const none = { response: null, durationMs: null };
    return this.ended(queue, delivery, { status: 'failed', attempts: 0, error: 'event_expired', ...none });
  }

  /**
   * Postpones the delivery, or ends it after its last attempt. A test has only one. @returns whether the sender may
   * continue with the next one
   */
  async refused(queue: DeliveryQueueRow, delivery: PendingDelivery, refusal: RefusedAnswer): Promise<boolean> {
    const { status, error, durationMs, retryAfterMs = 0 } = refusal;
    const isTest = delivery.body !== null;
    const delayMs = isTest ? undefined : retryDelayMs(this.timing, delivery.attempts + 1, retryAfterMs);
    const isPaused = !isTest && REFUSES_ALL.has(status) && retryAfterMs > 0;
    if (isPaused) await this.pause(queue, retryAfterMs);
    if (delayMs === undefined) {
      const end = { status: 'failed', attempts: 1, response: status, error, durationMs } as const;
      const mayContinue = await this.ended(queue, delivery, end);
      if (mayContinue && isPaused) await this.release(queue);
      return mayContinue && !isPaused;
    }
    await this.database.read('system', POSTPONE_WEBHOOK_DELIVERY, [
      queue.webhook_id,
      queue.stream,
      queue.lease_version,
      delayMs,
      delivery.event_id,
      status,
      error,
      durationMs,
      queue.version,
    ]);
    return false;
  }

  /** Gives the queue back until the time that its receiver has requested, which its first delivery then shows. */
  async waitForReceiver(queue: DeliveryQueueRow, { event_id }: PendingDelivery): Promise<void> {
    const { tenant_id, webhook_id, stream, lease_version } = queue;
    await this.database.tx('system', async (tx) => {
      const webhook = await tx.repository(WebhookEntity).findOneBy({ tenant_id, id: webhook_id });
      const until = webhook?.paused_until ?? null;
      const lease = { tenant_id, webhook_id, stream, lease_version };
      const due = { due_at: until === null ? NOW : new Date(until) };
      const { affected } = await tx.repository(DeliveryQueueEntity).update(lease, due);
      if (!affected || until === null) return;
      const first = { tenant_id, webhook_id, event_id, status: 'pending' };
      await tx.repository(DeliveryEntity).update(first, { next_attempt_at: until });
    });
  }

  /**
   * The receiver answered 410: no process sends to it any more. This disables the webhook first, then its queues, which
   * fences every sender, then its deliveries.
   */
  async gone(queue: DeliveryQueueRow, { event_id }: PendingDelivery, durationMs: number): Promise<void> {
    const { tenant_id, webhook_id, url } = queue;
    const isDisabled = await this.database.tx({ tenantId: tenant_id }, async (tx) => {
      const disabled = await tx.repository(WebhookEntity).update(
        // If it has changed, another receiver may answer now.
        { tenant_id, id: webhook_id, state: 'active', version: queue.version },
        { state: 'disabled', disabled_reason: 'gone', disabled_at: NOW, version: () => 'version + 1' },
      );
      if (!disabled.affected) return false;
      await stopQueues(tx, tenant_id, webhook_id);
      const deliveries = tx.repository(DeliveryEntity);
      await deliveries.update(
        { tenant_id, webhook_id, event_id, status: 'pending' },
        {
          status: 'failed',
          attempts: () => 'attempts + 1',
          response_status: 410,
          error: 'http_status',
          duration_ms: durationMs,
          next_attempt_at: null,
          last_attempt_at: NOW,
          completed_at: NOW,
        },
      );
      await cancelPending(tx, tenant_id, webhook_id);
      await appendAudit(tx, {
        action: 'webhook.disable',
        resourceType: 'webhook',
        resourceName: webhook_id,
        after: { id: webhook_id, url },
        actor: SENDER,
      });
      return true;
    });
    if (!isDisabled) await this.release(queue);
  }

  async release({ tenant_id, webhook_id, stream, lease_version }: DeliveryQueueRow): Promise<void> {
    await this.database.tx('system', async (tx) => {
      const queues = tx.repository(DeliveryQueueEntity);
      const lease = { tenant_id, webhook_id, stream, lease_version };
      // Under the lock, the next statement sees everything that a fan-out has added. One update: a second one would
      // check the foreign key, and wait for a webhook that is being deleted.
      await tx.query(LOCK_DELIVERY_QUEUES, [stream, [webhook_id]]);
      await queues.update(lease, { due_at: (await firstOf(tx, lease)).dueAt });
    });
  }

  /**
   * Sends nothing to a receiver before the time that it requests. If the process dies after it, the lease ends, and the
   * next claim finds the webhook paused. A sender without its lease, or with an old URL, pauses nothing.
   */
  private async pause(queue: DeliveryQueueRow, requestedMs: number): Promise<void> {
    const { tenant_id, webhook_id, stream, lease_version, version } = queue;
    await this.database.tx('system', async (tx) => {
      const lease = { tenant_id, webhook_id, stream, lease_version };
      if (!(await tx.repository(DeliveryQueueEntity).existsBy(lease))) return;
      const now = await tx.now();
      const until = new Date(now.getTime() + Math.min(requestedMs, MAX_RETRY_AFTER_MS)).toISOString();
      const isEarlier = Or(IsNull(), LessThan(until));
      const webhook = { tenant_id, id: webhook_id, version, paused_until: isEarlier };
      await tx.repository(WebhookEntity).update(webhook, { paused_until: until });
    });
  }

  /**
   * @returns whether the sender may continue. If the webhook or the list of pending deliveries has changed, it gives the
   * queue back, and the next claim reads the new ones
   */
  private async ended(queue: DeliveryQueueRow, delivery: PendingDelivery, end: DeliveryEnd): Promise<boolean> {
    const [row] = await this.database.read<Pick<DeliveryQueueRow, 'version' | 'changes'>>(
      'system',
      END_WEBHOOK_DELIVERY,
      [
        queue.webhook_id,
        queue.stream,
        queue.lease_version,
        this.timing.leaseMs,
        delivery.event_id,
        end.status,
        end.attempts,
        end.response,
        end.error,
        end.durationMs,
      ],
    );
    if (!row) return false;
    if (row.version === queue.version && row.changes === queue.changes) return true;
    await this.release(queue);
    return false;
  }
}

/** Fences every sender of a webhook. The caller has locked or written the webhook before, and ends the deliveries next. */
export async function stopQueues(tx: Tx, tenant_id: string, webhook_id: string): Promise<void> {
  const queues = tx.repository(DeliveryQueueEntity);
  const hasPending = { tenant_id, webhook_id, due_at: Not(IsNull()) };
  await queues.update(hasPending, { due_at: null, ...NEXT_LEASE });
}

export async function cancelPending(tx: Tx, tenant_id: string, webhook_id: string): Promise<void> {
  const deliveries = tx.repository(DeliveryEntity);
  const cancelled = { status: 'cancelled', next_attempt_at: null, completed_at: NOW };
  await deliveries.update({ tenant_id, webhook_id, status: 'pending' }, cancelled);
}

/** A queue and its first delivery become due with a little time between them. */
const TOLERANCE_MS = 1_000;

export function isLater(time: string | null, now: Date, toleranceMs = 0): boolean {
  return time !== null && Date.parse(time) > now.getTime() + toleranceMs;
}

interface FirstPending {
  sequence: number | undefined;
  /** Whether it waits for its next attempt, and with it the queue. */
  isWaiting: boolean;
  /** When the queue is due. */
  dueAt: Date | typeof NOW | null;
}

/** Returns what the first pending delivery means for its queue, which the caller has locked. */
export async function firstOf(
  tx: Tx,
  { tenant_id, webhook_id, stream }: Pick<DeliveryQueueEntity, 'tenant_id' | 'webhook_id' | 'stream'>,
): Promise<FirstPending> {
  const first = await tx
    .repository(DeliveryEntity)
    .findOne({
      select: { event_id: true, sequence: true, next_attempt_at: true },
      where: { tenant_id, webhook_id, stream, status: 'pending' },
      order: { sequence: 'ASC' },
    });
  if (!first) return { sequence: undefined, isWaiting: false, dueAt: null };
  const isWaiting = isLater(first.next_attempt_at, await tx.now());
  return { sequence: first.sequence, isWaiting, dueAt: isWaiting ? new Date(first.next_attempt_at!) : NOW };
}
