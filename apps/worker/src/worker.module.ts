import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@slipway/platform-http/auth';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { EventsModule } from '@slipway/platform-durable/events';
import { MutationsModule } from '@slipway/platform-durable/mutations';
import { DurableOperationsModule } from '@slipway/platform-durable/operations';
import { SchedulingModule } from '@slipway/platform-durable/scheduling';
import { QueueModule } from '@slipway/platform-durable/queue';
import { AREAS, TargetKindsModule } from '@slipway/registry';

/**
 * The same areas as in the api, for the work outside requests: operations,
 * reconcilers, recurring work. It serves no route.
 */
@Module({})
export class WorkerModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: WorkerModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        QueueModule.forRoot(config),
        AuthModule,
        SchedulingModule.forWorker(),
        EventsModule.forWorker(),
        MutationsModule,
        DurableOperationsModule.forWorker(),
        TargetKindsModule.forRoot(),
        ...AREAS,
      ],
    };
  }
}
