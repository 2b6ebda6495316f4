import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { EventFeed } from './event-feed.js';
import { EventHub } from './event.hub.js';
import { EventList } from './event-list.js';
import { EventStreams } from './event-stream.js';
import { IdempotentMutation } from './idempotency.js';
import { Leases } from './leases.js';
import { OperationDefinitions } from './operation.definitions.js';
import { OperationRunner } from './operation.runner.js';
import { OperationStore } from './operation.store.js';
import { OperationWorker } from './operation.worker.js';
import { OutboxRelay } from './outbox.relay.js';
import { PausePoints } from './pause-points.js';
import { Sweeper } from './sweeper.js';

const EVERYWHERE: Provider[] = [
  OperationDefinitions,
  OperationStore,
  IdempotentMutation,
  EventHub,
  EventList,
  EventStreams,
  EventFeed,
  PausePoints,
  Sweeper,
];

/** Durable operations. The API makes and shows them; a worker also runs them (it needs the queue module beside this one). */
@Module({})
export class OperationsModule {
  static forApi(): DynamicModule {
    return {
      module: OperationsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: EVERYWHERE,
      exports: EVERYWHERE,
    };
  }

  static forWorker(): DynamicModule {
    const movers = [Leases, OperationRunner, OutboxRelay, OperationWorker];
    return {
      module: OperationsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [...EVERYWHERE, ...movers],
      exports: [...EVERYWHERE, OperationRunner],
    };
  }
}
