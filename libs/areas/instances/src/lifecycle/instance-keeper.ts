import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { Database } from '@slipway/platform-database';
import type { InstanceSpec, Observation, TargetDriver } from '@slipway/target-driver';
import { DeviceAssignments } from '../devices/device-assignments.js';
import { EngineKeys } from '../access/engine-keys.js';
import { NO_FAILURE } from './failed-starts.js';
import { InstanceEnds } from './instance-ends.js';
import { InstanceStops } from './instance-stops.js';
import { instanceChanged, instanceLeaves, instanceReady } from './instance.events.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import { placeholderSecrets, probeOf, specOfInstance, type SecretReader } from '../catalog/target-catalog.js';
import { InstanceStarts } from './instance-starts.js';
import { ANSWER_CHECK_MS, ReadyRequests } from './ready-requests.js';
import { InstanceTransitions } from './instance-transitions.js';
import { MassMisses } from './mass-misses.js';
import type { InstanceTask, TaskKind } from './pass-plan.js';
import { Scaler } from '../scaling/scaler.js';
import { AccessRefused, TenantAccess } from '../access/tenant-access.js';
import {
  asSeen,
  disputed,
  isAnotherLife,
  isDriftNews,
  isNews,
  isServerNews,
  TakeoverPatience,
  UnhealthyNews,
  UNSEEN,
} from './server-observations.js';
import { DEFAULT_INSTANCE_TIMINGS, INSTANCE_TIMINGS, type InstanceTimings } from '../catalog/timings.js';

/** Pace of checks while a change is in progress, so that a start is seen ready within a fifth of a second. */
const BUSY_CHECK_MS = 150;
/** Between two checks whether devices are free. Each check locks the devices. */
const DEVICE_CHECK_MS = 300;
const UNHEALTHY_CHECK_MS = 1_000;
/** If the target reports changes, a check without a report is only a safety net. */
const QUIET_CHECK_MS = 5_000;
/** A server that is reported as lost is checked as often as this. */
const DISPUTED_CHECK_MS = 2_000;
const NO_LONGER_THERE = 'it no longer exists on its target';
/** A crash says nothing about a server that has been ready for this long since. */
const SOUND_AFTER_SECONDS = 60;
/** A download changes all the time, and each recorded step is a write. */
const PROGRESS_SECONDS = 1;

const NOT_PROVEN = 'not proven: probes.probe is list, so it has answered no request of Slipway';

type TaskHandler = (driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow) => Promise<number>;

/**
 * Performs the planned task of one instance. Every method may be interrupted at any line and repeated by another
 * worker. So it writes the row before it calls the driver, and calls of the driver are repeatable. Returns the
 * milliseconds until the next check, 0 if the row was changed.
 */
@Injectable()
export class InstanceKeeper {
  private readonly patience = new TakeoverPatience();
  private readonly unhealthyNews = new UnhealthyNews();
  private readonly massMisses = new MassMisses();
  private readonly readyRequests: ReadyRequests;
  private readonly handlers: Record<TaskKind, TaskHandler>;
  private readonly starts: InstanceStarts;
  private readonly ends: InstanceEnds;
  private readonly stops: InstanceStops;

  constructor(
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
    private readonly access: TenantAccess,
    devices: DeviceAssignments,
    private readonly keys: EngineKeys,
    private readonly scaler: Scaler,
    @Optional() @Inject(INSTANCE_TIMINGS) private readonly timings: InstanceTimings = DEFAULT_INSTANCE_TIMINGS,
  ) {
    this.starts = new InstanceStarts(database, transitions, access, devices, keys, this.timings.awayRetryMs);
    this.ends = new InstanceEnds(database, transitions, access);
    this.stops = new InstanceStops(database, transitions, this.timings);
    this.readyRequests = new ReadyRequests(this.timings);
    this.handlers = {
      start: (...about) => this.start(...about),
      queue: (...about) => this.queue(...about),
      look: (...about) => this.look(...about),
      withdraw: (...about) => this.withdraw(...about),
      terminate: (...about) => this.stops.terminate(...about),
      reclaim: (...about) => this.reclaim(...about),
      revive: (...about) => this.revive(...about),
      judge: (_driver, workload) => this.judge(workload),
    };
  }

