import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, openSecret } from '@slipway/platform-database';
import { eventPage, type StoredEvent } from '@slipway/platform-events';
import { Egress } from '@slipway/platform-egress';
import { postEvent } from './delivery-request.js';
import type { LaneRow } from './lane.query.js';
import { Lanes, type PendingRow } from './lanes.js';
import { sealContext, signatureHeaders } from './signature.js';

const SLOTS = 16;
/** Of one webhook in one process: a receiver that lets us wait must not hold up the others. */
const SLOTS_PER_WEBHOOK = 4;
/** Then the lane goes to the end of the line, for the others' sake. */
const MOST_IN_A_ROW = 100;
const EVENT_PAGE = 200;
/** How long a stopping process waits for answers before it gives up on them. */
const STOP_GRACE_MS = 5_000;

/**
 * Sends what is due. A lane is claimed, then drained in order until it is empty, a delivery is refused, the lease is lost or
 * the process stops; then it is given back. Every end frees a slot, which looks for the next due lane.
 */
@Injectable()
export class LaneSender {
  private readonly logger = new Logger('webhooks');
  private readonly sending = new Map<Promise<void>, string>();
  private readonly interruption = new AbortController();
  private isAgain = false;
  private isStopped = false;
  private claiming?: Promise<void>;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'secretKey'>,
    private readonly database: Database,
    private readonly egress: Egress,
    private readonly lanes: Lanes,
  ) {}

  kick(): void {
    if (this.isStopped) return;
    this.isAgain = true;
    this.claiming ??= this.claimAll().finally(() => (this.claiming = undefined));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    const timer = setTimeout(() => this.interruption.abort(), STOP_GRACE_MS);
    await this.claiming;
    await Promise.all(this.sending.keys());
    clearTimeout(timer);
  }

  private async claimAll(): Promise<void> {
    while (this.isAgain && !this.isStopped) {
      this.isAgain = false;
      try {
        while (!this.isStopped && this.sending.size < SLOTS && (await this.claimOne()));
      } catch (error) {
        // The lanes stay due; the next kick tries again.
        this.warn('claim', error);
      }
    }
  }

  private async claimOne(): Promise<boolean> {
    const lane = await this.lanes.claim(this.busyWebhooks());
    if (!lane) return false;
    const drained = this.drain(lane)
      // Where Postgres was away or the secret could not be opened the lease runs out, and the lane is due again.
      .catch((error: unknown) => this.warn(`${lane.webhook_id} ${lane.stream}`, error))
      .finally(() => {
        this.sending.delete(drained);
        this.kick();
      });
    this.sending.set(drained, lane.webhook_id);
    return true;
  }

  private busyWebhooks(): string[] {
    const counts = new Map<string, number>();
    for (const webhook of this.sending.values()) counts.set(webhook, (counts.get(webhook) ?? 0) + 1);
    return [...counts].filter(([, count]) => count >= SLOTS_PER_WEBHOOK).map(([webhook]) => webhook);
  }

  private async drain(lane: LaneRow): Promise<void> {
    const secret = openSecret(this.config.secretKey, lane.sealed_secret, sealContext(lane.webhook_id));
    let sent = 0;
    while (!this.isStopped && sent < MOST_IN_A_ROW) {
      const pending = await this.lanes.pending(lane);
      if (pending.length === 0) break;
      const events = await this.eventsFrom(lane.stream, pending[0] as PendingRow);
      for (const delivery of pending) {
        if (this.isStopped) break;
        const event = events.get(delivery.sequence);
        // Further apart than a page: the next round reads from there. The first of a round is only missing if it is not kept.
        if (!event && delivery !== pending[0]) break;
        const goesOn = event
          ? await this.deliver(lane, delivery, secret, event)
          : await this.lanes.expired(lane, delivery);
        if (!goesOn) return;
        sent += 1;
      }
    }
    await this.lanes.release(lane);
  }

  /** @returns whether the next delivery of the lane may follow; otherwise the lane's next time is already written */
  private async deliver(lane: LaneRow, delivery: PendingRow, secret: string, body: string): Promise<boolean> {
    const headers = signatureHeaders(secret, delivery.event_id, Math.floor(Date.now() / 1_000), body);
    const outcome = await postEvent({
      dispatcher: this.egress.dispatcher(),
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

  private async eventsFrom(stream: string, first: PendingRow): Promise<Map<number, string>> {
    const { statement, values } = eventPage({ stream }, { after: first.sequence - 1, order: 'asc', limit: EVENT_PAGE });
    const rows = await this.database.read<StoredEvent>('system', statement, values);
    return new Map(rows.map((row) => [Number(row.sequence), row.json]));
  }

  private warn(what: string, error: unknown): void {
    this.logger.warn(`${what}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
