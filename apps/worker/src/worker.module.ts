import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@slipway/platform-auth';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { EventsModule } from '@slipway/platform-events';
import { MutationsModule } from '@slipway/platform-mutations';
import { OperationsModule } from '@slipway/platform-operations';
import { SchedulingModule } from '@slipway/platform-scheduling';
import { QueueModule } from '@slipway/platform-queue';
import { AREAS, TargetKindsModule } from '@slipway/registry';

/** The same areas as the api's, for what they do beside answering: operations, reconcilers, recurring work. No route is served. */
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
        OperationsModule.forWorker(),
        TargetKindsModule.forRoot(),
        ...AREAS,
      ],
    };
  }
}
