import { Global, Module } from '@nestjs/common';
import { INSTANCES } from '@slipway/ports/instances';
import { AdoptedModels } from './access/adopted-models.js';
import { BackendPublisher } from './backends/backend-publisher.js';
import { TargetCatalogModule } from './catalog/target-catalog.module.js';
import { DeviceAssignments } from './devices/device-assignments.js';
import { DeploymentInstancesController } from './deployment-instances/deployment-instances.controller.js';
import { DeploymentInstancesService } from './deployment-instances/deployment-instances.service.js';
import { EngineKeys } from './access/engine-keys.js';
import { InstanceKeeper } from './lifecycle/instance-keeper.js';
import { InstanceCapacity } from './scaling/instance-capacity.js';
import { InstanceTransitions } from './lifecycle/instance-transitions.js';
import { InstancesService } from './instances.service.js';
import { InstanceLogsController } from './logs/instance-logs.controller.js';
import { InstanceLogsService } from './logs/instance-logs.service.js';
import { LogReader } from './logs/log-reader.js';
import { Reconcilers } from './lifecycle/reconcilers.js';
import { WorkloadHistory } from './lifecycle/workload-history.js';
import { Scaler } from './scaling/scaler.js';
import { RefusedRequests } from './access/refused-requests.js';
import { AdoptedNames } from './access/adopted-names.js';
import { InstanceMetrics } from './workloads/instance-metrics.js';
import { Secrets, SpecCheck, TenantAccess } from './access/tenant-access.js';
import { StartedInstances } from './access/started-instances.js';
import { UnreachableUnits } from './lifecycle/unreachable-units.js';
import { TargetsModule } from './targets/targets.module.js';

/** Global, because other areas use its port. The reconcilers start on their own in a process that runs operations. */
@Global()
@Module({
  imports: [TargetCatalogModule, TargetsModule],
  controllers: [DeploymentInstancesController, InstanceLogsController],
  providers: [
    AdoptedModels,
    DeploymentInstancesService,
    EngineKeys,
    InstanceLogsService,
    LogReader,
    InstancesService,
    { provide: INSTANCES, useExisting: InstancesService },
    BackendPublisher,
    DeviceAssignments,
    InstanceTransitions,
    InstanceKeeper,
    InstanceMetrics,
    InstanceCapacity,
    Reconcilers,
    RefusedRequests,
    Scaler,
    Secrets,
    AdoptedNames,
    SpecCheck,
    StartedInstances,
    TenantAccess,
    UnreachableUnits,
    WorkloadHistory,
  ],
  exports: [INSTANCES, Reconcilers],
})
export class InstancesModule {}
