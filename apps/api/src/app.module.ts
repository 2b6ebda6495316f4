import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@slipway/platform-http/auth';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { HttpModule } from '@slipway/platform-http';
import { EventsModule } from '@slipway/platform-durable/events';
import { MutationsModule } from '@slipway/platform-durable/mutations';
import { DurableOperationsModule } from '@slipway/platform-durable/operations';
import { SchedulingModule } from '@slipway/platform-durable/scheduling';
import { AREAS, TargetKindsModule } from '@slipway/registry';

/** The platform and every area. It needs no queue: accepted work waits in Postgres for the worker's relay. */
@Module({})
export class AppModule {
  static forRoot(config: Config): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        HttpModule,
        AuthModule,
        SchedulingModule.forApi(),
        EventsModule.forApi(),
        MutationsModule,
        DurableOperationsModule.forApi(),
        TargetKindsModule.forRoot(),
        ...AREAS,
      ],
    };
  }
}
