import { Global, Module } from '@nestjs/common';
import { INSTANCES } from '@slipway/ports/instances';
import { AdoptedModels } from './adopted-models.js';
import { DeviceAssignments } from './device-assignments.js';
import { DeploymentInstancesController } from './deployment-instances.controller.js';
import { DeploymentInstancesService } from './deployment-instances.service.js';
import { EngineKeys } from './engine-keys.js';
import { Installation } from './installation.js';
import { InstanceKeeper } from './instance-keeper.js';
import { InstanceRoom } from './instance-room.js';
import { InstanceTransitions } from './instance-transitions.js';
import { InstancesService } from './instances.service.js';
import { LogReader } from './log-reader.js';
import { Reconcilers } from './reconcilers.js';
import { Scaler } from './scaler.js';
import { Secrets } from './secrets.js';
import { SpecCheck } from './spec-check.js';
import { StartedInstances } from './started-instances.js';
import { TargetCatalog } from './target-catalog.js';
import { TargetConditions } from './target-conditions.js';
import { TargetsController } from './targets.controller.js';
import { TargetDevices } from './target-devices.js';
import { TenantAccess } from './tenant-access.js';
import { TargetsService } from './targets.service.js';

/** Global, because other areas build on its port. The reconcilers start by themselves in a process that runs operations. */
@Global()
@Module({
  controllers: [TargetsController, DeploymentInstancesController],
  providers: [
    TargetCatalog,
    AdoptedModels,
    DeploymentInstancesService,
    EngineKeys,
    Installation,
    LogReader,
    InstancesService,
    { provide: INSTANCES, useExisting: InstancesService },
    DeviceAssignments,
    InstanceTransitions,
    InstanceKeeper,
    InstanceRoom,
    Reconcilers,
    Scaler,
    Secrets,
    SpecCheck,
    StartedInstances,
    TenantAccess,
    TargetConditions,
    TargetDevices,
    TargetsService,
  ],
  exports: [INSTANCES, Reconcilers],
})
export class InstancesModule {}
