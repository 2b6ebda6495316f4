import { isDeepStrictEqual } from 'node:util';
import { originsFor, type ObservationReason, type RevisionSpec, type StartProgress } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import {
  backendContext,
  openPublished,
  publishBackend,
  readEntries,
  withdrawBackend,
  type Guard,
} from '@slipway/dataplane';
import { tenantName } from '@slipway/platform-http/auth';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, sealSecret, type Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-durable/events';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { IsNull, Not } from 'typeorm';
import { asleepOf } from '../backends/asleep.js';
import { DeviceAssignments, type DeviceWait } from '../devices/device-assignments.js';
import { InstanceEntity, type FailedStart, type InstanceState } from '../workloads/instance.entity.js';
import { CHANGE_INSTANCE, type InstanceRow, type WorkloadRow } from '../workloads/instance.query.js';
import { readSecret, Secrets } from '../access/secrets.js';
import { isLost, LOST } from './server-life.js';
import { TargetCatalog } from '../catalog/target-catalog.js';
import { WorkloadEntity, WorkloadHoldEntity } from '../workloads/workload.entity.js';
import { LOCK_WORKLOAD } from '../workloads/workload.query.js';

/** What is told of a workload to the gateways. */
export type PublishedWorkload = Pick<
  WorkloadRow,
  'revision_id' | 'tenant_id' | 'deployment_id' | 'revision_name' | 'spec'
>;

/** What becomes of an instance's row; what is left out stays as it is. */
export interface InstanceChange {
  state: InstanceState;
  generation?: number;
  baseUrl?: string | null;
  message?: string | null;
  incarnation?: string | null;
  reason?: ObservationReason | null;
  place?: string | null;
  /** A next generation is made anew. */
  drift?: string;
  /** Asks for its devices first; where it has to wait for them, it stays as it is, with the reason. */
  needsDevices?: boolean;
  /** Its server is being started. */
  isStart?: boolean;
  keyId?: string | null;
  failure?: FailedStart | null;
  failedStarts?: number;
  progress?: StartProgress | null;
  /** Its server says that it has the revision's model. */
  isModelSeen?: true;
  /** Adds one to the restarts. */
  isCrash?: boolean;
  crashStreak?: number;
  backOffSeconds?: number;
  event?: NewEvent;
  /** Refuses the change when the workload is to run by now. */
  onlyIfReleased?: boolean;
  /** Wakes nobody: the whole stack goes down, and who waits shall find the instance as it was. */
  isSilent?: boolean;
}

/**
 * The reconciler's writes. Each is one transaction under the workload's lock, guarded by the version of the row that was
 * read: of two reconcilers that saw the same row, one writes. A change in or out of `ready`, or that a node is lost, is published to the
 * gateways in the same transaction. Waiters are woken by another one (`workload-waiters.ts`), because operation rows must not be
 * locked after a workload's.
 */
