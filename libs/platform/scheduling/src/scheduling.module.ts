import { Module, type DynamicModule } from '@nestjs/common';
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
    inject: [Database],
    useFactory: (database: Database) => new Schedule(database, isWorker),
  };
  return { module: SchedulingModule, global: true, providers: [schedule], exports: [schedule] };
}
