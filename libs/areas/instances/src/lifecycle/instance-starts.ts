import { Logger } from '@nestjs/common';
import { OBSERVATION_REASONS, type ObservationReason } from '@slipway/contracts';
import type { Database } from '@slipway/platform-database';
import type { TargetDriver, UnitLocation } from '@slipway/target-driver';
import type { DeviceAssignments } from '../devices/device-assignments.js';
import type { EngineKeys } from '../access/engine-keys.js';
import { restartBackOff, failedStart } from './failed-starts.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import { placeholderSecrets, specOfInstance } from '../catalog/target-catalog.js';
import { locationsWith } from '../workloads/unit-locations.js';
import type { InstanceTransitions } from './instance-transitions.js';
import type { TenantAccess } from '../access/tenant-access.js';

const CHECK_MS = 150;
const UNAVAILABLE = 'target_unavailable';
const AWAY = 'waiting for its target, which is not available';

/** Starts a generation through its driver, and records the result. */
export class InstanceStarts {
  private readonly logger = new Logger('targets');

  constructor(
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
    private readonly access: TenantAccess,
    private readonly devices: DeviceAssignments,
    private readonly keys: EngineKeys,
    private readonly awayRetryMs: number,
  ) {}

  /**
   * Returns the locations of the instance with that of a unit that is made now. They are stored before the driver makes
   * it, so a unit is known even if this process is killed in between. Undefined if the driver has none at the moment.
   */
  locations(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): UnitLocation[] | undefined {
    try {
      const location = driver.locationOf?.(specOfInstance(workload, instance, placeholderSecrets));
      return location && locationsWith(instance.made_at, location);
    } catch {
      // The start reports why.
      return undefined;
    }
  }

  /**
   * Starts the instance. An exception does not show whether it started, so the generation stays the same: the driver
   * starts it at most once.
   * @returns the milliseconds until the next check
   */
  async provision(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const madeAt = this.locations(driver, workload, instance);
    if (madeAt && madeAt !== instance.made_at) {
      // The configuration has changed since the row was written.
      await this.transitions.change(workload, instance, { state: instance.state, madeAt });
      return 0;
    }
    try {
      this.access.assertMayStart(driver.name, workload);
      const secrets = this.access.secretsOf(workload, driver);
      const spec = { ...specOfInstance(workload, instance, secrets), ...this.keys.of(instance) };
      const devices = driver.devices ? await this.devicesOf(instance) : [];
      await driver.provision(devices.length > 0 ? { ...spec, devices } : spec);
    } catch (error) {
      const reason = reasonOf(error);
      const isAway = reason === UNAVAILABLE || driver.health?.().state === 'degraded';
      if (isAway) await this.wait(workload, instance, textOf(error));
      else await this.fail(workload, instance, `it could not be started: ${textOf(error)}`, reason);
      return isAway ? this.awayRetryMs : CHECK_MS;
    }
    return CHECK_MS;
  }

  /**
   * The whole target does not work, which is not the fault of this instance. Only the operator sees what the target
   * lacks.
   */
  private async wait(workload: WorkloadRow, instance: InstanceRow, problem: string): Promise<void> {
    if (instance.message === AWAY && instance.reason === UNAVAILABLE) return;
    this.logger.warn(`${instance.id} of ${workload.revision_name} is waiting for its target: ${problem}`);
    await this.transitions.change(workload, instance, { state: 'starting', message: AWAY, reason: UNAVAILABLE });
  }

  private async fail(
    workload: WorkloadRow,
    instance: InstanceRow,
    message: string,
    reason: ObservationReason,
  ): Promise<void> {
    this.logger.warn(`${instance.id} of ${workload.revision_name}: ${message}`);
    const { streak, seconds } = restartBackOff(instance.crash_streak, null);
    await this.transitions.change(workload, instance, {
      state: 'backing_off',
      message,
      reason,
      ...failedStart(instance, { state: 'exited', reason, message }, false),
      crashStreak: streak,
      backOffSeconds: seconds,
    });
  }

  private devicesOf(instance: InstanceRow) {
    return this.database.tx('system', (tx) => this.devices.devicesOf(tx, instance));
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Returns the reason in the driver's error if it is one of the known reasons. Other reasons appear only in the message.
 */
function reasonOf(error: unknown): ObservationReason {
  const { reason } = Object(error) as { reason?: unknown };
  return OBSERVATION_REASONS.find((known) => known === reason) ?? 'start_failed';
}
