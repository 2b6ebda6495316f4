import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { OperationRequests, OperationStore, OutboxBell } from './accept/operation.store.js';
import { OperationDefinitions } from './define/operation.definitions.js';
import { Leases, OperationRepair } from './run/leases.js';
import { OperationRunner } from './run/operation.runner.js';
import { OperationWorker } from './run/operation.worker.js';
import { OutboxRelay } from './run/outbox.relay.js';
import { OperationRetention } from './run/retention.js';

const EVERYWHERE: Provider[] = [OperationDefinitions, OutboxBell, OperationStore, OperationRequests];
const MOVERS: Provider[] = [Leases, OperationRunner, OutboxRelay, OperationWorker, OperationRepair, OperationRetention];

/**
 * Durable operations. The process also needs the events, mutations and scheduling modules. The API accepts and shows
 * operations; a worker also runs them, and needs the queue module as well.
 */
@Module({})
export class DurableOperationsModule {
  static forApi(): DynamicModule {
    return {
      module: DurableOperationsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: EVERYWHERE,
      exports: EVERYWHERE,
    };
  }

  static forWorker(): DynamicModule {
    return {
      module: DurableOperationsModule,
      global: true,
      imports: [DiscoveryModule],
      providers: [...EVERYWHERE, ...MOVERS],
      exports: [...EVERYWHERE, OperationRunner, OperationWorker],
    };
  }
}
