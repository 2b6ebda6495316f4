import { Inject, Injectable, Logger } from '@nestjs/common';
import { CONFIG, type QuotaConfig } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { type ExpiredEvents, KeepsEvents, type NeedsEvents } from '@slipway/platform-durable/events';
import { quotasOfTenant } from '@slipway/platform-durable/quotas';
import {
  ADD_DELIVERY_QUEUES,
  ADVANCE_DELIVERY_QUEUES,
  FIND_STREAMS_BEHIND,
  FILTER_STREAMS_BEHIND,
  COUNT_PENDING_DELIVERIES,
  FAN_OUT_PAGE,
  FIND_FIRST_NEEDED_EVENTS,
  LOCK_DELIVERY_QUEUES,
  LOCK_WEBHOOKS,
  FAN_OUT_SCAN_PAGE,
  SKIP_UNKEPT_EVENTS,
} from './fan-out.query.js';
import { QueueSender } from './queue-sender.js';

const RETRY_MS = 1_000;

/**
 * Turns events into deliveries. A notification only names a stream to check; the cursors of the queues show what is
 * new. So a lost notification delays, and a repeated one changes nothing. While a tenant has as many waiting deliveries
 * as its quota allows, its further events stay in their streams, and scans skip them until there is capacity.
 */
@Injectable()
export class FanOut {
  private readonly logger = new Logger('webhooks');
  private readonly named = new Set<string>();
  private isScanDue = false;
  private isStopped = false;
  private running?: Promise<void>;

  constructor(
    @Inject(CONFIG) private readonly config: QuotaConfig,
    private readonly database: Database,
    private readonly sender: QueueSender,
  ) {}

  /** Schedules a check of one stream. */
  look(stream: string): void {
    this.named.add(stream);
    this.run();
  }

  /** Schedules a check of every stream of a tenant with webhooks. */
  lookEverywhere(): void {
    this.isScanDue = true;
    this.run();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }

  private run(): void {
    if (this.isStopped) return;
    this.running ??= this.drain().finally(() => {
      this.running = undefined;
      if (this.named.size > 0) this.run();
    });
  }

  private async drain(): Promise<void> {
    const full = new Set<string>();
    while (!this.isStopped && (this.named.size > 0 || this.isScanDue)) {
      const isScan = this.isScanDue;
      const streams = [...this.named];
      this.named.clear();
      this.isScanDue = false;
      try {
        const behind = await this.database.read<{ stream: string; tenant_id: string }>(
          'system',
          isScan ? FIND_STREAMS_BEHIND : FILTER_STREAMS_BEHIND,
          isScan ? [[...full]] : [streams, [...full]],
        );
        for (const { stream, tenant_id } of behind)
          if (!full.has(tenant_id) && !(await this.bring(stream, tenant_id))) full.add(tenant_id);
        if (behind.length === FAN_OUT_SCAN_PAGE) this.isScanDue = true;
      } catch (error) {
        // Postgres is unavailable, or two transactions conflicted. A scan finds the affected streams.
        this.logger.warn(
          `Could not create webhook deliveries and will retry: ${error instanceof Error ? error.message : String(error)}`,
        );
        this.isScanDue = true;
        setTimeout(() => this.run(), RETRY_MS).unref();
        return;
      }
    }
    // Events that were left in their streams find capacity as deliveries end.
    if (full.size > 0) setTimeout(() => this.lookEverywhere(), RETRY_MS).unref();
  }

  /** @returns false if the tenant has no capacity for more */
  private async bring(stream: string, tenantId: string): Promise<boolean> {
    while (!this.isStopped) {
      const { most, page } = await this.database.tx('system', async (tx) => {
        const webhooks = (await tx.query<{ id: string }>(LOCK_WEBHOOKS, [stream])).map(({ id }) => id);
        if (webhooks.length === 0) return { most: 0, page: FAN_OUT_PAGE };
        await tx.query(ADD_DELIVERY_QUEUES, [stream, webhooks]);
        await tx.query(LOCK_DELIVERY_QUEUES, [stream, webhooks]);
        const page = Math.min(FAN_OUT_PAGE, Math.floor((await this.capacityOf(tx, tenantId)) / webhooks.length));
        if (page <= 0) return { most: 0, page: 0 };
        const most = (await tx.one<{ most: number }>(ADVANCE_DELIVERY_QUEUES, [stream, webhooks, page]))?.most ?? 0;
        if (most === 0) await tx.query(SKIP_UNKEPT_EVENTS, [stream, webhooks]);
        return { most, page };
      });
      if (page === 0) return false;
      if (most > 0) this.sender.kick();
      if (most < page) return true;
    }
    return true;
  }

  private async capacityOf(tx: Tx, tenantId: string): Promise<number> {
    const { webhook_deliveries: limit } = await quotasOfTenant(tx, this.config, tenantId);
    const pending = await tx.one<{ count: number }>(COUNT_PENDING_DELIVERIES, [tenantId, limit]);
    return limit - (pending?.count ?? 0);
  }
}

/** Keeps each event until every webhook that needs it has received it or has been given up. */
@Injectable()
@KeepsEvents('webhooks')
export class WebhookEventRetention implements NeedsEvents {
  firstNeeded(tx: Tx, old: readonly ExpiredEvents[]): Promise<{ stream: string; sequence: string }[]> {
    return tx.query(FIND_FIRST_NEEDED_EVENTS, [JSON.stringify(old)]);
  }
}
