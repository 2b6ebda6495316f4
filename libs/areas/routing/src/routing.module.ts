import { Global, Module } from '@nestjs/common';
import { ROUTES } from '@slipway/ports/routing';
import { DeploymentMetricsController } from './metrics/deployment-metrics.controller.js';
import { DeploymentMetricsService } from './metrics/deployment-metrics.service.js';
import { ForgottenHolds, RecordMerge, RecordRetention } from './recurring-work.js';
import { RouteStore } from './route.store.js';
import { RoutesController } from './routes.controller.js';
import { RoutesService } from './routes.service.js';

/** Global, because operations of other areas move traffic through the port. */
@Global()
@Module({
  controllers: [RoutesController, DeploymentMetricsController],
  providers: [
    RouteStore,
    { provide: ROUTES, useExisting: RouteStore },
    RoutesService,
    DeploymentMetricsService,
    RecordMerge,
    RecordRetention,
    ForgottenHolds,
  ],
  exports: [ROUTES],
})
export class RoutingModule {}
