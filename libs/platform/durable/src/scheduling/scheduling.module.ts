import { Module, type DynamicModule } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Database } from '@slipway/platform-database';
import { Schedule } from './schedule.js';

@Module({})
export class SchedulingModule {
  static forApi(): DynamicModule {
    return schedulingModule(false);
  }

  static forWorker(): DynamicModule {
    return schedulingModule(true);
  }
}

function schedulingModule(isWorker: boolean): DynamicModule {
  const schedule = {
    provide: Schedule,
    inject: [Database, DiscoveryService, MetadataScanner],
    useFactory: (database: Database, discovery: DiscoveryService, methods: MetadataScanner) =>
      new Schedule(database, isWorker, discovery, methods),
  };
  return {
    module: SchedulingModule,
    global: true,
    imports: [DiscoveryModule],
    providers: [schedule],
    exports: [schedule],
  };
}
