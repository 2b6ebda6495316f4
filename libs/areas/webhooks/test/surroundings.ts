import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { DatabaseModule } from '@slipway/platform-database';
import { HttpModule } from '@slipway/platform-http';
import { MutationsModule } from '@slipway/platform-durable/mutations';
import { OperationRunner } from '@slipway/platform-durable/operations';
import { SchedulingModule } from '@slipway/platform-durable/scheduling';
import { DEPLOYMENTS, type Deployment, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { DELIVERY_TIMING, WebhooksModule, type DeliveryTiming } from '../src/index.js';

/** What the tests need of the Deployments area: every name is there, with an id made of it. */
const deployments: Pick<DeploymentsPort, 'get'> = {
  get: async (_tx, tenantId, name) => ({ id: `dep_${name}`, tenantId, name }) as Deployment,
};

@Global()
@Module({})
class Surroundings {}

/** A process with this area alone: one that answers, or one that has something that runs operations and therefore sends. */
@Module({})
export class AreaOnly {
  static of(config: Config, role: 'api' | 'worker', timing?: DeliveryTiming): DynamicModule {
    const providers: Provider[] = [{ provide: DEPLOYMENTS, useValue: deployments }];
    if (role === 'worker') providers.push({ provide: OperationRunner, useValue: {} });
    if (timing) providers.push({ provide: DELIVERY_TIMING, useValue: timing });
    const surroundings: DynamicModule = {
      module: Surroundings,
      providers,
      exports: providers.map((provider) => ('provide' in provider ? provider.provide : provider)),
    };
    const http = role === 'api' ? [HttpModule] : [];
    return {
      module: AreaOnly,
      imports: [
        ConfigModule.forRoot(config),
        DatabaseModule.forRoot(config),
        role === 'worker' ? SchedulingModule.forWorker() : SchedulingModule.forApi(),
        MutationsModule,
        ...http,
        surroundings,
        WebhooksModule,
      ],
    };
  }
}
