import { InstanceObservations1700000000404 } from './migrations/1700000000404-instance-observations.js';
import { Workloads1700000000400 } from './migrations/1700000000400-workloads.js';
import { WorkloadHolds1700000000401 } from './migrations/1700000000401-workload-holds.js';
import { WorkloadWaiters1700000000402 } from './migrations/1700000000402-workload-waiters.js';
import { Instances1700000000403 } from './migrations/1700000000403-instances.js';

export { InstancesModule } from './instances.module.js';
export { Reconcilers } from './reconcilers.js';

export const migrations = [
  Workloads1700000000400,
  WorkloadHolds1700000000401,
  WorkloadWaiters1700000000402,
  Instances1700000000403,
  InstanceObservations1700000000404,
];
