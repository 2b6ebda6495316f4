import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret } from '@slipway/platform-database';
import { eventPage, type StoredEvent } from '@slipway/platform-durable/events';
import { Egress } from '@slipway/platform-egress';
import { Wakeable } from '@slipway/platform-durable/scheduling';
import { postEvent } from './delivery-request.js';
import type { DeliveryQueueRow } from './delivery-queue.query.js';
import { DeliveryQueues, type PendingDelivery } from './delivery-queues.js';
import { claimsFor, MAX_SENDS } from './sender-shares.js';
import { sealContext, signatureHeaders } from './signature.js';

const EVENT_PAGE = 200;
/** How long a stopping process waits for answers before it gives up on them. */
const STOP_GRACE_MS = 5_000;

/**
 * Sends what is due. A lane is claimed for a turn: some deliveries in order, until there are no more, one is refused, the turn has
 * lasted long enough, the lease is lost or the process stops; then it is given back, behind all that wait already. Every end frees a
 * slot, which looks for the next due lane.
 */
@Injectable()
export class QueueSender {
  private readonly logger = new Logger('webhooks');
  private readonly sending = new Map<Promise<void>, DeliveryQueueRow>();
  private readonly interruption = new AbortController();
  private readonly claiming = new Wakeable(() => this.claimAll(), {
    // The lanes stay due; the next kick tries again.
    onError: (error) => this.warn('claim', error),
  });

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
    private readonly egress: Egress,
    private readonly lanes: DeliveryQueues,
  ) {}

  kick(): void {
    void this.claiming.wake();
  }

  async stop(): Promise<void> {
    const stopped = this.claiming.stop();
    const timer = setTimeout(() => this.interruption.abort(), STOP_GRACE_MS);
    await stopped;
    await Promise.all(this.sending.keys());
    clearTimeout(timer);
  }

  private async claimAll(): Promise<void> {
    while (!this.claiming.isStopped && this.sending.size < MAX_SENDS && (await this.claimOne()));
  }

  private async claimOne(): Promise<boolean> {
    for (const except of claimsFor([...this.sending.values()])) {
      const lane = await this.lanes.claim(except);
      if (!lane) continue;
      this.send(lane);
      return true;
    }
    return false;
  }

  private send(lane: DeliveryQueueRow): void {
    const ended = this.run(lane)
      // Where Postgres was away or the secret could not be opened the lease runs out, and the lane is due again.
      .catch((error: unknown) => this.warn(`${lane.webhook_id} ${lane.stream}`, error))
      .finally(() => {
        this.sending.delete(ended);
        this.kick();
      });
    this.sending.set(ended, lane);
  }

  private async run(lane: DeliveryQueueRow): Promise<void> {
    const secret = openSecret(this.config.keyRing, lane.sealed_secret, sealContext(lane.webhook_id));
    const pending = await this.lanes.pending(lane);
    const [first] = pending;
    if (!first) return this.lanes.release(lane);
    const events = await this.eventsFrom(lane.stream, first);
    // As long as one request may last: a time-out uses the turn up, and slow answers hold a slot for two time-outs at most.
    const end = performance.now() + this.lanes.timing.timeoutMs;
    for (const delivery of pending) {
      if (this.claiming.isStopped || performance.now() >= end) break;
      const event = events.get(delivery.sequence);
      // Further apart than a page: the next turn reads from there. The first of a turn is only missing if it is not kept.
      if (!event && delivery !== first) break;
      const goesOn = event
        ? await this.deliver(lane, delivery, secret, event)
        : await this.lanes.expired(lane, delivery);
      if (!goesOn) return;
    }
    await this.lanes.release(lane);
  }

  /** @returns whether the next delivery of the lane may follow; otherwise the lane's next time is already written */
  private async deliver(
    lane: DeliveryQueueRow,
    delivery: PendingDelivery,
    secret: string,
    body: string,
  ): Promise<boolean> {
    const headers = signatureHeaders(secret, delivery.event_id, Math.floor(Date.now() / 1_000), body);
    const outcome = await postEvent({
      dispatcher: this.egress.dispatcher(this.egress.patterns(lane.tenant_name)),
      url: lane.url,
      headers,
      body,
      timeoutMs: this.lanes.timing.timeoutMs,
      interruption: this.interruption.signal,
    });
    if (outcome.kind === 'accepted') return this.lanes.succeeded(lane, delivery, outcome.status);
    if (outcome.kind === 'interrupted') {
      await this.lanes.release(lane);
      return false;
    }
    if (outcome.status === 410) {
      await this.lanes.gone(lane, delivery);
      return false;
    }
    return this.lanes.refused(lane, delivery, outcome);
  }

  private async eventsFrom(stream: string, first: PendingDelivery): Promise<Map<number, string>> {
    const { statement, values } = eventPage({ stream }, { after: first.sequence - 1, order: 'asc', limit: EVENT_PAGE });
    const rows = await this.database.read<StoredEvent>('system', statement, values);
    return new Map(rows.map((row) => [Number(row.sequence), row.json]));
  }

  private warn(what: string, error: unknown): void {
    this.logger.warn(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
