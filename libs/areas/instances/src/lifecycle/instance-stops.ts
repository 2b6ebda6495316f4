import { inFlight, inFlightOfInstances } from '@slipway/dataplane';
import type { Database } from '@slipway/platform-database';
import type { TargetDriver } from '@slipway/target-driver';
import type { InstanceTimings } from '../catalog/timings.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import type { InstanceChange, InstanceTransitions } from './instance-transitions.js';
import { UNSEEN } from './server-observations.js';

const BUSY_CHECK_MS = 150;
/**
 * Between two checks whether a stop has finished on a target that reports changes. Each check is a request to the
 * target.
 */
const TERMINATE_CHECK_MS = 1_000;

/** The failure of the last start stays, so that users can still read it. */
const STOPPED: InstanceChange = {
  ...UNSEEN,
  state: 'stopped',
  baseUrl: null,
  message: null,
  crashStreak: 0,
  keyId: null,
  progress: null,
};

/**
 * Stops an instance that is no longer wanted, once no request is in flight to it. Each method returns the milliseconds
 * until the next check.
 */
export class InstanceStops {
  constructor(
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
    private readonly timings: InstanceTimings,
  ) {}

  async terminate(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const isInUse = !driver.adopts && (await isDraining(this.database, workload, instance, this.timings));
    if (isInUse) return BUSY_CHECK_MS;
    return this.stop(driver, workload, instance);
  }

  async stop(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    if ((await driver.terminate(instance.id)) !== 'gone') return driver.onChange ? TERMINATE_CHECK_MS : BUSY_CHECK_MS;
    await this.transitions.change(workload, instance, STOPPED);
    return BUSY_CHECK_MS;
  }
}

/**
 * Whether requests may still be in flight to an instance that takes no new ones. Only an instance that was published
 * can have any.
 */
async function isDraining(
  database: Database,
  workload: WorkloadRow,
  instance: InstanceRow,
  timings: InstanceTimings,
): Promise<boolean> {
  if (instance.base_url === null) return false;
  const isOneOfMany = workload.is_retained && workload.suspended_by === null;
  const [least, most] = isOneOfMany
    ? [timings.leaveMinSeconds, timings.leaveMaxSeconds]
    : [timings.drainMinSeconds, timings.drainMaxSeconds];
  if (instance.state_age_seconds >= most) return false;
  if (instance.state_age_seconds < least) return true;
  const { id } = instance;
  const { revision_id } = workload;
  return database.tx('system', async (tx) => {
    // If the entire revision stops, its requests are counted by revision.
    if (!isOneOfMany) return (await inFlight(tx, revision_id)) > 0;
    return (await inFlightOfInstances(tx, [{ id, revision_id }])).get(id) !== 0;
  });
}
