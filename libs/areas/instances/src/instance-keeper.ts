import { isDeepStrictEqual } from 'node:util';
import { Injectable, Logger } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import type { InstanceSpec, Observation, TargetDriver } from '@slipway/target-driver';
import { DeviceAssignments } from './device-assignments.js';
import { EngineKeys } from './engine-keys.js';
import { failedStart, NO_FAILURE } from './failed-starts.js';
import { isDraining } from './instance-drain.js';
import { InstanceEnds } from './instance-ends.js';
import { instanceLeaves, instanceReady } from './instance.events.js';
import type { InstanceRow, WorkloadRow } from './instance.query.js';
import { placeholderSecrets, probeOf, specOfInstance, type SecretReader } from './instance-spec.js';
import { InstanceTransitions, type InstanceChange } from './instance-transitions.js';
import type { Task, TaskKind } from './pass-plan.js';
import { backOff } from './restart-backoff.js';
import { Scaler } from './scaler.js';
import { AccessRefused } from './secrets.js';
import { asSeen, isAnotherLife, isNews, UNSEEN } from './server-life.js';
import { TakeoverPatience } from './takeover-patience.js';
import { TenantAccess } from './tenant-access.js';
import { UnhealthyNews } from './unhealthy-news.js';

/** Pace of looks while something is on its way: a start is seen ready within a fifth of a second. */
const BUSY_LOOK_MS = 150;
/** Between two questions whether devices have become free: each asks for their lock. */
const DEVICE_LOOK_MS = 300;
const UNHEALTHY_LOOK_MS = 1_000;
/** A download goes on all the time, and each word of it is a write. */
const PROGRESS_SECONDS = 1;

type Doing = (driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow) => Promise<number>;

/**
 * Does for one instance what the plan says. Every method may be cut off at any line and be repeated by another worker: the
 * row is written before the driver is called, and the driver's calls are repeatable. Returns the milliseconds until the
 * next look, 0 if the row was changed.
 */
@Injectable()
export class InstanceKeeper {
  private readonly logger = new Logger('targets');
  private readonly patience = new TakeoverPatience();
  private readonly unhealthyNews = new UnhealthyNews();
  private readonly doings: Record<TaskKind, Doing>;
  private readonly ends: InstanceEnds;

  constructor(
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
    private readonly access: TenantAccess,
    private readonly devices: DeviceAssignments,
    private readonly keys: EngineKeys,
    private readonly scaler: Scaler,
  ) {
    this.ends = new InstanceEnds(database, transitions);
    this.doings = {
      start: (...about) => this.start(...about),
      queue: (...about) => this.queue(...about),
      look: (...about) => this.look(...about),
      withdraw: (...about) => this.withdraw(...about),
      terminate: (...about) => this.terminate(...about),
      reclaim: (...about) => this.reclaim(...about),
      revive: (...about) => this.revive(...about),
      judge: (_driver, workload) => this.judge(workload),
    };
  }

  perform({ kind, workload, instance }: Task, driver: TargetDriver): Promise<number> {
    return this.doings[kind](driver, workload, instance);
  }

  private async start(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const next = await this.transitions.change(workload, instance, {
      ...UNSEEN,
      state: 'starting',
      message: null,
      needsDevices: true,
      progress: null,
      isStart: true,
      keyId: this.keys.idFor(driver, workload.spec),
    });
    const isStarting = next?.state === 'starting';
    if (isStarting) await this.provision(driver, workload, next);
    return isStarting ? BUSY_LOOK_MS : DEVICE_LOOK_MS;
  }