  perform({ kind, workload, instance, share }: InstanceTask, driver: TargetDriver): Promise<number> {
    if (kind === 'queue') return this.queue(driver, workload, instance, share);
    return this.handlers[kind](driver, workload, instance);
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
      madeAt: this.starts.locations(driver, workload, instance),
    });
    return next?.state === 'starting' ? this.starts.provision(driver, workload, next) : DEVICE_CHECK_MS;
  }

  private async queue(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    share?: number,
  ): Promise<number> {
    const { target } = workload.spec.runtime;
    const message =
      share === undefined
        ? `waiting for free capacity on target ${target}`
        : `waiting for capacity of the tenant on target ${target}: it may use at most ${share} instances of this shared target`;
    const reason = 'waiting_for_place';
    if (instance.message !== message || instance.reason !== reason)
      await this.transitions.change(workload, instance, { state: 'pending', message, reason });
    // A pass follows whenever capacity becomes free.
    return paced(driver, BUSY_CHECK_MS);
  }

  private async look(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    if (instance.made_at === null && (await this.noteLocation(driver, workload, instance))) return 0;
    if (this.keys.isLost(instance.key_id)) return this.ends.handleLostKey(workload, instance);
    const seen = await this.checkSelf(driver, workload, instance, await this.observe(driver, workload, instance));
    if (seen.state !== 'ready' && seen.state !== 'unhealthy') this.massMisses.forget(driver.name, instance.id);
    if (isDriftNews(instance, seen)) return this.noteDrift(workload, instance, seen);
    if (driver.restarts === 'target' && isAnotherLife(instance, seen))
      return this.ends.handleRestart(driver, workload, instance, seen);
    const removal = driver.restarts === 'target' ? removalIn(instance, seen) : undefined;
    if (removal) return this.ends.handleRemoval(workload, instance, { ...seen, ...removal });
    switch (seen.state) {
      case 'ready':
        return this.seenHealthy(driver, workload, instance, seen);
      case 'unhealthy':
        return this.seenUnhealthy(driver, workload, instance, seen);
      case 'exited':
        return this.ends.handleCrash(workload, instance, seen);
      case 'absent':
        if (instance.state !== 'starting')
          return this.ends.handleCrash(workload, instance, { ...seen, reason: 'lost', message: NO_LONGER_THERE });
        return this.starts.provision(driver, workload, instance);
      case 'stopping':
        if (instance.state === 'ready')
          await this.leaveReady(workload, instance, { message: 'it is being stopped', ...seen });
        return paced(driver, BUSY_CHECK_MS);
      default:
        return this.seenStarting(driver, workload, instance, seen);
    }
  }

  /** A sign at second hand withdraws no server that answers this process. */
  private async checkSelf(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    seen: Observation,
  ): Promise<Observation> {
    const { base_url: baseUrl, ready_age_seconds: age } = instance;
    if (!seen.isSecondHand || age === null || baseUrl === null || baseUrl !== seen.baseUrl) return seen;
    const spec = this.specOf(workload, instance, this.secretsOf(driver, workload));
    return (await driver.answers(spec, baseUrl)) ? disputed(seen) : seen;
  }

  /** The previous release started it without a record of where. */
  private async noteLocation(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<boolean> {
    const { state } = instance;
    const madeAt = this.starts.locations(driver, workload, instance);
    return madeAt !== undefined && (await this.transitions.change(workload, instance, { state, madeAt })) !== undefined;
  }

  /** Records the drift or its end, and nothing else. The next check handles all other observations. */
  private async noteDrift(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<number> {
    const { state } = instance;
    const { drift = null } = seen;
    const event = drift === null ? undefined : instanceChanged(workload, instance, seen);
    await this.transitions.change(workload, instance, { state, drift, event });
    return 0;
  }

  /** A server that was never ready in this life has to answer a request first. */
  private async seenHealthy(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    seen: Observation,
  ): Promise<number> {
    if (workload.spec.probes?.probe === 'list') {
      const message = [NOT_PROVEN, ...(seen.message === undefined ? [] : [seen.message])].join('; ');
      return this.seenReady(driver, workload, instance, { ...seen, message });
    }
    if (instance.state === 'ready' || instance.ready_age_seconds !== null)
      return this.seenReady(driver, workload, instance, seen);
    const spec = this.specOf(workload, instance, this.secretsOf(driver, workload));
    const proven = await this.readyRequests.prove(driver, instance, spec, seen);
    if (proven.state === 'ready') return this.seenReady(driver, workload, instance, proven);
    const handle = proven.state === 'starting' ? this.seenStarting : this.seenUnhealthy;
    return Math.min(ANSWER_CHECK_MS, await handle.call(this, driver, workload, instance, proven));
  }

  private async seenReady(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    seen: Observation,
  ): Promise<number> {
    const intervalMs = paced(driver, probeOf(workload.spec).intervalSeconds * 1_000);
    this.patience.noteReady(instance.id, instance.generation);
    this.massMisses.note(driver.name, instance.id, false);
    // A target that observes instances may report about a ready one, such as an object that it may not make for it.
    const isSaid = driver.probes !== 'target' || instance.message === (seen.message ?? null);
    const isToNote =
      (seen.isModelSeen && !instance.model_seen) || isServerNews(instance, asSeen(instance, seen)) || !isSaid;
    const lookMs = seen.isSecondHand ? Math.min(intervalMs, DISPUTED_CHECK_MS) : intervalMs;
    if (instance.state === 'ready' && instance.base_url === seen.baseUrl && !isToNote) return lookMs;
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
   * Handles an instance whose server is starting. The observation of a starting instance is shown to users. For a ready
   * instance it may come from a new worker that has not probed yet. A target that probes itself reports it for a server
   * that has ended and waits for its next start.
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
    if (instance.state !== 'starting') return paced(driver, UNHEALTHY_CHECK_MS);
    const next = { ...asSeen(instance, seen), message: seen.message ?? null };
    const progress = seen.progress ?? null;
    const isFurther =
      instance.observed_age_seconds >= PROGRESS_SECONDS && !isDeepStrictEqual(progress, instance.progress);
    if (isFurther || isNews(instance, next))
      await this.transitions.change(workload, instance, { ...next, progress, state: 'starting' });
    return paced(driver, BUSY_CHECK_MS);
  }

  /**
   * Withdraws the instance from the gateways at once. Restarts it if it stays unhealthy for as many further probes as
   * it took to be called unhealthy, because a long garbage collection is not a crash. Slipway does not restart adopted
   * servers, nor those that their target restarts.
   */
  private async seenUnhealthy(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    found: Observation,
  ): Promise<number> {
    this.massMisses.note(driver.name, instance.id, found.isUnanswered === true);
    const seen = found.isUnanswered ? this.massMisses.explained(driver.name, found) : found;
    const { intervalSeconds, failureThreshold } = probeOf(workload.spec);
    const lookMs = paced(driver, Math.min(UNHEALTHY_CHECK_MS, intervalSeconds * 1_000));
    const isOursToRestart = !driver.adopts && driver.restarts === 'caller';
    if (instance.state === 'starting' && isOursToRestart) return this.ends.handleCrash(workload, instance, seen);
    const isBorne = () => this.patience.bears(instance.id, instance.generation, failureThreshold, seen.reason);
    if (instance.state === 'ready' && driver.probes === 'look' && isBorne()) return lookMs;
    if (instance.state !== 'unhealthy' || this.unhealthyNews.isDue(instance, seen)) {
      await this.leaveReady(workload, instance, seen);
      return 0;
    }
    const { state_age_seconds: age } = instance;
    const isOver = age >= intervalSeconds * failureThreshold && !this.massMisses.delaysRestart(driver.name, age);
    return isOver && isOursToRestart ? this.ends.handleCrash(workload, instance, seen) : lookMs;
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

  private async withdraw(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    // An instance beyond the wanted number is withdrawn even if the workload is retained.
    this.patience.forget(instance.id);
    this.massMisses.forget(driver.name, instance.id);
    this.unhealthyNews.forget(instance.id);
    this.readyRequests.forget(instance.id);
    this.stops.forget(instance.id);
    const isReplaced = instance.replace_drain_seconds !== null;
    const onlyIfReleased = instance.ordinal < workload.replicas && !isReplaced;
    await this.transitions.change(workload, instance, {
      state: 'stopping',
      message: isReplaced ? 'it is being restarted' : null,
      reason: null,
      onlyIfReleased,
      abandonsSilent: !isSound(instance),
    });
    return BUSY_CHECK_MS;
  }

  /** An instance that has not been told to stop yet can continue to run. */
  private async reclaim(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const seen = await this.observe(driver, workload, instance);
    if (['ready', 'starting', 'unhealthy'].includes(seen.state)) {
      await this.transitions.change(workload, instance, { state: 'starting', message: null });
      return 0;
    }
    return this.stops.stop(driver, workload, instance);
  }

  private async revive(_driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    await this.transitions.change(workload, instance, {
      state: 'pending',
      generation: instance.generation + 1,
      message: null,
      // Nothing was left in any of them when it stopped.
      madeAt: null,
    });
    return 0;
  }

  /**
   * Lets the scaler decide about another start. One start wakes a sleeping workload for all waiting requests, so they
   * must get its failure before a second start.
   */
  private async judge(workload: WorkloadRow): Promise<number> {
    await this.database.tx('system', (tx) => this.scaler.decide(tx, workload));
    return UNHEALTHY_CHECK_MS;
  }

  private async observe(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<Observation> {
    if (!driver.adopts) return driver.observe(this.specOf(workload, instance, this.secretsOf(driver, workload)));
    try {
      await this.access.assertMayCall(driver.name, workload, instance.ordinal);
      return await driver.observe(this.specOf(workload, instance, this.secretsOf(driver, workload)));
    } catch (error) {
      if (!(error instanceof AccessRefused)) throw error;
      return { state: 'unhealthy', reason: 'not_allowed', message: error.message };
    }
  }

  /** A running engine already has its environment. Only an adopted server gets its credential with each request. */
  private secretsOf({ adopts }: TargetDriver, workload: WorkloadRow): SecretReader {
    return adopts ? this.access.secretsOf(workload) : placeholderSecrets;
  }

  private specOf(workload: WorkloadRow, instance: InstanceRow, secrets: SecretReader): InstanceSpec {
    return { ...specOfInstance(workload, instance, secrets), ...this.keys.of(instance) };
  }
}

/** Whether another client of the target has ended the instance's unit. */
function removalIn({ state }: InstanceRow, seen: Observation): Pick<Observation, 'reason' | 'message'> | undefined {
  if (seen.state === 'exited' && seen.reason === 'terminated')
    return { reason: 'deleted', message: 'it was stopped on its target, but not by Slipway' };
  return seen.state === 'absent' && state !== 'starting' ? { reason: 'deleted', message: NO_LONGER_THERE } : undefined;
}

/** A server that misses its probes, or has just crashed, may never answer some of its requests. */
function isSound({ state, restarts, ready_age_seconds: age }: InstanceRow): boolean {
  return state === 'ready' && (restarts === 0 || (age !== null && age >= SOUND_AFTER_SECONDS));
}

function paced({ onChange }: TargetDriver, ms: number): number {
  return onChange ? Math.max(ms, QUIET_CHECK_MS) : ms;
}
