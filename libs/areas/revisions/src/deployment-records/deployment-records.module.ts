import { Global, Module } from '@nestjs/common';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { DeploymentStore } from './deployment.store.js';

/** Global, because every area that works on a deployment starts from its record. */
@Global()
@Module({
  providers: [DeploymentStore, { provide: DEPLOYMENTS, useExisting: DeploymentStore }],
  exports: [DEPLOYMENTS],
})
export class DeploymentRecordsModule {}
