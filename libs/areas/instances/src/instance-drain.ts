import { inFlight, inFlightOfInstances } from '@slipway/dataplane';
import type { Database } from '@slipway/platform-database';
import type { InstanceRow, WorkloadRow } from './instance.query.js';

/** Time for gateways to hear that an instance is going, and to report what they still have in flight to it. */
const DRAIN_MIN_SECONDS = 0.6;
const DRAIN_MAX_SECONDS = 30;
/** Where others of the revision go on, nobody waits for the room: gateways tell what they still have in flight to the one that goes. */
const LEAVE_MIN_SECONDS = 2;
const LEAVE_MAX_SECONDS = 600;

/** Whether requests may still be in flight to an instance that takes no new ones. Only one that gateways knew can have any. */
export async function isDraining(database: Database, workload: WorkloadRow, instance: InstanceRow): Promise<boolean> {
  if (instance.base_url === null) return false;
  const isOneOfMany = workload.is_held && workload.suspended_by === null;
  const [least, most] = isOneOfMany ? [LEAVE_MIN_SECONDS, LEAVE_MAX_SECONDS] : [DRAIN_MIN_SECONDS, DRAIN_MAX_SECONDS];
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
