import { Global, Module } from '@nestjs/common';
import { INSTANCES } from '@slipway/ports/instances';
import { AdoptedModels } from './access/adopted-models.js';
import { DeviceAssignments } from './devices/device-assignments.js';
import { DeploymentInstancesController } from './deployment-instances/deployment-instances.controller.js';
import { DeploymentInstancesService } from './deployment-instances/deployment-instances.service.js';
import { EngineKeys } from './access/engine-keys.js';
import { Installation } from './catalog/installation.js';
import { InstanceKeeper } from './lifecycle/instance-keeper.js';
import { InstanceRoom } from './scaling/instance-room.js';
import { InstanceTransitions } from './lifecycle/instance-transitions.js';
import { InstancesService } from './instances.service.js';
import { LogReader } from './logs/log-reader.js';
import { Reconcilers } from './lifecycle/reconcilers.js';
import { Scaler } from './scaling/scaler.js';
import { Secrets } from './access/secrets.js';
import { SpecCheck } from './access/spec-check.js';
import { StartedInstances } from './access/started-instances.js';
import { TargetCatalog } from './catalog/target-catalog.js';
import { TargetConditions } from './targets/target-conditions.js';
import { TargetsController } from './targets/targets.controller.js';
import { TargetDevices } from './targets/target-devices.js';
import { TenantAccess } from './access/tenant-access.js';
import { TargetsService } from './targets/targets.service.js';

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
