import { Global, Module } from '@nestjs/common';
import { ROLLOUTS } from '@slipway/ports/rollouts';
import { BakeStarter } from './bake.js';
import { BakeOperation } from './bake.operation.js';
import { Analyst } from './gates/analyst.js';
import { Changeover } from './steps/changeover.js';
import { Candidate } from './steps/candidate.js';
import { Recreate } from './steps/recreate.js';
import { Soak } from './steps/soak.js';
import { RestartOperation } from './restart.operation.js';
import { RestartsService } from './restarts.service.js';
import { RevisionCollector } from './revision-collector.js';
import { RollbackOperation } from './rollback.operation.js';
import { RollbacksService } from './rollbacks.service.js';
import { RolloutCheck, CapacityPlanner } from './acceptance.js';
import { RolloutOperation } from './rollout.operation.js';
import { DeploymentExists, RolloutsController } from './rollouts.controller.js';
import { RolloutsService } from './rollouts.service.js';

/** Global, because the autopilot checks its proposals through the port. */
@Global()
@Module({
  controllers: [RolloutsController],
  providers: [
    RolloutCheck,
    { provide: ROLLOUTS, useExisting: RolloutCheck },
    Analyst,
    BakeOperation,
    BakeStarter,
    Soak,
    Candidate,
    Changeover,
    Recreate,
    CapacityPlanner,
    RolloutOperation,
    RollbackOperation,
    RestartOperation,
    RestartsService,
    RolloutsService,
    RollbacksService,
    DeploymentExists,
    RevisionCollector,
  ],
  exports: [ROLLOUTS],
})
export class RolloutsModule {}
