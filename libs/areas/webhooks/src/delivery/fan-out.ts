import { Injectable, Logger } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import {
  ADD_LANES,
  ADVANCE,
  BEHIND,
  BEHIND_OF,
  FAN_OUT_PAGE,
  LOCK_LANES,
  LOCK_WEBHOOKS,
  SCAN_PAGE,
  SKIP_UNKEPT,
} from './fan-out.query.js';
import { LaneSender } from './lane-sender.js';

const RETRY_MS = 1_000;

/**
 * Turns events into deliveries. A notification names a stream to look at; what is new there is told by the lanes' cursors
 * alone, so a lost notification delays and a repeated one changes nothing.
 */
@Injectable()
export class FanOut {
  private readonly logger = new Logger('webhooks');
  private readonly named = new Set<string>();
  private isScanDue = false;
  private isStopped = false;
  private running?: Promise<void>;

  constructor(
    private readonly database: Database,
    private readonly sender: LaneSender,
  ) {}

  /** Looks at one stream. */
  look(stream: string): void {
    this.named.add(stream);
    this.run();
  }

  /** Looks at every stream of a tenant with webhooks. */
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
    while (!this.isStopped && (this.named.size > 0 || this.isScanDue)) {
      const isScan = this.isScanDue;
      const streams = [...this.named];
      this.named.clear();
      this.isScanDue = false;
      try {
        const behind = await this.database.read<{ stream: string }>(
          'system',
          isScan ? BEHIND : BEHIND_OF,
          isScan ? [] : [streams],
        );
        for (const { stream } of behind) await this.bring(stream);
        if (behind.length === SCAN_PAGE) this.isScanDue = true;
      } catch (error) {
        // Postgres is away, or two transactions met badly. Which streams it was about, a scan finds out.
        this.logger.warn(`fan-out: ${error instanceof Error ? error.message : String(error)}`);
        this.isScanDue = true;
        setTimeout(() => this.run(), RETRY_MS).unref();
        return;
      }
    }
  }

  private async bring(stream: string): Promise<void> {
    while (!this.isStopped) {
      const most = await this.database.tx('system', async (tx) => {
        const webhooks = (await tx.query<{ id: string }>(LOCK_WEBHOOKS, [stream])).map(({ id }) => id);
        if (webhooks.length === 0) return 0;
        await tx.query(ADD_LANES, [stream, webhooks]);
        await tx.query(LOCK_LANES, [stream, webhooks]);
        const most = (await tx.one<{ most: number }>(ADVANCE, [stream, webhooks]))?.most ?? 0;
        if (most === 0) await tx.query(SKIP_UNKEPT, [stream, webhooks]);
        return most;
      });
      if (most > 0) this.sender.kick();
      if (most < FAN_OUT_PAGE) return;
    }
  }
}
