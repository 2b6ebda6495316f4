import { Global, Module } from '@nestjs/common';
import { REVISIONS, ROLLOUTS } from '@slipway/ports';
import { Analyst } from './analyst.js';
import { Candidate } from './candidate.js';
import { RevisionCollector } from './revision-collector.js';
import { RevisionStore } from './revision.store.js';
import { RevisionsController } from './revisions.controller.js';
import { RevisionsService } from './revisions.service.js';
import { RollbackOperation } from './rollback.operation.js';
import { RollbacksService } from './rollbacks.service.js';
import { RolloutOperation } from './rollout.operation.js';
import { RolloutCheck } from './rollout-check.js';
import { DeploymentExists, RolloutsController } from './rollouts.controller.js';
import { RolloutsService } from './rollouts.service.js';

@Global()
@Module({
  controllers: [RolloutsController, RevisionsController],
  providers: [
    RevisionStore,
    { provide: REVISIONS, useExisting: RevisionStore },
    RolloutCheck,
    { provide: ROLLOUTS, useExisting: RolloutCheck },
    Analyst,
    Candidate,
    RolloutOperation,
    RollbackOperation,
    RolloutsService,
    RollbacksService,
    RevisionsService,
    DeploymentExists,
    RevisionCollector,
  ],
  exports: [REVISIONS, ROLLOUTS],
})
export class RevisionsModule {}
