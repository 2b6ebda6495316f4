import { Global, Module } from '@nestjs/common';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { DeploymentStore } from './deployment.store.js';

/** Global, because everything that concerns a deployment begins at its record. */
@Global()
@Module({
  providers: [DeploymentStore, { provide: DEPLOYMENTS, useExisting: DeploymentStore }],
  exports: [DEPLOYMENTS],
})
export class DeploymentRecordsModule {}
