import { Module } from '@nestjs/common';
import { DeletionOperation } from './deletion.operation.js';
import { DeletionsService } from './deletions.service.js';
import { DeploymentAnswers } from './deployment-answers.js';
import { DeploymentsController } from './deployments.controller.js';
import { DeploymentsService } from './deployments.service.js';
import { DrainsService } from './drains.service.js';
import { HealthRound } from './deployment-health.js';
import { UpdatesService } from './updates.service.js';

@Module({
  controllers: [DeploymentsController],
  providers: [
    DeploymentAnswers,
    DeploymentsService,
    DeletionsService,
    DeletionOperation,
    DrainsService,
    HealthRound,
    UpdatesService,
  ],
})
export class DeploymentsModule {}
