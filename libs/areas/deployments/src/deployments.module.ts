import { Global, Module } from '@nestjs/common';
import { DEPLOYMENTS } from '@slipway/ports';
import { DeletionOperation } from './deletion.operation.js';
import { DeletionsService } from './deletions.service.js';
import { DeploymentAnswers } from './deployment-answers.js';
import { DeploymentStore } from './deployment.store.js';
import { DeploymentsController } from './deployments.controller.js';
import { DeploymentsService } from './deployments.service.js';
import { HealthRound } from './health-round.js';

/** Global, because the port is what other areas' modules are built on. */
@Global()
@Module({
  controllers: [DeploymentsController],
  providers: [
    DeploymentStore,
    { provide: DEPLOYMENTS, useExisting: DeploymentStore },
    DeploymentAnswers,
    DeploymentsService,
    DeletionsService,
    DeletionOperation,
    HealthRound,
  ],
  exports: [DEPLOYMENTS],
})
export class DeploymentsModule {}
