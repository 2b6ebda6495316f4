import { inFlight, inFlightOfInstances } from '@slipway/dataplane';
import type { Database } from '@slipway/platform-database';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import type { Timings } from '../catalog/timings.js';

/** Whether requests may still be in flight to an instance that takes no new ones. Only one that gateways knew can have any. */
export async function isDraining(
  database: Database,
  workload: WorkloadRow,
  instance: InstanceRow,
  timings: Timings,
): Promise<boolean> {
  if (instance.base_url === null) return false;
  const isOneOfMany = workload.is_held && workload.suspended_by === null;
  const [least, most] = isOneOfMany
    ? [timings.leaveMinSeconds, timings.leaveMaxSeconds]
    : [timings.drainMinSeconds, timings.drainMaxSeconds];
  if (instance.state_age >= most) return false;
  if (instance.state_age < least) return true;
  const { id } = instance;
  const { revision_id } = workload;
  return database.tx('system', async (tx) => {
    // What stops as a whole is counted by revision.
    if (!isOneOfMany) return (await inFlight(tx, revision_id)) > 0;
    return (await inFlightOfInstances(tx, [{ id, revision_id }])).get(id) !== 0;
  });
}
