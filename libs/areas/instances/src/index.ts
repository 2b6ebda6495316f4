import type { KeyUse } from '@slipway/platform-database';
import { Devices1700000000408 } from './migrations/1700000000408-devices.js';
import { Installation1700000000430 } from './migrations/1700000000430-installation.js';
import { InstanceModels1700000000412 } from './migrations/1700000000412-instance-models.js';
import { InstanceObservations1700000000404 } from './migrations/1700000000404-instance-observations.js';
import { FailedStarts1700000000436 } from './migrations/1700000000436-failed-starts.js';
import { LogReadings1700000000409 } from './migrations/1700000000409-log-readings.js';
import { InstanceStarts1700000000406 } from './migrations/1700000000406-instance-starts.js';
import { WorkloadsOfTenant1700000000405 } from './migrations/1700000000405-workloads-of-tenant.js';
import { Preparations1700000000410 } from './migrations/1700000000410-preparations.js';
import { WorkloadSuspension1700000000407 } from './migrations/1700000000407-workload-suspension.js';
import { Workloads1700000000400 } from './migrations/1700000000400-workloads.js';
import { WorkloadHolds1700000000401 } from './migrations/1700000000401-workload-holds.js';
import { WorkloadWaiters1700000000402 } from './migrations/1700000000402-workload-waiters.js';
import { Instances1700000000403 } from './migrations/1700000000403-instances.js';
import { InstanceDrift1700000000432 } from './migrations/1700000000432-instance-drift.js';
import { InstanceDrains1700000000440 } from './migrations/1700000000440-instance-drains.js';
import { InstanceReplacements1700000000442 } from './migrations/1700000000442-instance-replacements.js';
import { DoubtedInstances1700000000443 } from './migrations/1700000000443-doubted-instances.js';
import { ReportedFaults1700000000433 } from './migrations/1700000000433-reported-faults.js';
import { TargetHealth1700000000431 } from './migrations/1700000000431-target-health.js';
import { EngineLoads1700000000421 } from './migrations/1700000000421-engine-loads.js';
import { WorkloadScalings1700000000420 } from './migrations/1700000000420-workload-scalings.js';
import { UnitLocations1700000000450 } from './migrations/1700000000450-unit-locations.js';
import { StoredWorkloads1700000000441 } from './migrations/1700000000441-stored-workloads.js';

export { InstancesModule } from './instances.module.js';
export { Scaler } from './scaling/scaler.js';
export { Reconcilers } from './lifecycle/reconcilers.js';

/** Engines that run with a key of the key ring. Each gets another key at its next start. */
export const keyUses: KeyUse[] = [{ noun: 'engines', table: 'instances', column: 'key_id' }];

export const migrations = [
  Workloads1700000000400,
  WorkloadHolds1700000000401,
  WorkloadWaiters1700000000402,
  Instances1700000000403,
  InstanceObservations1700000000404,
  WorkloadsOfTenant1700000000405,
  InstanceStarts1700000000406,
  WorkloadSuspension1700000000407,
  Devices1700000000408,
  LogReadings1700000000409,
  Preparations1700000000410,
  InstanceModels1700000000412,
  WorkloadScalings1700000000420,
  EngineLoads1700000000421,
  Installation1700000000430,
  TargetHealth1700000000431,
  InstanceDrift1700000000432,
  ReportedFaults1700000000433,
  FailedStarts1700000000436,
  InstanceDrains1700000000440,
  StoredWorkloads1700000000441,
  InstanceReplacements1700000000442,
  DoubtedInstances1700000000443,
  UnitLocations1700000000450,
];
