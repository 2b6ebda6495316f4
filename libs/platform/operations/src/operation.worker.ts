import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { OPERATION_QUEUE, type OperationQueue } from '@slipway/platform-queue';
import { OperationRunner } from './operation.runner.js';
import { OutboxRelay } from './outbox.relay.js';
import { Sweeper } from './sweeper.js';

/** Ties the three movers of a worker process together: relay → queue → runner, and the sweeper beside them. */
@Injectable()
export class OperationWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'worker'>,
    @Inject(OPERATION_QUEUE) private readonly queue: OperationQueue,
    private readonly runner: OperationRunner,
    private readonly relay: OutboxRelay,
    private readonly sweeper: Sweeper,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // The queue may be away at boot; it connects by itself, and the relay and sweeper are patient.
    void this.queue.consume((operationId) => this.runner.drive(operationId), this.config.worker.concurrency);
    await this.relay.start();
    this.sweeper.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeper.stop();
    await this.relay.stop();
    await this.queue.close();
  }
}
