import type { ObservationReason, StartProgress } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { withdrawBackend } from '@slipway/dataplane';
import { Database, type Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import type { UnitLocation } from '@slipway/target-driver';
import { Not } from 'typeorm';
import { BackendPublisher } from '../backends/backend-publisher.js';
import { DeviceAssignments, type DeviceWait } from '../devices/device-assignments.js';
import { InstanceEntity, publishedDoubt, type FailedStart, type LifecycleState } from '../workloads/instance.entity.js';
import { CHANGE_INSTANCE, type InstanceRow, type WorkloadRow } from '../workloads/instance.query.js';
import { WorkloadEntity, WorkloadRetentionEntity } from '../workloads/workload.entity.js';
import { LOCK_WORKLOAD } from '../workloads/workload.query.js';

/** How long instances of a suspended workload drain, if the operation that suspended it did not say. */
const SUSPENDED_DRAIN_SECONDS = 30;

/** In these, an instance that was to be replaced has stopped. */
const ENDS_REPLACEMENT: ReadonlySet<LifecycleState> = new Set(['backing_off', 'stopped']);

/** Planned ends, for which gateways have withdrawn the instance. */
const ENDS_SERVING: ReadonlySet<LifecycleState> = new Set(['stopping', 'stopped']);

/** A change of an instance's row. Omitted fields stay as they are. */
export interface InstanceChange {
  state: LifecycleState;
  generation?: number;
  baseUrl?: string | null;
  message?: string | null;
  incarnation?: string | null;
  reason?: ObservationReason | null;
  place?: string | null;
  /** Reset by a new generation, which has another key, and by a stop. */
  endingUrl?: string | null;
  isDoubted?: boolean;
  /** Null if it ended. Also reset by a new generation, whose objects are created again. */
  drift?: string | null;
  /** Assigns devices first. If the instance has to wait for them, its row only gets the reason. */
  needsDevices?: boolean;
  /** Whether its server is being started. */
  isStart?: boolean;
  keyId?: string | null;
  failure?: FailedStart | null;
  failedStarts?: number;
  progress?: StartProgress | null;
  /** Set if its server reports the revision's model. */
  isModelSeen?: true;
  /** All locations of its units. Null if there are none any more. */
  madeAt?: UnitLocation[] | null;
  /** Adds one to the restarts. */
  isCrash?: boolean;
  crashStreak?: number;
  backOffSeconds?: number;
  event?: NewEvent;
  /** Refuses the change if the workload is wanted by then. */
  onlyIfReleased?: boolean;
  /** It leaves because it was not healthy: its drain does not wait for requests without a byte for a while. */
  abandonsSilent?: boolean;
  /** Wakes no operation. For a shutdown of the whole stack: waiting operations must find the instance as it was. */
  isSilent?: boolean;
}

/**
 * The reconciler's writes. Each is one transaction under the workload's lock, guarded by the version of the row that
 * was read. So of two reconcilers that saw the same row, only one writes. A change to or from `ready`, and the loss of
 * a node, are published to the gateways in the same transaction. Another transaction wakes the waiters (`wakeWaiters`),
 * because operation rows must not be locked after a workload's.
 */
@Injectable()
export class InstanceTransitions {
  constructor(
    private readonly database: Database,
    private readonly publisher: BackendPublisher,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    private readonly devices: DeviceAssignments,
  ) {}

  /** Changes the row. Returns the new row, or undefined if the row differs from what the caller had read. */
  async change(workload: WorkloadRow, instance: InstanceRow, wished: InstanceChange): Promise<InstanceRow | undefined> {
    let evict: DeviceWait['evict'];
    const written = await this.database.tx('system', async (tx) => {
      let change = wished;
      const locked = await tx.one<{ is_wanted: boolean }>(LOCK_WORKLOAD, [workload.revision_id]);
      if (!locked || (change.onlyIfReleased && locked.is_wanted)) return undefined;
      const wait = change.needsDevices ? await this.devices.assign(tx, workload, instance) : undefined;
      if (wait) {
        evict = wait.evict;
        change = { state: instance.state, message: wait.message, reason: 'waiting_for_device' };
        if (instance.message === change.message && instance.reason === change.reason) return undefined;
      }
      const next = after(instance, change);
      const isLeaving = next.state === 'stopping' && instance.state !== 'stopping';
      const written = await tx.one(CHANGE_INSTANCE, [
        instance.id,
        instance.version,
        next.state,
        next.generation,
        next.base_url,
        next.message,
        change.isCrash ? 1 : 0,
        next.crash_streak,
        change.backOffSeconds ?? null,
        next.incarnation,
        next.reason,
        next.place,
        next.key_id,
        next.failed_starts,
        next.progress,
        change.failure !== undefined,
        change.failure ?? null,
        change.isStart ?? false,
        next.model_seen,
        next.drift,
        isLeaving ? await this.drainSecondsOf(tx, workload, instance) : null,
        change.abandonsSilent ?? false,
        next.ending_url,
        next.doubted,
        next.made_at === null ? null : JSON.stringify(next.made_at),
      ]);
      if (!written) return undefined;
      const isReadinessChanged =
        (instance.state === 'ready') !== (next.state === 'ready') ||
        (next.state === 'ready' && instance.base_url !== next.base_url);
      if (isReadinessChanged || publishedDoubt(instance) !== publishedDoubt(next))
        await this.publisher.publish(tx, workload);
      const isNews = isReadinessChanged || change.isCrash || next.state === 'stopped';
      const outcome = startOutcome(instance, change);
      if ((isNews && !change.isSilent) || outcome.last_failed_start) await markChanged(tx, workload, outcome);
      if (change.event)
        await appendEvents(tx, workload.tenant_id, deploymentStream(workload.deployment_id), [change.event]);
      return next;
    });
    // After the transaction, because it locks another workload.
    if (evict) await this.evict(evict);
    return written;
  }

  /** The capacity of a suspended workload is waited for, and so are the requests that gateways hold. */
  private async drainSecondsOf(tx: Tx, workload: WorkloadRow, instance: InstanceRow): Promise<number> {
    const seconds = await this.deployments.drainSeconds(tx, workload.deployment_id);
    const ofDeployment = Math.min(seconds, instance.replace_drain_seconds ?? seconds);
    if (workload.suspended_by === null) return ofDeployment;
    return Math.min(ofDeployment, workload.suspended_drain_seconds ?? SUSPENDED_DRAIN_SECONDS);
  }

  /**
   * Stops keeping a workload warm if it is not needed by then.
   * @returns whether it did
   */
  evict({ revision_id, tenant_id }: Pick<WorkloadRow, 'revision_id' | 'tenant_id'>): Promise<boolean> {
    return this.database.tx('system', async (tx) => {
      const locked = await tx.one<{ is_needed: boolean }>(LOCK_WORKLOAD, [revision_id]);
      if (!locked || locked.is_needed) return false;
      const taken = await tx.repository(WorkloadRetentionEntity).delete({ revision_id, tenant_id, holder: 'warm' });
      return taken.affected === 1;
    });
  }

  /**
   * Ends a workload whose last instance has stopped. Locks the deployment first, as everywhere.
   * @returns whether it retired
   */
  async retire(workload: WorkloadRow): Promise<boolean> {
    return this.database.tx('system', async (tx) => {
      await this.deployments.lockById(tx, workload.deployment_id);
      const locked = await tx.one<{ is_active: boolean; is_retained: boolean }>(LOCK_WORKLOAD, [workload.revision_id]);
      if (!locked?.is_active || locked.is_retained) return false;
      const { revision_id, tenant_id } = workload;
      const unstopped = { revision_id, tenant_id, state: Not<LifecycleState>('stopped') };
      if (await tx.repository(InstanceEntity).existsBy(unstopped)) return false;
      await markChanged(tx, workload, { is_active: false });
      await withdrawBackend(tx, workload.revision_id);
      await this.revisions.retired(tx, workload.revision_id);
      return true;
    });
  }
}

type StartOutcome = Pick<WorkloadEntity, 'last_failed_start'> & { last_failed_start_at: null | (() => string) };

/** The workload keeps the last failed start until a start is ready. Returns what the change says about it. */
function startOutcome({ id }: InstanceRow, { state, failure }: InstanceChange): Partial<StartOutcome> {
  if (failure) return { last_failed_start: { ...failure, instance_id: id }, last_failed_start_at: () => 'now()' };
  return state === 'ready' ? { last_failed_start: null, last_failed_start_at: null } : {};
}

/** Waits compare this time, so it is the clock's time and not the transaction's. */
async function markChanged(
  tx: Tx,
  workload: WorkloadRow,
  change: { is_active?: false } & Partial<StartOutcome> = {},
): Promise<void> {
  const { revision_id, tenant_id } = workload;
  await tx
    .repository(WorkloadEntity)
    .update({ revision_id, tenant_id }, { ...change, changed_at: () => 'clock_timestamp()' });
}

function after(instance: InstanceRow, change: InstanceChange): InstanceRow {
  const isNextGeneration = (change.generation ?? instance.generation) !== instance.generation;
  const endsServing = isNextGeneration || ENDS_SERVING.has(change.state);
  return {
    ...instance,
    state: change.state,
    generation: change.generation ?? instance.generation,
    base_url: change.baseUrl === undefined ? instance.base_url : change.baseUrl,
    message: change.message === undefined ? instance.message : change.message,
    incarnation: change.incarnation === undefined ? instance.incarnation : change.incarnation,
    reason: change.reason === undefined ? instance.reason : change.reason,
    place: change.place === undefined ? instance.place : change.place,
    drift: change.drift === undefined ? (isNextGeneration ? null : instance.drift) : change.drift,
    ending_url: endsServing ? null : change.endingUrl === undefined ? instance.ending_url : change.endingUrl,
    doubted: change.isDoubted ?? instance.doubted,
    crash_streak: change.crashStreak ?? instance.crash_streak,
    key_id: change.keyId === undefined ? instance.key_id : change.keyId,
    failed_starts: change.failedStarts ?? instance.failed_starts,
    model_seen: change.isModelSeen ?? instance.model_seen,
    failure: change.failure === undefined ? instance.failure : change.failure,
    progress: change.progress === undefined ? instance.progress : change.progress,
    made_at: change.madeAt === undefined ? instance.made_at : change.madeAt,
    drain_left_seconds: null,
    replace_drain_seconds: ENDS_REPLACEMENT.has(change.state) ? null : instance.replace_drain_seconds,
    abandons_silent: change.state === 'stopping' && (change.abandonsSilent ?? instance.abandons_silent),
    restarts: instance.restarts + (change.isCrash ? 1 : 0),
    version: instance.version + 1,
  };
}
