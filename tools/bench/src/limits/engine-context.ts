import { growHeapWhileBusy } from '@slipway/platform-observability/lean-heap';
import 'reflect-metadata';
import { Logger, Module, type INestApplicationContext, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ConfigModule, loadConfigOrExit } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { EventsModule } from '@slipway/platform-durable/events';
import { MutationsModule } from '@slipway/platform-durable/mutations';
import { DurableOperationsModule } from '@slipway/platform-durable/operations';
import { QueueModule } from '@slipway/platform-durable/queue';
import { SchedulingModule } from '@slipway/platform-durable/scheduling';

/** A worker process like ours, but with the operations of this module instead of those of the areas. */
export async function startEngine(part: Type): Promise<INestApplicationContext> {
  Logger.overrideLogger(['error']);
  const config = loadConfigOrExit({ process: 'worker' });

  @Module({
    imports: [
      ConfigModule.forRoot(config),
      DatabaseModule.forRoot(config),
      QueueModule.forRoot(config),
      SchedulingModule.forWorker(),
      EventsModule.forWorker(),
      MutationsModule,
      DurableOperationsModule.forWorker(),
      part,
    ],
  })
  class WorkerModule {}

  const context = await NestFactory.createApplicationContext(WorkerModule, { logger: ['error'] });
  growHeapWhileBusy();
  return context;
}
