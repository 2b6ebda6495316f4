import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { OPERATION_QUEUE, type OperationQueue } from '@slipway/platform-queue';
import { OperationRunner } from './operation.runner.js';
import { OutboxRelay } from './outbox.relay.js';

/** Ties the movers of a worker process together: relay → queue → runner. */
@Injectable()
export class OperationWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'worker'>,
    @Inject(OPERATION_QUEUE) private readonly queue: OperationQueue,
    private readonly runner: OperationRunner,
    private readonly relay: OutboxRelay,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    // The queue may be away at boot; it connects by itself, and the relay is patient.
    void this.queue.consume((operationId) => this.runner.drive(operationId), this.config.worker.concurrency);
    await this.relay.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.relay.stop();
    await this.queue.close();
  }
}
