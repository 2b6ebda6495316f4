import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { migrations as databaseMigrations, type Migration } from '@slipway/platform-database';
import { EventsModule, migrations as eventMigrations } from '../../events/index.js';
import { migrations as mutationMigrations, MutationsModule } from '../../mutations/index.js';
import { migrations as operationMigrations, DurableOperationsModule, LOOK_EVERY_MS } from '../index.js';
import { SchedulingModule } from '../../scheduling/index.js';
import { OPERATION_QUEUE, type OperationQueue } from '../../queue/index.js';

/** The tables that every area needs. */
export const platformMigrations: readonly Migration[] = [
  ...databaseMigrations,
  ...eventMigrations,
  ...mutationMigrations,
  ...operationMigrations,
];

/**
 * The modules that every area needs, in addition to configuration, database, HTTP and queue, as the api or the worker
 * has them.
 * @param hasTimers whether recurring work runs by itself, as in a worker; otherwise only `Schedule.runNow` runs it
 */
export function platformModules(process: 'api' | 'worker', hasTimers = process === 'worker'): (DynamicModule | Type)[] {
  const scheduling = hasTimers ? SchedulingModule.forWorker() : SchedulingModule.forApi();
  return process === 'api'
    ? [scheduling, EventsModule.forApi(), MutationsModule, DurableOperationsModule.forApi()]
    : [scheduling, EventsModule.forWorker(), MutationsModule, DurableOperationsModule.forWorker()];
}

/** A provider with a token. */
export type NeighbourProvider = Exclude<Provider, Type>;

/** Provides these providers to every module of a test, instead of the areas that the test does not build. */
export function neighboursModule(providers: readonly NeighbourProvider[]): DynamicModule {
  class NeighboursModule {}
  return {
    module: NeighboursModule,
    global: true,
    providers: [...providers],
    exports: providers.map(({ provide }) => provide),
  };
}

/** The queue of a worker in a test. Without a queue, wake-ups are lost, and the test drives each operation. */
export function queueModule(queue?: OperationQueue): DynamicModule {
  return neighboursModule([
    { provide: OPERATION_QUEUE, useValue: queue ?? silentQueue },
    ...(queue === undefined ? [{ provide: LOOK_EVERY_MS, useValue: 0 }] : []),
  ]);
}

const silentQueue: OperationQueue = {
  add: async () => undefined,
  consume: async () => undefined,
  ready: () => true,
  close: async () => undefined,
};
