import type { Database } from '@slipway/platform-database';
import type { Observation, TargetDriver } from '@slipway/target-driver';
import { Not, Raw } from 'typeorm';
import { restartBackOff, failedStart, lastLinesOf } from './failed-starts.js';
import { InstanceEntity } from '../workloads/instance.entity.js';
import { instanceCrashed, instanceMoved } from './instance.events.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import type { InstanceChange, InstanceTransitions } from './instance-transitions.js';
import { asSeen, lastEndOf, UNSEEN } from './server-observations.js';
import type { TenantAccess } from '../access/tenant-access.js';

const CRASH_CHECK_MS = 150;

/**
 * Handles the end of a server whose instance is still wanted. Each method returns the milliseconds until the next
 * check.
 */
export class InstanceEnds {
  constructor(
    private readonly database: Database,
    private readonly transitions: InstanceTransitions,
    private readonly access: Pick<TenantAccess, 'valuesIn'>,
  ) {}

  /**
   * Handles a restart of the server by its target. It counts as a crash, unless the server lost its node: a node that
   * is stopped for maintenance must not fail a rollout. The new server is not ready until it is seen ready, as after
   * any start.
   */
  async handleRestart(
    driver: TargetDriver,
    workload: WorkloadRow,
    instance: InstanceRow,
    seen: Observation,
  ): Promise<number> {
    const { reason, isMove } = lastEndOf(instance, seen);
    const ended = { ...seen, reason };
    const lacksLines = !isMove && instance.ready_age_seconds === null && !seen.failure;
    const lines = lacksLines ? await lastLinesOf(driver, instance.id, this.access.valuesIn(workload.spec)) : [];
    const failed = isMove ? {} : failedStart(instance, ended, await this.mayLackMemory(instance, ended), lines);
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      ...failed,
      state: 'starting',
      progress: null,
      isStart: true,
      baseUrl: null,
      message: seen.message ?? null,
      isCrash: !isMove,
      event: isMove
        ? instanceMoved(workload, instance, ended)
        : instanceCrashed(workload, instance, ended, null, failed),
    });
    return 0;
  }

  /** Begins the next generation, even if a hung process still runs: the driver stops that one first. */
  async handleCrash(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<number> {
    const failed = failedStart(instance, seen, await this.mayLackMemory(instance, seen));
    return this.beginNext(workload, instance, seen, (seconds) => ({
      ...failed,
      isCrash: true,
      event: instanceCrashed(workload, instance, seen, seconds, failed),
    }));
  }

  /**
   * Begins the next generation after another client of the target stopped or deleted this one. As for a deleted pod, the
   * engine is not the cause, so it is not a crash. It waits like one, because that client may do so again and again.
   */
  async handleRemoval(workload: WorkloadRow, instance: InstanceRow, seen: Observation): Promise<number> {
    return this.beginNext(workload, instance, seen, () => ({ event: instanceMoved(workload, instance, seen) }));
  }

  private async beginNext(
    workload: WorkloadRow,
    instance: InstanceRow,
    seen: Observation,
    change: (seconds: number) => Partial<InstanceChange>,
  ): Promise<number> {
    const { streak, seconds } = restartBackOff(instance.crash_streak, instance.ready_age_seconds);
    await this.transitions.change(workload, instance, {
      ...asSeen(instance, seen),
      ...change(seconds),
      state: 'backing_off',
      generation: instance.generation + 1,
      baseUrl: null,
      progress: null,
      message: seen.message ?? null,
      crashStreak: streak,
      backOffSeconds: seconds,
    });
    return CRASH_CHECK_MS;
  }

  /** Begins the next generation, because gateways can no longer derive the instance's key. This is not a crash. */
  async handleLostKey(workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    await this.transitions.change(workload, instance, {
      ...UNSEEN,
      state: 'backing_off',
      generation: instance.generation + 1,
      baseUrl: null,
      message: `key ${instance.key_id}, from which its own key was derived, is no longer in the key ring`,
      backOffSeconds: 0,
    });
    return 0;
  }

  /**
   * Whether another instance of the target stopped so recently that its memory may not have been free for this start.
   */
  private async mayLackMemory({ id, target }: InstanceRow, { failure }: Observation): Promise<boolean> {
    if (failure?.cause !== 'gpu_memory') return false;
    const lately = Raw((since) => `${since} > now() - interval '1 minute'`);
    return this.database.tx('system', (tx) =>
      tx.repository(InstanceEntity).existsBy({ id: Not(id), target, state: 'stopped', state_since: lately }),
    );
  }
}
