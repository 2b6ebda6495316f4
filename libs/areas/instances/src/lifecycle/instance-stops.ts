import { drainCountsOf, gatewaysBehind, type DrainCounts } from '@slipway/dataplane';
import type { Database } from '@slipway/platform-database';
import type { TargetDriver } from '@slipway/target-driver';
import type { InstanceTimings } from '../catalog/timings.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import type { InstanceChange, InstanceTransitions } from './instance-transitions.js';
import { NO_FAILURE } from './failed-starts.js';
import { UNSEEN } from './server-observations.js';

const BUSY_CHECK_MS = 150;
/** A long drain is checked less often. */
const DRAIN_CHECK_MS = 1_000;
const LONG_DRAIN_SECONDS = 10;
/**
 * Between two checks whether a stop has finished on a target that reports changes. Each check is a request to the
 * target.
 */
const TERMINATE_CHECK_MS = 1_000;
/**
 * How long a live gateway may take to follow a route. It also limits the drain of an instance that a worker of the
 * previous release has withdrawn.
 */
const FOLLOW_SECONDS = 30;
/**
 * After Postgres was away, all counts are old, until the gateways have reported again. So a count of a gateway without a
 * recent report is ignored only after this process has seen it for a while.
 */
const LOST_MS = 3_000;

/** The failure of the last start stays, so that users can still read it. */
export const STOPPED: InstanceChange = {
  ...UNSEEN,
  state: 'stopped',
  baseUrl: null,
  message: null,
  crashStreak: 0,
  keyId: null,
  progress: null,
};

/**
 * Stops an instance that is no longer wanted, once no request is in flight to it or its time for that is over. The time
 * is in its row, so another worker continues a drain. Each method returns the milliseconds until the next check.
 */
export class InstanceStops {
  /** When this process first saw that only lost gateways have requests in flight, by instance. */
  private readonly lostSince = new Map<string, number>();

  constructor(
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
    private readonly timings: InstanceTimings,
  ) {}

  /** Another drain of the instance begins. */
  forget(instanceId: string): void {
    this.lostSince.delete(instanceId);
  }

  async terminate(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    if (!driver.adopts && (await this.isDraining(workload, instance)))
      return instance.state_age_seconds < LONG_DRAIN_SECONDS ? BUSY_CHECK_MS : DRAIN_CHECK_MS;
    return this.stop(driver, workload, instance);
  }

  async stop(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    this.lostSince.delete(instance.id);
    if ((await this.end(driver, workload, instance)) !== 'gone')
      return driver.onChange ? TERMINATE_CHECK_MS : BUSY_CHECK_MS;
    await this.transitions.change(workload, instance, isReplaced(workload, instance) ? replaced(instance) : STOPPED);
    return BUSY_CHECK_MS;
  }

  /**
   * While the driver cannot see where the unit is, the instance counts as running, and its row shows what a deletion
   * waits for. Only the operator sees why, in the log and in the conditions of the target.
   */
  private async end(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<'stopping' | 'gone'> {
    try {
      return await driver.terminate(instance.id, instance.made_at ?? []);
    } catch (error) {
      if (instance.reason !== 'target_unavailable')
        await this.transitions.change(workload, instance, {
          state: 'stopping',
          message: 'its target does not report whether it has ended',
          reason: 'target_unavailable',
        });
      throw error;
    }
  }

  /**
   * Whether an instance that takes no new requests waits for those in flight. Only an instance that was published can
   * have any.
   */
  private async isDraining(workload: WorkloadRow, instance: InstanceRow): Promise<boolean> {
    if (instance.base_url === null) return false;
    const { id, state_age_seconds: age, drain_left_seconds: left } = instance;
    const isOneOfMany = workload.is_retained && workload.suspended_by === null;
    if (age < (isOneOfMany ? this.timings.leaveMinSeconds : this.timings.drainMinSeconds)) return true;
    if ((left ?? FOLLOW_SECONDS - age) <= 0) return false;
    const { counts, behind } = await this.database.tx('system', async (tx) => {
      const { revision_id } = workload;
      const found = (await drainCountsOf(tx, [{ id, revision_id }])).get(id) as DrainCounts;
      // A gateway that serves an older route may start a request on the revision at any moment.
      const mayBeBehind = !isOneOfMany && age < FOLLOW_SECONDS && found.in_flight === 0;
      return { counts: found, behind: mayBeBehind ? await gatewaysBehind(tx, revision_id) : 0 };
    });
    const abandons = instance.abandons_silent || workload.abandons_silent;
    if (waitedFor(counts, abandons) > 0 || behind > 0) {
      this.lostSince.delete(id);
      return true;
    }
    return counts.lost > 0 && this.isNewlyLost(id);
  }

  private isNewlyLost(id: string): boolean {
    const since = this.lostSince.get(id) ?? performance.now();
    this.lostSince.set(id, since);
    return performance.now() - since < LOST_MS;
  }
}

/** Whether it starts again after its stop. In the meantime its workload may have been released. */
function isReplaced({ is_retained, suspended_by, replicas }: WorkloadRow, instance: InstanceRow): boolean {
  const isToRun = is_retained && suspended_by === null && instance.ordinal < replicas;
  return isToRun && instance.replace_drain_seconds !== null;
}

/** The next generation starts at once, and keeps the capacity and the devices of the one before. */
const replaced = ({ generation }: InstanceRow): InstanceChange => ({
  ...STOPPED,
  ...NO_FAILURE,
  state: 'backing_off',
  generation: generation + 1,
  backOffSeconds: 0,
});

/** Returns the number of requests that a drain waits for. */
export function waitedFor(counts: Pick<DrainCounts, 'in_flight' | 'silent'>, abandonsSilent: boolean): number {
  return Math.max(0, counts.in_flight - (abandonsSilent ? counts.silent : 0));
}
