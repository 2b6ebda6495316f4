import { Global, Module } from '@nestjs/common';
import { INSTANCES } from '@slipway/ports';
import { InstanceKeeper } from './instance-keeper.js';
import { InstanceProbes } from './instance-probes.js';
import { InstanceTransitions } from './instance-transitions.js';
import { InstancesService } from './instances.service.js';
import { Neighbours } from './neighbours.js';
import { Reconcilers } from './reconcilers.js';
import { TargetCatalog } from './target-catalog.js';
import { TargetsController } from './targets.controller.js';
import { TargetsService } from './targets.service.js';

/** Global, because other areas build on its port. The reconcilers start by themselves in a process that runs operations. */
@Global()
@Module({
  controllers: [TargetsController],
  providers: [
    TargetCatalog,
    Neighbours,
    InstanceProbes,
    InstancesService,
    { provide: INSTANCES, useExisting: InstancesService },
    InstanceTransitions,
    InstanceKeeper,
    Reconcilers,
    TargetsService,
  ],
  exports: [INSTANCES, Reconcilers],
})
export class TargetsModule {}