  /** An exception says nothing about whether it started, so the generation stays: the driver starts it at most once. */
  private async provision(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<void> {
    try {
      this.access.assertMayStart(driver.name, workload);
      const spec = this.specOf(workload, instance, this.access.secretsOf(workload));
      const devices = driver.devices ? await this.devicesOf(instance) : [];
      await driver.provision(devices.length > 0 ? { ...spec, devices } : spec);
    } catch (error) {
      const message = `it could not be started: ${reasonOf(error)}`;
      this.logger.warn(`${instance.id} of ${workload.revision_name}: ${message}`);
      const { streak, seconds } = backOff(instance.crash_streak, null);
      await this.transitions.change(workload, instance, {
        state: 'backing_off',
        message,
        reason: 'start_failed',
        ...failedStart(instance, { state: 'exited', reason: 'start_failed', message }, false),
        crashStreak: streak,
        backOffSeconds: seconds,
      });
    }
  }

  private devicesOf(instance: InstanceRow) {
    return this.database.tx('system', (tx) => this.devices.devicesOf(tx, instance));
  }

  private async queue(_driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const message = `waits for a free place on target ${workload.spec.runtime.target}`;
    const reason = 'waiting_for_place';
    if (instance.message !== message || instance.reason !== reason)
      await this.transitions.change(workload, instance, { state: 'pending', message, reason });
    return BUSY_LOOK_MS;
  }

  private async look(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    if (this.keys.isLost(instance.key_id)) return this.ends.keyLost(workload, instance);
    const seen = await this.observe(driver, workload, instance);
    if (driver.restarts === 'target' && isAnotherLife(instance, seen))
      return this.ends.restarted(workload, instance, seen);
    switch (seen.state) {
      case 'ready':
        return this.seenReady(workload, instance, seen);
      case 'unhealthy':
        return this.seenUnhealthy(driver, workload, instance, seen);
      case 'exited':
        return this.ends.crashed(workload, instance, seen);
      case 'absent':
        if (instance.state !== 'starting')
          return this.ends.crashed(workload, instance, { ...seen, reason: 'lost', message: 'nothing is left of it' });
        await this.provision(driver, workload, instance);
        return BUSY_LOOK_MS;
      case 'stopping':
        if (instance.state === 'ready')
          await this.leaveReady(workload, instance, { ...seen, message: 'it is being stopped' });
        return BUSY_LOOK_MS;
      default:
        return this.seenStarting(driver, workload, instance, seen);
    }
  }

  private async seenReady(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<number> {
    const intervalMs = probeOf(workload.spec).intervalSeconds * 1_000;
    this.patience.noteReady(instance.id, instance.generation);
    const isToNote = seen.isModelSeen && !instance.model_seen;
    if (instance.state === 'ready' && instance.base_url === seen.baseUrl && !isToNote) return intervalMs;
    const event = instance.state === 'ready' ? undefined : instanceReady(workload, instance);
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      state: 'ready',
      baseUrl: seen.baseUrl ?? null,
      message: seen.message ?? null,
      isModelSeen: seen.isModelSeen,
      ...NO_FAILURE,
      event,
    });
    return 0;
  }

  /**
   * What is seen of a starting instance is worth showing. Of a ready one it may be said by a newly started worker that has not
   * probed yet; a target that probes by itself says it of a server that has ended and waits for its next start.
   */
  private async seenStarting(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    seen: Observation,
  ): Promise<number> {
    if (instance.state === 'ready' && driver.probes === 'target') {
      await this.leaveReady(workload, instance, seen);
      return 0;
    }
    if (instance.state !== 'starting') return UNHEALTHY_LOOK_MS;
    const next = { ...asSeen(instance, seen), message: seen.message ?? null };
    const progress = seen.progress ?? null;
    const isFurther = instance.observed_age >= PROGRESS_SECONDS && !isDeepStrictEqual(progress, instance.progress);
    if (isFurther || isNews(instance, next))
      await this.transitions.change(workload, instance, { ...next, progress, state: 'starting' });
    return BUSY_LOOK_MS;
  }

