import { Logger } from '@nestjs/common';
import { CAPACITY_REASONS, FIXABLE_REASONS, OBSERVATION_REASONS, type ObservationReason } from '@slipway/contracts';
import type { Database } from '@slipway/platform-database';
import { awayText, type TargetDriver, type UnitLocation } from '@slipway/target-driver';
import type { DeviceAssignments } from '../devices/device-assignments.js';
import type { EngineKeys } from '../access/engine-keys.js';
import { restartBackOff, failedStart } from './failed-starts.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import { placeholderSecrets, specOfInstance } from '../catalog/target-catalog.js';
import { locationsWith } from '../workloads/unit-locations.js';
import { storableText } from '../workloads/stored-text.js';
import type { InstanceTransitions } from './instance-transitions.js';
import type { TenantAccess } from '../access/tenant-access.js';

const CHECK_MS = 150;
const UNAVAILABLE = 'target_unavailable';

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
      const isRefused = CAPACITY_REASONS.has(reason) || FIXABLE_REASONS.has(reason);
      const isAway = reason === UNAVAILABLE || driver.health?.().state === 'degraded';
      if (isRefused) await this.wait(workload, instance, reason, wordsOf(error), textOf(error));
      else if (isAway) await this.wait(workload, instance, UNAVAILABLE, awayText(shownIn(error)), textOf(error));
      else await this.fail(workload, instance, `it could not be started: ${textOf(error)}`, reason);
      return isRefused || isAway ? this.awayRetryMs : CHECK_MS;
    }
    return CHECK_MS;
  }

  /**
   * The whole target does not work, or it refuses the instance for a reason that may end without another start. So the
   * generation stays the same. Only the operator sees everything that the target lacks.
   */
  private async wait(
    workload: WorkloadRow,
    instance: InstanceRow,
    reason: ObservationReason,
    words: string,
    problem: string,
  ): Promise<void> {
    const message = storableText(words);
    if (instance.message === message && instance.reason === reason) return;
    this.logger.warn(`${instance.id} of ${workload.revision_name} is waiting for its target: ${problem}`);
    await this.transitions.change(workload, instance, { state: 'starting', message, reason });
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

/** Returns the words that a tenant may read. */
function shownIn(error: unknown): string | undefined {
  const { shown } = Object(error) as { shown?: unknown };
  return typeof shown === 'string' ? shown : undefined;
}

/** Returns the target's own words, which the observation of a waiting start repeats. */
function wordsOf(error: unknown): string {
  return shownIn(error) ?? textOf(error);
}

/**
 * Returns the reason in the driver's error if it is one of the known reasons. Other reasons appear only in the message.
 */
function reasonOf(error: unknown): ObservationReason {
  const { reason } = Object(error) as { reason?: unknown };
  return OBSERVATION_REASONS.find((known) => known === reason) ?? 'start_failed';
}
