import { Module, type DynamicModule } from '@nestjs/common';
import { AuthModule } from '@slipway/platform-auth';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { HttpModule } from '@slipway/platform-http';
import { EventsModule } from '@slipway/platform-events';
import { MutationsModule } from '@slipway/platform-mutations';
import { OperationsModule } from '@slipway/platform-operations';
import { SchedulingModule } from '@slipway/platform-scheduling';
import { AREAS, TargetKindsModule } from '@slipway/registry';

/** The platform and every area. It needs no queue: what the api accepts waits in Postgres for the worker's relay. */
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
        OperationsModule.forApi(),
        TargetKindsModule.forRoot(),
        ...AREAS,
      ],
    };
  }
}
