import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret } from '@slipway/platform-database';
import { readEvents } from '@slipway/platform-durable/events';
import { Egress } from '@slipway/platform-egress';
import { WakeableTask } from '@slipway/platform-durable/scheduling';
import { countAttempt } from './delivery-metrics.js';
import { postEvent } from './delivery-request.js';
import type { DeliveryQueueRow } from './delivery-queue.query.js';
import { DeliveryQueues, type PendingDelivery } from './delivery-queues.js';
import { claimsFor, MAX_SENDS } from './sender-shares.js';
import { sealContext, signatureHeaders } from './signature.js';

const EVENT_PAGE = 200;
/** How long a stopping process waits for answers before it aborts the requests. */
const STOP_GRACE_MS = 5_000;

/**
 * Sends the due deliveries. A queue is claimed for one run: some deliveries in order, until there are no more, one is
 * refused, the run has lasted long enough, the lease is lost or the process stops. Then it is given back, after all
 * queues that already wait. Every end frees a sender, which claims the next due queue.
 */
@Injectable()
export class QueueSender {
  private readonly logger = new Logger('webhooks');
  private readonly sending = new Map<Promise<void>, DeliveryQueueRow>();
  private readonly interruption = new AbortController();
  private readonly claiming = new WakeableTask(() => this.claimAll(), {
    // The queues stay due; the next kick retries.
    onError: (error) => this.warn('Could not claim a delivery queue', error),
  });

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'keyRing'>,
    private readonly database: Database,
    private readonly egress: Egress,
    private readonly queues: DeliveryQueues,
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
    for (const exclusions of claimsFor([...this.sending.values()])) {
      const queue = await this.queues.claim(exclusions);
      if (!queue) continue;
      this.send(queue);
      return true;
    }
    return false;
  }

  private send(queue: DeliveryQueueRow): void {
    const ended = this.run(queue)
      // If Postgres is unavailable or the secret cannot be opened, the lease runs out and the queue is due again.
      .catch((error: unknown) =>
        this.warn(`Could not send the events of ${queue.stream} to ${queue.webhook_id}`, error),
      )
      .finally(() => {
        this.sending.delete(ended);
        this.kick();
      });
    this.sending.set(ended, queue);
  }

  private async run(queue: DeliveryQueueRow): Promise<void> {
    const secrets = this.secretsOf(queue);
    const pending = await this.queues.pending(queue);
    const [first] = pending;
    if (!first) return this.queues.release(queue);
    // A test asks the receiver how it answers now.
    if (queue.is_paused && first.body === null) return this.queues.waitForReceiver(queue, first);
    const events = first.body === null ? await this.eventsFrom(queue.stream, first) : new Map<number, string>();
    // As long as one request may last: a time-out ends the run, and slow answers keep a sender busy for two time-outs
    // at most.
    const end = performance.now() + this.queues.timing.timeoutMs;
    for (const delivery of pending) {
      if (this.claiming.isStopped || performance.now() >= end || !delivery.is_due) break;
      const event = delivery.body ?? events.get(delivery.sequence);
      // The event is further away than a page: the next run reads from there. The first event of a run is missing only
      // if it is not kept.
      if (!event && delivery !== first) break;
      const goesOn = event
        ? await this.deliver(queue, delivery, secrets, event)
        : await this.queues.expired(queue, delivery);
      if (!goesOn) return;
    }
    await this.queues.release(queue);
  }

  /** @returns whether the next delivery of the queue may follow; otherwise the queue's next time is already written */
  private async deliver(
    queue: DeliveryQueueRow,
    delivery: PendingDelivery,
    secrets: readonly string[],
    body: string,
  ): Promise<boolean> {
    const headers = signatureHeaders(secrets, delivery.event_id, Math.floor(Date.now() / 1_000), body);
    const outcome = await postEvent({
      client: this.egress.post(this.egress.patterns(queue.tenant_name)),
      url: queue.url,
      headers,
      body,
      timeoutMs: this.queues.timing.timeoutMs,
      interruption: this.interruption.signal,
    });
    countAttempt(outcome.kind);
    if (outcome.kind === 'accepted') return this.queues.succeeded(queue, delivery, outcome);
    if (outcome.kind === 'interrupted') {
      await this.queues.release(queue);
      return false;
    }
    // A test changes nothing of the webhook.
    if (outcome.status === 410 && delivery.body === null) {
      await this.queues.gone(queue, delivery, outcome.durationMs);
      return false;
    }
    return this.queues.refused(queue, delivery, outcome);
  }

  private secretsOf({ webhook_id, sealed_secret, sealed_previous_secret }: DeliveryQueueRow): string[] {
    return [sealed_secret, sealed_previous_secret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => openSecret(this.config.keyRing, sealed, sealContext(webhook_id)));
  }

  private async eventsFrom(stream: string, first: PendingDelivery): Promise<Map<number, string>> {
    const page = { after: first.sequence - 1, order: 'asc', limit: EVENT_PAGE } as const;
    const { rows } = await readEvents(this.database, 'system', { stream }, page);
    return new Map(rows.map((row) => [Number(row.sequence), row.json]));
  }

  private warn(what: string, error: unknown): void {
    this.logger.warn(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
