import { Logger } from '@nestjs/common';
import type { Device } from '@slipway/contracts';
import type { Database, Tx } from '@slipway/platform-database';
import {
  END_DEVICE_CLAIMS,
  FORGET_DEVICES,
  HAS_ENDING_DEVICE_CLAIMS,
  LOCK_DEVICES,
  RECORD_DEVICE_CHECK,
  MARK_STUCK_DEVICES,
  RECORD_DEVICE_PEAKS,
  RELEASE_DEVICE_CLAIMS,
  RECORD_DEVICES,
} from './device.query.js';
import { TroubleLog } from '../catalog/repeated-check.js';
import type { Target } from '../catalog/target-catalog.js';
import type { TargetLeadership } from '../catalog/target-leadership.js';
import type { InstanceTimings } from '../catalog/timings.js';

const MAX_PROBLEM = 500;

type DeviceReport = { devices: Device[]; problem?: string };

/**
 * Records the accelerators of a target's host in the tables, and releases the claims of instances that have ended. The
 * worker that leads the target checks them concurrently with the passes of the reconciler. So a host whose tools hang
 * stops nothing else.
 */
export class DeviceWatch {
  private readonly trouble: TroubleLog;
  private loop?: Promise<void>;
  private isStopping = false;
  private wake = (): void => undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly target: Target,
    private readonly leadership: TargetLeadership,
    private readonly database: Database,
    /** Called after each check, because devices may have become free. */
    private readonly onLooked: () => void,
    private readonly timings: Pick<InstanceTimings, 'busyDeviceCheckMs' | 'quietDeviceCheckMs'>,
  ) {
    this.trouble = new TroubleLog(target, new Logger('devices'));
  }

  start(): void {
    if (this.target.driver.devices) this.loop = this.run();
  }

  /** Does not wait for a check that hangs: its result is discarded. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.wake();
    await this.loop;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      await this.look().catch((error: unknown) => this.trouble.tell(error));
      await this.pause(this.timings.busyDeviceCheckMs);
    }
  }

  private async look(): Promise<void> {
    const { driver, config } = this.target;
    if (!this.leadership.leads || !driver.devices) {
      this.lookedAt = Number.NEGATIVE_INFINITY;
      return;
    }
    const isQuiet = performance.now() - this.lookedAt < this.timings.quietDeviceCheckMs;
    if (isQuiet && !(await this.hasEnding(config.name))) return;
    const at = await this.database.tx('system', (tx) => tx.now());
    const found = await Promise.race([driver.devices(), this.stopped()]);
    if (!found || this.isStopping) return;
    if (found.problem !== undefined) this.trouble.tell(found.problem);
    else this.trouble.isOver();
    await this.database.tx('system', (tx) => this.record(tx, config.name, found, at));
    this.lookedAt = performance.now();
    this.onLooked();
  }

  private async hasEnding(target: string): Promise<boolean> {
    const [row] = await this.database.read<{ has_ending: boolean }>('system', HAS_ENDING_DEVICE_CLAIMS, [target]);
    return row?.has_ending === true;
  }

  private async record(tx: Tx, target: string, { devices, problem }: DeviceReport, at: Date): Promise<void> {
    await tx.query(LOCK_DEVICES, [target]);
    await tx.query(RECORD_DEVICE_CHECK, [target, at, problem?.slice(0, MAX_PROBLEM) ?? null]);
    await tx.query(RECORD_DEVICES, [target, JSON.stringify(devices), at]);
    // An incomplete check does not prove that a device is gone.
    if (problem === undefined) await tx.query(FORGET_DEVICES, [target, devices.map(({ uuid }) => uuid)]);
    await tx.query(RECORD_DEVICE_PEAKS, [target]);
    await tx.query(END_DEVICE_CLAIMS, [target, null]);
    await tx.query(RELEASE_DEVICE_CLAIMS, [target]);
    await tx.query(MARK_STUCK_DEVICES, [target]);
  }

  private stopped(): Promise<undefined> {
    return new Promise((resolve) => {
      this.wake = () => resolve(undefined);
      if (this.isStopping) resolve(undefined);
    });
  }

  private async pause(ms: number): Promise<void> {
    if (this.isStopping) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