@Injectable()
export class InstanceTransitions {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator' | 'keyRing'>,
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly secrets: Secrets,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
    private readonly devices: DeviceAssignments,
  ) {}

  /** Returns the row as it then stands, or undefined where it was not as the caller had read it. */
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
      ]);
      if (!written) return undefined;
      const isReadinessChanged =
        (instance.state === 'ready') !== (next.state === 'ready') ||
        (next.state === 'ready' && instance.base_url !== next.base_url);
      if (isReadinessChanged || isLost(instance) !== isLost(next)) await this.publish(tx, workload);
      const isNews = isReadinessChanged || change.isCrash || next.state === 'stopped';
      if (isNews && !change.isSilent) await markChanged(tx, workload);
      if (change.event)
        await appendEvents(tx, workload.tenant_id, deploymentStream(workload.deployment_id), [change.event]);
      return next;
    });
    // Not before: its workload is locked by itself.
    if (evict) await this.evict(evict);
    return written;
  }

  /** Takes the warmth away from a workload that nobody needs by now. @returns whether it did */
  evict({ revision_id, tenant_id }: Pick<WorkloadRow, 'revision_id' | 'tenant_id'>): Promise<boolean> {
    return this.database.tx('system', async (tx) => {
      const locked = await tx.one<{ is_needed: boolean }>(LOCK_WORKLOAD, [revision_id]);
      if (!locked || locked.is_needed) return false;
      const taken = await tx.repository(WorkloadHoldEntity).delete({ revision_id, tenant_id, holder: 'warm' });
      return taken.affected === 1;
    });
  }

  /** The end of a workload whose last instance has stopped. The deployment is locked first, as everywhere. */
  async retire(workload: WorkloadRow): Promise<boolean> {
    return this.database.tx('system', async (tx) => {
      await this.deployments.lockById(tx, workload.deployment_id);
      const locked = await tx.one<{ is_active: boolean; is_held: boolean }>(LOCK_WORKLOAD, [workload.revision_id]);
      if (!locked?.is_active || locked.is_held) return false;
      const { revision_id, tenant_id } = workload;
      const unstopped = { revision_id, tenant_id, state: Not<InstanceState>('stopped') };
      if (await tx.repository(InstanceEntity).existsBy(unstopped)) return false;
      await markChanged(tx, workload, { is_active: false });
      await withdrawBackend(tx, workload.revision_id);
      await this.revisions.retired(tx, workload.revision_id);
      return true;
    });
  }

  /**
   * Publishes anew where gateways have another credential than the secret says now, one that they cannot open, or other addresses than
   * the target allows now. Both are read under the lock, so the last one to publish has read the newest.
   * @returns whether they had
   * @throws SecretUnavailable; AccessRefused, and the next look takes the server out of sight
   */
  renewPublished(workload: PublishedWorkload): Promise<boolean> {
    const { revision_id, tenant_id, spec } = workload;
    return this.database.tx('system', async (tx) => {
      const locked = await tx.one<{ is_active: boolean }>(LOCK_WORKLOAD, [revision_id]);
      if (!locked?.is_active) return false;
      const { backends } = await readEntries(tx, { routes: [], backends: [revision_id], slugs: [], passports: [] });
      const [published] = backends;
      // No instance is ready: the next one that is brings everything along.
      if (!published?.instances.some(({ state }) => state === 'ready')) return false;
      const tenant = await tenantName(tx, tenant_id);
      const reference = spec.endpoint?.credential_ref;
      const urls = published.instances.map(({ base_url }) => base_url);
      const secret =
        reference === undefined
          ? undefined
          : sentToAll(urls, (url) => readSecret(this.config.operator, tenant, reference, url));
      const isSameSecret = secret === undefined || this.opened(workload, published.credential ?? '') === secret;
      if (isSameSecret && isDeepStrictEqual(published.guard, this.guardOf(spec, tenant))) return false;
      await this.publish(tx, workload);
      return true;
    });
  }

  private opened({ tenant_id, revision_id }: PublishedWorkload, sealed: string): string | undefined {
    try {
      return openPublished(this.config.keyRing, sealed, backendContext(tenant_id, revision_id));
    } catch {
      return undefined;
    }
  }

  /** Its workload is locked. */
  async publish(tx: Tx, workload: PublishedWorkload): Promise<void> {
    const { revision_id, tenant_id, spec } = workload;
    const tenant = await tenantName(tx, tenant_id);
    const of = { revision_id, tenant_id, base_url: Not(IsNull()) };
    const seen = await tx.repository(InstanceEntity).find({
      select: { id: true, state: true, base_url: true, generation: true, key_id: true },
      where: [
        { ...of, state: 'ready' },
        { ...of, ...LOST },
      ],
      order: { ordinal: 'ASC' },
    });
    const ready = seen.filter(({ state }) => state === 'ready');
    const asleep = await asleepOf(tx, workload, ready.length);
    const reference = spec.endpoint?.credential_ref;
    const secrets = this.secrets.readerOf({ tenantId: tenant_id, tenantName: tenant, revisionId: revision_id });
    // Leaving the gateways' sight must not fail for a secret that is gone.
    const secret =
      reference === undefined
        ? undefined
        : sentToAll(
            ready.map(({ base_url }) => base_url as string),
            (url) => secrets.value(reference, url),
          );
    const credential =
      secret === undefined ? null : sealSecret(this.config.keyRing, secret, backendContext(tenant_id, revision_id));
    await publishBackend(tx, {
      revisionId: workload.revision_id,
      revisionName: workload.revision_name,
      tenantId: workload.tenant_id,
      deploymentId: workload.deployment_id,
      modelId: spec.model.id,
      instances: (asleep ? [] : seen).map(({ id, state, base_url, generation, key_id }) => ({
        id,
        base_url: base_url as string,
        state: state === 'ready' ? state : 'lost',
        ...(key_id !== null && { key: { id: key_id, generation } }),
      })),
      credential,
      guard: this.guardOf(spec, tenant),
      asleep,
    });
  }

  private guardOf({ runtime }: RevisionSpec, tenant: string): Guard {
    const { allow } = this.catalog.find(runtime.target)?.config ?? {};
    return allow ? { allow: originsFor(allow, tenant) } : null;
  }
}

/** The one secret of all servers of a revision, judged for each that gets it; undefined where none does. */
function sentToAll(urls: readonly string[], read: (url: string) => string): string | undefined {
  return urls.map(read).at(-1);
}

/** Waits are judged by this time, so it is the clock's and not the transaction's. */
async function markChanged(tx: Tx, workload: WorkloadRow, change: { is_active?: false } = {}): Promise<void> {
  const { revision_id, tenant_id } = workload;
  await tx
    .repository(WorkloadEntity)
    .update({ revision_id, tenant_id }, { ...change, changed_at: () => 'clock_timestamp()' });
}

function after(instance: InstanceRow, change: InstanceChange): InstanceRow {
  const isNextGeneration = (change.generation ?? instance.generation) !== instance.generation;
  return {
    ...instance,
    state: change.state,
    generation: change.generation ?? instance.generation,
    base_url: change.baseUrl === undefined ? instance.base_url : change.baseUrl,
    message: change.message === undefined ? instance.message : change.message,
    incarnation: change.incarnation === undefined ? instance.incarnation : change.incarnation,
    reason: change.reason === undefined ? instance.reason : change.reason,
    place: change.place === undefined ? instance.place : change.place,
    drift: change.drift ?? (isNextGeneration ? null : instance.drift),
    crash_streak: change.crashStreak ?? instance.crash_streak,
    key_id: change.keyId === undefined ? instance.key_id : change.keyId,
    failed_starts: change.failedStarts ?? instance.failed_starts,
    model_seen: change.isModelSeen ?? instance.model_seen,
    failure: change.failure === undefined ? instance.failure : change.failure,
    progress: change.progress === undefined ? instance.progress : change.progress,
    restarts: instance.restarts + (change.isCrash ? 1 : 0),
    version: instance.version + 1,
  };
}
