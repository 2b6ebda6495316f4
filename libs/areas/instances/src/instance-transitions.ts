import type { ObservationReason } from '@slipway/contracts';
import { Inject, Injectable } from '@nestjs/common';
import { publishBackend, withdrawBackend } from '@slipway/dataplane';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, newId, sealSecret, type Tx } from '@slipway/platform-database';
import { appendEvents, type NewEvent } from '@slipway/platform-events';
import { DEPLOYMENTS, deploymentStream, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { IsNull, Not } from 'typeorm';
import { InstanceEntity, type InstanceState } from './instance.entity.js';
import { CHANGE_INSTANCE, type InstanceRow, type WorkloadRow } from './instance.query.js';
import { readSecret } from './secrets.js';
import { TargetCatalog } from './target-catalog.js';
import { WorkloadEntity } from './workload.entity.js';
import { LOCK_WORKLOAD } from './workload.query.js';

/** What becomes of an instance's row; what is left out stays as it is. */
export interface InstanceChange {
  state: InstanceState;
  generation?: number;
  baseUrl?: string | null;
  message?: string | null;
  incarnation?: string | null;
  reason?: ObservationReason | null;
  place?: string | null;
  /** Adds one to the restarts. */
  isCrash?: boolean;
  crashStreak?: number;
  backOffSeconds?: number;
  event?: NewEvent;
  /** Refuses the change when somebody holds the workload by now. */
  onlyIfReleased?: boolean;
  /** Wakes nobody: the whole stack goes down, and who waits shall find the instance as it was. */
  isSilent?: boolean;
}

/**
 * The reconciler's writes. Each is one transaction under the workload's lock, guarded by the version of the row that was
 * read: of two reconcilers that saw the same row, one writes. A change in or out of `ready` is published to the gateways in
 * the same transaction. Waiters are woken by another one (`workload-waiters.ts`), because operation rows must not be
 * locked after a workload's.
 */
@Injectable()
export class InstanceTransitions {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator' | 'secretKey'>,
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    @Inject(REVISIONS) private readonly revisions: RevisionsPort,
  ) {}

  /** Rows for the ordinals that have none. A second reconciler that does the same adds nothing. */
  async addInstances(target: string, workload: WorkloadRow, ordinals: readonly number[]): Promise<void> {
    const { revision_id, tenant_id } = workload;
    const rows = ordinals.map((ordinal) => ({ id: newId('ins'), revision_id, tenant_id, target, ordinal }));
    await this.database.tx('system', (tx) =>
      tx.repository(InstanceEntity).createQueryBuilder().insert().values(rows).orIgnore().updateEntity(false).execute(),
    );
  }

  /** Returns the row as it then stands, or undefined where it was not as the caller had read it. */
  change(workload: WorkloadRow, instance: InstanceRow, change: InstanceChange): Promise<InstanceRow | undefined> {
    return this.database.tx('system', async (tx) => {
      const locked = await tx.one<{ is_held: boolean }>(LOCK_WORKLOAD, [workload.revision_id]);
      if (!locked || (change.onlyIfReleased && locked.is_held)) return undefined;
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
      ]);
      if (!written) return undefined;
      const isReadinessChanged =
        (instance.state === 'ready') !== (next.state === 'ready') ||
        (next.state === 'ready' && instance.base_url !== next.base_url);
      if (isReadinessChanged) await this.publish(tx, workload);
      const isNews = isReadinessChanged || change.isCrash || next.state === 'stopped';
      if (isNews && !change.isSilent) await markChanged(tx, workload);
      if (change.event)
        await appendEvents(tx, workload.tenant_id, deploymentStream(workload.deployment_id), [change.event]);
      return next;
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

  private async publish(tx: Tx, workload: WorkloadRow): Promise<void> {
    const { revision_id, tenant_id } = workload;
    const ready = await tx
      .repository(InstanceEntity)
      .find({
        select: { id: true, base_url: true },
        where: { revision_id, tenant_id, state: 'ready', base_url: Not(IsNull()) },
        order: { ordinal: 'ASC' },
      });
    const target = this.catalog.find(workload.spec.runtime.target)?.config;
    const reference = workload.spec.endpoint?.credential_ref;
    // Leaving the gateways' sight must not fail for a secret that is gone.
    const credential =
      reference === undefined || ready.length === 0
        ? null
        : sealSecret(this.config.secretKey, readSecret(this.config.operator, reference));
    await publishBackend(tx, {
      revisionId: workload.revision_id,
      revisionName: workload.revision_name,
      tenantId: workload.tenant_id,
      deploymentId: workload.deployment_id,
      modelId: workload.spec.model.id,
      instances: ready.map(({ id, base_url }) => ({ id, base_url: base_url as string, state: 'ready' })),
      credential,
      guard: target?.allow ? { allow: target.allow } : null,
    });
  }
}

/** Waits are judged by this time, so it is the clock's and not the transaction's. */
async function markChanged(tx: Tx, workload: WorkloadRow, change: { is_active?: false } = {}): Promise<void> {
  const { revision_id, tenant_id } = workload;
  await tx
    .repository(WorkloadEntity)
    .update({ revision_id, tenant_id }, { ...change, changed_at: () => 'clock_timestamp()' });
}

function after(instance: InstanceRow, change: InstanceChange): InstanceRow {
  return {
    ...instance,
    state: change.state,
    generation: change.generation ?? instance.generation,
    base_url: change.baseUrl === undefined ? instance.base_url : change.baseUrl,
    message: change.message === undefined ? instance.message : change.message,
    incarnation: change.incarnation === undefined ? instance.incarnation : change.incarnation,
    reason: change.reason === undefined ? instance.reason : change.reason,
    place: change.place === undefined ? instance.place : change.place,
    crash_streak: change.crashStreak ?? instance.crash_streak,
    restarts: instance.restarts + (change.isCrash ? 1 : 0),
    version: instance.version + 1,
  };
}
