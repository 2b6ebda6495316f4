import { Global, Module } from '@nestjs/common';
import { ROLLOUTS } from '@slipway/ports/rollouts';
import { Analyst } from './analyst.js';
import { Changeover } from './changeover.js';
import { Candidate } from './candidate.js';
import { Recreate } from './recreate.js';
import { RevisionCollector } from './revision-collector.js';
import { RollbackOperation } from './rollback.operation.js';
import { RollbacksService } from './rollbacks.service.js';
import { RolloutCheck } from './rollout-check.js';
import { RolloutOperation } from './rollout.operation.js';
import { DeploymentExists, RolloutsController } from './rollouts.controller.js';
import { RolloutsService } from './rollouts.service.js';
import { Settlements } from './settlement.js';
import { Soak } from './soak.js';

/** Global, because the autopilot has its proposals checked through the port. */
@Global()
@Module({
  controllers: [RolloutsController],
  providers: [
    RolloutCheck,
    { provide: ROLLOUTS, useExisting: RolloutCheck },
    Analyst,
    Candidate,
    Changeover,
    Recreate,
    Settlements,
    Soak,
    RolloutOperation,
    RollbackOperation,
    RolloutsService,
    RollbacksService,
    DeploymentExists,
    RevisionCollector,
  ],
  exports: [ROLLOUTS],
})
export class RolloutsModule {}
