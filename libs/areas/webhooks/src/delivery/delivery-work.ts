import { EVENTS_CHANNEL } from '@slipway/contracts';
import { Injectable, Optional, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import { OperationRunner } from '@slipway/platform-durable/operations';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { LessThan } from 'typeorm';
import { WebhookEntity } from '../webhook.entity.js';
import { FanOut } from './fan-out.js';
import { QueueSender } from './queue-sender.js';
import { PRUNE_WEBHOOK_DELIVERIES } from './delivery-queue.query.js';

const SCAN_EVERY_SECONDS = 10;
const PRUNE_EVERY_SECONDS = 60;

/**
 * Drives fan-out and sending in processes that run operations: the worker. Events wake it; the schedule guarantees it.
 */
@Injectable()
export class DeliveryWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private unlisten?: () => Promise<void>;

  constructor(
    private readonly database: Database,
    private readonly fanOut: FanOut,
    private readonly sender: QueueSender,
    @Optional() private readonly worker?: OperationRunner,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.worker) return;
    this.unlisten = await this.database.listen(
      EVENTS_CHANNEL,
      (stream) => this.fanOut.look(stream),
      () => this.fanOut.lookEverywhere(),
    );
    this.fanOut.lookEverywhere();
    this.sender.kick();
  }

  @Recurring({ name: 'webhook-sender', everySeconds: 1 })
  async send(): Promise<void> {
    if (this.worker) this.sender.kick();
  }

  @Recurring({ name: 'webhook-scan', everySeconds: SCAN_EVERY_SECONDS })
  async scan(): Promise<void> {
    if (this.worker) this.fanOut.lookEverywhere();
  }

  @Recurring({ name: 'webhook-retention', everySeconds: PRUNE_EVERY_SECONDS })
  async prune(transact: Transact): Promise<void> {
    await transact('system', (tx) => tx.query(PRUNE_WEBHOOK_DELIVERIES));
    // A secret that signs nothing any more is not kept.
    await transact('system', async (tx) => {
      const ended = { previous_secret_until: LessThan((await tx.now()).toISOString()) };
      const none = { sealed_previous_secret: null, previous_secret_until: null };
      await tx.repository(WebhookEntity).update(ended, none);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.unlisten?.();
    await this.fanOut.stop();
    await this.sender.stop();
  }
}
