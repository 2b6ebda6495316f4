import { Module, type DynamicModule } from '@nestjs/common';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { MutationsModule } from '@slipway/platform-durable/mutations';
import { OperationRunner } from '@slipway/platform-durable/operations';
// Not the whole of `testing`, which needs Jest: a child process loads this file too.
import {
  neighboursModule,
  type NeighbourProvider,
} from '@slipway/platform-durable/operations/testing/platform-modules';
import { SchedulingModule } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { DELIVERY_TIMING, WebhooksModule, type DeliveryTiming } from '../src/index.js';

/** The part of the Deployments area that the tests need: every name exists, and its id is made of the name. */
const deployments: Pick<DeploymentsPort, 'get'> = {
  get: async (_tx, tenantId, name) => ({ id: `dep_${name}`, tenantId, name }) as Deployment,
};

export const NEIGHBOURS: readonly NeighbourProvider[] = [{ provide: DEPLOYMENTS, useValue: deployments }];

/** A worker with this area alone. It has code that runs operations, and therefore sends. */
@Module({})
export class WebhooksWorkerModule {
  static of(config: Config, timing: DeliveryTiming): DynamicModule {
    return {
      module: WebhooksWorkerModule,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        SchedulingModule.forWorker(),
        MutationsModule,
        neighboursModule([
          ...NEIGHBOURS,
          { provide: OperationRunner, useValue: {} },
          { provide: DELIVERY_TIMING, useValue: timing },
        ]),
        WebhooksModule,
      ],
    };
  }
}
