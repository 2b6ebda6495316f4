import type { DynamicModule, Type } from '@nestjs/common';
import { migrations as databaseMigrations, type Migration } from '@slipway/platform-database';
import { EventsModule, migrations as eventMigrations } from '@slipway/platform-events';
import { migrations as mutationMigrations, MutationsModule } from '@slipway/platform-mutations';
import { migrations as operationMigrations, OperationsModule } from '@slipway/platform-operations';
import { SchedulingModule } from '@slipway/platform-scheduling';

/** The tables that every area builds on. */
export const platformMigrations: readonly Migration[] = [
  ...databaseMigrations,
  ...eventMigrations,
  ...mutationMigrations,
  ...operationMigrations,
];

/** The modules that every area builds on, beside configuration, database, HTTP and queue, as the api or the worker has them. */
export function platformModules(process: 'api' | 'worker'): (DynamicModule | Type)[] {
  return process === 'api'
    ? [SchedulingModule.forApi(), EventsModule.forApi(), MutationsModule, OperationsModule.forApi()]
    : [SchedulingModule.forWorker(), EventsModule.forWorker(), MutationsModule, OperationsModule.forWorker()];
}
