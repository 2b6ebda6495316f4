import type { DynamicModule, Type } from '@nestjs/common';
import { migrations as databaseMigrations, type Migration } from '@slipway/platform-database';
import { EventsModule, migrations as eventMigrations } from '../../events/index.js';
import { migrations as mutationMigrations, MutationsModule } from '../../mutations/index.js';
import { migrations as operationMigrations, DurableOperationsModule } from '../index.js';
import { SchedulingModule } from '../../scheduling/index.js';

/** The tables that every area builds on. */
export const platformMigrations: readonly Migration[] = [
  ...databaseMigrations,
  ...eventMigrations,
  ...mutationMigrations,
  ...operationMigrations,
];

/**
 * The modules that every area builds on, beside configuration, database, HTTP and queue, as the api or the worker has them.
 * @param hasTimers whether recurring work runs by itself, as in a worker; otherwise only `Schedule.runNow` runs it
 */
export function platformModules(process: 'api' | 'worker', hasTimers = process === 'worker'): (DynamicModule | Type)[] {
  const scheduling = hasTimers ? SchedulingModule.forWorker() : SchedulingModule.forApi();
  return process === 'api'
    ? [scheduling, EventsModule.forApi(), MutationsModule, DurableOperationsModule.forApi()]
    : [scheduling, EventsModule.forWorker(), MutationsModule, DurableOperationsModule.forWorker()];
}
