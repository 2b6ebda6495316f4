import { Inject, Injectable, Logger } from '@nestjs/common';
import { inFlight } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database } from '@slipway/platform-database';
import type { InstanceSpec, Observation, TargetDriver } from '@slipway/target-driver';
import { instanceCrashed, instanceMoved, instanceReady, instanceUnhealthy } from './instance.events.js';
import type { InstanceRow, WorkloadRow } from './instance.query.js';
import { placeholderSecrets, probeOf, toInstanceSpec, type SecretReader } from './instance-spec.js';
import { InstanceTransitions, type InstanceChange } from './instance-transitions.js';
import type { Task, TaskKind } from './pass-plan.js';
import { backOff } from './restart-backoff.js';
import { readSecret } from './secrets.js';
import { asSeen, endOf, isAnotherLife, isNews, UNSEEN } from './server-life.js';
import { TakeoverPatience } from './takeover-patience.js';

/** Pace of looks while something is on its way: a start is seen ready within a fifth of a second. */
const BUSY_LOOK_MS = 150;
/** Time for gateways to hear that an instance is going, and to report what they still have in flight to it. */
const DRAIN_MIN_SECONDS = 0.6;
const DRAIN_MAX_SECONDS = 30;
const UNHEALTHY_LOOK_MS = 1_000;

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
  private readonly doings: Record<TaskKind, Doing>;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator'>,
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
  ) {
    this.doings = {
      start: (...about) => this.start(...about),
      queue: (...about) => this.queue(...about),
      look: (...about) => this.look(...about),
      withdraw: (...about) => this.withdraw(...about),
      terminate: (...about) => this.terminate(...about),
      reclaim: (...about) => this.reclaim(...about),
      revive: (...about) => this.revive(...about),
    };
  }

  perform({ kind, workload, instance }: Task, driver: TargetDriver): Promise<number> {
    return this.doings[kind](driver, workload, instance);
  }

  private async start(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const next = await this.transitions.change(workload, instance, { ...UNSEEN, state: 'starting', message: null });
    if (next) await this.provision(driver, workload, next);
    return BUSY_LOOK_MS;
  }

  /** An exception says nothing about whether it started, so the generation stays: the driver starts it at most once. */
  private async provision(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<void> {
    try {
      await driver.provision(specOf(workload, instance, (name) => readSecret(this.config.operator, name)));
    } catch (error) {
      const message = `it could not be started: ${reasonOf(error)}`;
      this.logger.warn(`${instance.id} of ${workload.revision_name}: ${message}`);
      const { streak, seconds } = backOff(instance.crash_streak, null);
      await this.transitions.change(workload, instance, {
        state: 'backing_off',
        message,
        reason: 'start_failed',
        crashStreak: streak,
        backOffSeconds: seconds,
      });
    }
  }

  private async queue(_driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const message = `waits for a free place on target ${workload.spec.runtime.target}`;
    if (instance.message !== message) await this.transitions.change(workload, instance, { state: 'pending', message });
    return BUSY_LOOK_MS;
  }

  private async look(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const seen = await this.observe(driver, workload, instance);
    if (driver.restarts === 'target' && isAnotherLife(instance, seen)) return this.restarted(workload, instance, seen);
    switch (seen.state) {
      case 'ready':
        return this.seenReady(workload, instance, seen);
      case 'unhealthy':
        return this.seenUnhealthy(driver, workload, instance, seen);
      case 'exited':
        return this.crashed(workload, instance, seen);
      case 'absent':
        if (instance.state !== 'starting')
          return this.crashed(workload, instance, { ...seen, reason: 'lost', message: 'nothing is left of it' });
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
    if (instance.state === 'ready' && instance.base_url === seen.baseUrl) return intervalMs;
    const event = instance.state === 'ready' ? undefined : instanceReady(workload, instance);
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      state: 'ready',
      baseUrl: seen.baseUrl ?? null,
      message: null,
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
    if (isNews(instance, next)) await this.transitions.change(workload, instance, { ...next, state: 'starting' });
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
    if (instance.state === 'starting' && isOursToRestart) return this.crashed(workload, instance, seen);
    const isBorne = () => this.patience.bears(instance.id, instance.generation, failureThreshold);
    if (instance.state === 'ready' && driver.probes === 'look' && isBorne()) return lookMs;
    if (instance.state !== 'unhealthy') {
      await this.leaveReady(workload, instance, seen);
      return 0;
    }
    const isOver = instance.state_age >= intervalSeconds * failureThreshold;
    return isOver && isOursToRestart ? this.crashed(workload, instance, seen) : lookMs;
  }

  private async leaveReady(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<void> {
    const event = instance.state === 'ready' ? instanceUnhealthy(workload, instance, seen) : undefined;
    const message = seen.message ?? null;
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      state: 'unhealthy',
      message,
      event,
    });
  }

  /**
   * The target has started the server again by itself. That is a crash, unless its place was taken away: a node that goes
   * down for maintenance must not fail a rollout. The new server has yet to be seen ready, as any that starts.
   */
  private async restarted(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<number> {
    const { reason, isMove } = endOf(instance, seen);
    const ended = { ...seen, reason };
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      state: 'starting',
      baseUrl: null,
      message: seen.message ?? null,
      isCrash: !isMove,
      event: isMove ? instanceMoved(workload, instance, ended) : instanceCrashed(workload, instance, ended, null),
    });
    return 0;
  }

  /** The next generation replaces this one, even if a hung process still runs: the driver stops that one first. */
  private async crashed(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<number> {
    const { streak, seconds } = backOff(instance.crash_streak, instance.ready_age);
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      state: 'backing_off',
      generation: instance.generation + 1,
      baseUrl: null,
      message: seen.message ?? null,
      isCrash: true,
      crashStreak: streak,
      backOffSeconds: seconds,
      event: instanceCrashed(workload, instance, seen, seconds),
    });
    return BUSY_LOOK_MS;
  }

  private async withdraw(_driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    // An instance beyond the wanted number goes although the workload is held.
    this.patience.forget(instance.id);
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
    if (!driver.adopts && (await this.isDraining(workload, instance))) return BUSY_LOOK_MS;
    if ((await driver.terminate(instance.id)) === 'gone') await this.transitions.change(workload, instance, STOPPED);
    return BUSY_LOOK_MS;
  }

  /** Only an instance that gateways knew can have requests in flight. They count by revision, which stops as a whole. */
  private async isDraining(workload: WorkloadRow, instance: InstanceRow): Promise<boolean> {
    if (instance.base_url === null || instance.state_age >= DRAIN_MAX_SECONDS) return false;
    if (instance.state_age < DRAIN_MIN_SECONDS) return true;
    return (await this.database.tx('system', (tx) => inFlight(tx, workload.revision_id))) > 0;
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

  private observe(driver: TargetDriver, workload: WorkloadRow, instance: InstanceRow): Promise<Observation> {
    // A running engine has its environment; only an adopted server is sent its credential with each probe.
    const secrets = driver.adopts ? (name: string) => readSecret(this.config.operator, name) : placeholderSecrets;
    return driver.observe(specOf(workload, instance, secrets));
  }
}

const STOPPED: InstanceChange = { ...UNSEEN, state: 'stopped', baseUrl: null, message: null, crashStreak: 0 };

function specOf(workload: WorkloadRow, { id, generation, ordinal }: InstanceRow, secrets: SecretReader): InstanceSpec {
  const { tenant_id, deployment_id, revision_id, revision_name } = workload;
  const owner = {
    tenantId: tenant_id,
    deploymentId: deployment_id,
    revisionId: revision_id,
    revisionName: revision_name,
    ordinal,
  };
  return toInstanceSpec(workload.spec, { id, generation, owner }, secrets);
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