  /**
   * Out of the gateways' sight at once, restarted when it stays so for as many probes again as it took to be called
   * unhealthy: a long garbage collection is no crash. A server that was adopted is nobody's to restart, and one that its target
   * restarts is the target's.
   */
  private async seenUnhealthy(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    seen: Observation,
  ): Promise<number> {
    const { intervalSeconds, failureThreshold } = probeOf(workload.spec);
    const lookMs = Math.min(UNHEALTHY_LOOK_MS, intervalSeconds * 1_000);
    const isOursToRestart = !driver.adopts && driver.restarts === 'caller';
    if (instance.state === 'starting' && isOursToRestart) return this.ends.crashed(workload, instance, seen);
    const isBorne = () => this.patience.bears(instance.id, instance.generation, failureThreshold, seen.reason);
    if (instance.state === 'ready' && driver.probes === 'look' && isBorne()) return lookMs;
    if (instance.state !== 'unhealthy' || this.unhealthyNews.isDue(instance, seen)) {
      await this.leaveReady(workload, instance, seen);
      return 0;
    }
    const isOver = instance.state_age >= intervalSeconds * failureThreshold;
    return isOver && isOursToRestart ? this.ends.crashed(workload, instance, seen) : lookMs;
  }

  private async leaveReady(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<void> {
    const event = instanceLeaves(workload, instance, seen);
    const message = seen.message ?? null;
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      state: 'unhealthy',
      message,
      event,
    });
  }

  private async withdraw(_driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    // An instance beyond the wanted number goes although the workload is held.
    this.patience.forget(instance.id);
    this.unhealthyNews.forget(instance.id);
    const onlyIfReleased = instance.ordinal < workload.replicas;
    await this.transitions.change(workload, instance, {
      state: 'stopping',
      message: null,
      reason: null,
      onlyIfReleased,
    });
    return BUSY_LOOK_MS;
  }

  private async terminate(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    if (!driver.adopts && (await isDraining(this.database, workload, instance))) return BUSY_LOOK_MS;
    if ((await driver.terminate(instance.id)) === 'gone') await this.transitions.change(workload, instance, STOPPED);
    return BUSY_LOOK_MS;
  }

  /** As long as nobody has told it to stop, it can simply stay. */
  private async reclaim(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const seen = await this.observe(driver, workload, instance);
    if (['ready', 'starting', 'unhealthy'].includes(seen.state)) {
      await this.transitions.change(workload, instance, { state: 'starting', message: null });
      return 0;
    }
    if ((await driver.terminate(instance.id)) === 'gone') await this.transitions.change(workload, instance, STOPPED);
    return BUSY_LOOK_MS;
  }

  private async revive(_driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    await this.transitions.change(workload, instance, {
      state: 'pending',
      generation: instance.generation + 1,
      message: null,
    });
    return 0;
  }

  /** One start wakes a sleeper for all who wait, so there is no second one before they are told. */
  private async judge(workload: WorkloadRow): Promise<number> {
    await this.database.tx('system', (tx) => this.scaler.decide(tx, workload));
    return UNHEALTHY_LOOK_MS;
  }

  private async observe(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<Observation> {
    // A running engine has its environment; only an adopted server is sent its credential with each probe.
    if (!driver.adopts) return driver.observe(this.specOf(workload, instance, placeholderSecrets));
    try {
      await this.access.assertMayCall(driver.name, workload, instance.ordinal);
      return await driver.observe(this.specOf(workload, instance, this.access.secretsOf(workload)));
    } catch (error) {
      if (!(error instanceof AccessRefused)) throw error;
      return { state: 'unhealthy', reason: 'not_allowed', message: error.message };
    }
  }

  private specOf(workload: WorkloadRow, instance: InstanceRow, secrets: SecretReader): InstanceSpec {
    return { ...specOfInstance(workload, instance, secrets), ...this.keys.of(instance) };
  }
}

/** Why it failed to start stays to be read. */
const STOPPED: InstanceChange = {
  ...UNSEEN,
  state: 'stopped',
  baseUrl: null,
  message: null,
  crashStreak: 0,
  keyId: null,
  progress: null,
};

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
