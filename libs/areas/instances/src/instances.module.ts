import { Global, Module } from '@nestjs/common';
import { INSTANCES } from '@slipway/ports/instances';
import { InstanceKeeper } from './instance-keeper.js';
import { InstanceTransitions } from './instance-transitions.js';
import { InstancesService } from './instances.service.js';
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
    InstancesService,
    { provide: INSTANCES, useExisting: InstancesService },
    InstanceTransitions,
    InstanceKeeper,
    Reconcilers,
    TargetsService,
  ],
  exports: [INSTANCES, Reconcilers],
})
export class InstancesModule {}
