import {
  Injectable,
  Optional,
  Inject,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Database, type Tx } from '@slipway/platform-database';
import { EVENTS_CHANNEL, OperationRunner, Sweeper, type DueWork } from '@slipway/platform-operations';
import { FanOut } from './fan-out.js';
import { LaneSender } from './lane-sender.js';
import { PRUNE_DELIVERIES } from './lane.query.js';

const SCAN_EVERY_SWEEPS = 10;
const PRUNE_EVERY_SWEEPS = 60;

/** Drives fan-out and sending in processes that run operations: the worker. Events wake it, the sweeper guarantees it. */
@Injectable()
export class DeliveryWork implements OnApplicationBootstrap, BeforeApplicationShutdown, DueWork {
  readonly name = 'webhooks';
  private sweeps = 0;
  private unlisten?: () => Promise<void>;

  constructor(
    private readonly database: Database,
    private readonly sweeper: Sweeper,
    private readonly fanOut: FanOut,
    private readonly sender: LaneSender,
    @Optional() @Inject(OperationRunner) private readonly worker?: OperationRunner,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.worker) return;
    this.unlisten = await this.database.listen(
      EVENTS_CHANNEL,
      (stream) => this.fanOut.look(stream),
      () => this.fanOut.lookEverywhere(),
    );
    this.sweeper.register(this);
    this.fanOut.lookEverywhere();
    this.sender.kick();
  }

  async sweep(tx: Tx): Promise<void> {
    this.sender.kick();
    if (this.sweeps % SCAN_EVERY_SWEEPS === 0) this.fanOut.lookEverywhere();
    if (this.sweeps % PRUNE_EVERY_SWEEPS === 0) await tx.query(PRUNE_DELIVERIES);
    this.sweeps += 1;
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.unlisten?.();
    await this.fanOut.stop();
    await this.sender.stop();
  }
}
