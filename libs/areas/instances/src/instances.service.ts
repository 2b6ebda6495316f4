import type { InstanceDevices, PromisedTraits, RevisionSpec } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { drainCountsOf, inFlight, type DrainCounts } from '@slipway/dataplane';
import { tenantName } from '@slipway/platform-http/auth';
import { digestOf, Database, type Reads, type Tx } from '@slipway/platform-database';
import { operationFailures, StepFailed } from '@slipway/platform-durable/operations';
import { lockQuota } from '@slipway/platform-durable/quotas';
import type {
  AdoptedServer,
  Retainer,
  InstancesPort,
  WorkloadPreparation,
  CapacityForecast,
  CapacityRequest,
  DeviceQuestion,
  LastFailedStart,
  MemberGeneration,
  ServingStatus,
  RevisionDrain,
  RevisionMembers,
  RevisionSpecIssue,
  UnendedInstance,
  Workload,
  WorkloadStatus,
} from '@slipway/ports/instances';
import { In } from 'typeorm';
import { AdoptedModels } from './access/adopted-models.js';
import { EngineKeys } from './access/engine-keys.js';
import { InstanceEntity } from './workloads/instance.entity.js';
import { InstanceCapacity } from './scaling/instance-capacity.js';
import { placeholderSecrets, toInstanceSpec, engineTraitsOf, TargetCatalog } from './catalog/target-catalog.js';
import { waitedFor } from './lifecycle/instance-stops.js';
import { startRules, toldBy } from './lifecycle/start-rules.js';
import { PreparationEntity } from './lifecycle/preparation.entity.js';
import { REQUEST_PREPARATION } from './lifecycle/preparation.query.js';
import { AdoptedNames } from './access/adopted-names.js';
import { Secrets, SpecCheck, REMOVED_TARGET } from './access/tenant-access.js';
import { WorkloadEntity, WorkloadRetentionEntity } from './workloads/workload.entity.js';
import {
  ACTIVATE_WORKLOAD,
  END_DRAINS,
  READ_DRAINING,
  RETAIN_WORKLOAD,
  LOCK_WORKLOAD,
  RELEASE_WORKLOAD,
  READ_LAST_FAILED_STARTS,
  READ_SERVING_STATUS,
  READ_START_SECONDS,
  READ_WORKLOAD_STATUS,
  READ_MEMBERS,
  READ_UNENDED,
  REPLACE_INSTANCE,
  SET_SPARE,
  SUSPEND_WORKLOAD,
  COUNT_NEEDED_OF_TENANT,
  WAIT_FOR_WORKLOAD,
  type LockedWorkload,
} from './workloads/workload.query.js';

/** The port of this area: writes what should run and reports what runs. Nothing here starts or stops an instance. */
@Injectable()
export class InstancesService implements InstancesPort {
  readonly assertMayBecomeReady = startRules.assertMayBecomeReady;
  readonly lateFailure = startRules.lateFailure;
  readonly waitMessage = startRules.waitMessage;
  readonly troubleText = startRules.troubleText;
  readonly progressText = startRules.progressText;

  constructor(
    private readonly database: Database,
    private readonly catalog: TargetCatalog,
    private readonly specCheck: SpecCheck,
    private readonly names: AdoptedNames,
    private readonly capacity: InstanceCapacity,
    private readonly secrets: Secrets,
    private readonly models: AdoptedModels,
    private readonly keys: EngineKeys,
  ) {}

  resolveNames(tenantName: string, spec: unknown): Promise<void> {
    return this.names.resolve(tenantName, spec);
  }

  check(tx: Tx, tenantId: string, spec: RevisionSpec): Promise<RevisionSpecIssue[]> {
    return this.specCheck.of(tx, tenantId, spec);
  }

  traits(spec: RevisionSpec): PromisedTraits | undefined {
    return engineTraitsOf(this.catalog.find(spec.runtime.target)?.driver, spec);
  }

  devices({ runtime: { target, engine }, resources }: DeviceQuestion): InstanceDevices {
    const driver = this.catalog.find(target)?.driver;
    const runtime = { target, ...(engine === undefined ? {} : { engine }), args: {}, env: {} };
    const known = driver?.instanceDevices?.({ runtime, ...(resources && { resources }) });
    if (known) return known;
    const { accelerator = null, count } = resources ?? {};
    if (count !== undefined) return { accelerator, count };
    // Neither model nor scaling determine the devices.
    const traits = engineTraitsOf(driver, { model: { id: '' }, scaling: { min_replicas: 1 }, runtime });
    return { accelerator, count: Math.max(accelerator === null ? 0 : 1, traits?.gpus?.min ?? 0) };
  }

  engineVersion({ runtime: { target, engine = '' } }: Pick<DeviceQuestion, 'runtime'>): string | null {
    const { engines } = (this.catalog.find(target)?.config ?? {}) as { engines?: Record<string, unknown> };
    return engines && Object.hasOwn(engines, engine) ? digestOf(JSON.parse(JSON.stringify(engines[engine]))) : null;
  }

  examine(workload: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>) {
    return this.models.examine(workload);
  }

  async want(tx: Tx, workload: Workload, retainer: Retainer): Promise<void> {
    const { revisionId, revisionName, tenantId, deploymentId, spec } = workload;
    const target = this.catalog.find(spec.runtime.target);
    if (!target) throw notThere(`execution target "${spec.runtime.target}" does not exist`);
    await lockQuota(tx, tenantId, 'instances');
    const { replicas } = await this.capacity.forecast(tx, workload);
    const current = await tx.one<LockedWorkload>(LOCK_WORKLOAD, [revisionId]);
    const wanted = current?.is_active && current.is_retained ? current.replicas : 0;
    // A sleeping workload has no instances. It is started like one that was not wanted before.
    if (wanted === 0 && target.isRemoved) throw notThere(`execution target "${target.config.name}" ${REMOVED_TARGET}`);
    if (replicas > wanted) await this.capacity.reserveQuota(tx, workload, replicas);
    await tx.query(ACTIVATE_WORKLOAD, [
      revisionId,
      tenantId,
      deploymentId,
      revisionName,
      target.config.name,
      replicas,
      JSON.stringify(spec),
    ]);
    await this.forgetFailures(tx, workload, retainer);
    await this.retain(tx, revisionId, retainer);
  }

  forecastCapacity(tx: Tx, about: CapacityRequest): Promise<CapacityForecast> {
    return this.capacity.forecast(tx, about);
  }

  async startSeconds(tx: Tx, deploymentId: string): Promise<number | null> {
    return (await tx.one<{ seconds: number | null }>(READ_START_SECONDS, [deploymentId]))?.seconds ?? null;
  }

  async suspend(tx: Tx, revisionId: string, operationId: string, drainSeconds?: number): Promise<void> {
    await tx.query(SUSPEND_WORKLOAD, [revisionId, operationId, drainSeconds ?? null]);
  }

  async prepare(
    tx: Tx,
    { tenantId, revisionId, spec }: Pick<Workload, 'tenantId' | 'revisionId' | 'spec'>,
    operationId: string,
  ): Promise<void> {
    const { target } = spec.runtime;
    const state = this.catalog.find(target)?.driver.prepare ? 'asked' : 'ready';
    await tx.query(REQUEST_PREPARATION, [operationId, revisionId, tenantId, target, JSON.stringify(spec), state]);
  }

  async preparation(tx: Tx, revisionId: string, operationId: string): Promise<WorkloadPreparation | undefined> {
    const found = await tx
      .repository(PreparationEntity)
      .findOneBy({ revision_id: revisionId, operation_id: operationId });
    return found ?? undefined;
  }

  async resumeWorkload(tx: Tx, revisionId: string): Promise<void> {
    await tx.query(SUSPEND_WORKLOAD, [revisionId, null, null]);
  }

  async retain(tx: Tx, revisionId: string, retainer: Retainer, forSeconds?: number): Promise<void> {
    await tx.query(RETAIN_WORKLOAD, [revisionId, retainer, forSeconds ?? null]);
  }

  async release(tx: Tx, revisionId: string, retainer: Retainer): Promise<void> {
    await tx.query(RELEASE_WORKLOAD, [revisionId, retainer]);
  }

  async abandonSilentRequests(tx: Tx, tenantId: string, revisionId: string): Promise<void> {
    await tx
      .repository(WorkloadEntity)
      .update({ revision_id: revisionId, tenant_id: tenantId }, { abandons_silent: true });
  }

  async draining(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, RevisionDrain[]>> {
    const rows = await reads.find<{ key: string; instances: DrainingInstance[] }>(READ_DRAINING, deploymentIds);
    if (rows.length === 0) return new Map();
    const counts = await drainCountsOf(
      reads,
      rows.flatMap(({ instances }) => instances),
    );
    return new Map(rows.map(({ key, instances }) => [key, drainsOf(instances, counts)]));
  }

  async endDrains(tx: Tx, tenantId: string, deploymentId: string): Promise<string[]> {
    const rows = await tx.query<{ revision_name: string }>(END_DRAINS, [tenantId, deploymentId]);
    return rows.map(({ revision_name }) => revision_name);
  }

  async unended(tx: Tx, deploymentId: string): Promise<UnendedInstance[]> {
    const rows = await tx.query<{ id: string; target: string; message: string | null }>(READ_UNENDED, [deploymentId]);
    return rows.map(({ id, target, message }) => {
      const known = this.catalog.find(target);
      const absent = !known ? "the operator's file does not name the target" : undefined;
      return { id, target, why: absent ?? message ?? 'it is stopping' };
    });
  }

  async addSpare(tx: Tx, workload: Workload): Promise<void> {
    const { revisionId, tenantId } = workload;
    await lockQuota(tx, tenantId, 'instances');
    if (await this.capacity.hasSpare(tx, workload)) await tx.query(SET_SPARE, [revisionId, 1]);
  }

  async removeSpare(tx: Tx, revisionId: string): Promise<void> {
    await tx.query(SET_SPARE, [revisionId, 0]);
  }

  async replace(tx: Tx, revisionId: string, { id, generation }: MemberGeneration, drainSeconds: number): Promise<void> {
    await tx.query(REPLACE_INSTANCE, [revisionId, id, generation, drainSeconds]);
  }

  async members(tx: Tx, revisionId: string): Promise<RevisionMembers> {
    return (await tx.one<RevisionMembers>(READ_MEMBERS, [revisionId])) ?? { hasSpare: false, members: [] };
  }

  isAdopted(spec: RevisionSpec): boolean {
    return this.catalog.find(spec.runtime.target)?.driver.adopts === true;
  }

  status(tx: Tx, revisionId: string): Promise<WorkloadStatus | undefined> {
    return tx.one<WorkloadStatus>(READ_WORKLOAD_STATUS, [revisionId]);
  }

  async serving(reads: Reads, revisionIds: readonly string[]): Promise<Map<string, ServingStatus>> {
    const rows = await reads.find<ServingStatus & { key: string }>(READ_SERVING_STATUS, revisionIds);
    return new Map(rows.map(({ key, ...serving }) => [key, serving]));
  }

  async lastFailedStarts(reads: Reads, deploymentIds: readonly string[]): Promise<Map<string, LastFailedStart>> {
    const rows = await reads.find<LastFailedStart & { key: string }>(READ_LAST_FAILED_STARTS, deploymentIds);
    return new Map(
      rows.map(({ key, failure, ...start }) => [key, { ...start, failure: { ...failure, message: toldBy(failure) } }]),
    );
  }

  async driftedSince(tx: Tx, revisionIds: readonly string[]): Promise<Map<string, string>> {
    const rows = await tx
      .repository(InstanceEntity)
      .find({
        select: { revision_id: true, state_since: true },
        where: { revision_id: In([...revisionIds]), state: 'unhealthy', reason: 'model_changed' },
        order: { state_since: 'DESC' },
      });
    // The rows are in descending order, so the earliest time of a revision is set last and remains.
    return new Map(rows.map(({ revision_id, state_since }) => [revision_id, state_since.toISOString()]));
  }

  adoptedServers(tx: Tx, revisionId: string): Promise<AdoptedServer[]> {
    return this.models.servers(tx, revisionId);
  }

  async wakeOnChange(tx: Tx, revisionId: string, operationId: string): Promise<void> {
    await tx.query(WAIT_FOR_WORKLOAD, [revisionId, operationId]);
  }

  async probe(revisionId: string): Promise<{ answered: number; asked: number }> {
    const found = await this.database.tx('system', async (tx) => {
      const workload = await tx.repository(WorkloadEntity).findOneBy({ revision_id: revisionId });
      if (!workload) return undefined;
      const ready = await tx.repository(InstanceEntity).findBy({ revision_id: revisionId, state: 'ready' });
      return { workload, ready, name: await tenantName(tx, workload.tenant_id) };
    });
    if (!found) return { answered: 0, asked: 0 };
    const { workload, ready, name } = found;
    const answers = await Promise.all(ready.map((instance) => this.answers(workload, name, instance)));
    return { answered: answers.filter(Boolean).length, asked: ready.length };
  }

  inFlight(tx: Tx, revisionId: string): Promise<number> {
    return inFlight(tx, revisionId);
  }

  async needed(tx: Tx, tenantId: string, exceptRevisionId?: string): Promise<number> {
    return (
      (await tx.one<{ needed: number }>(COUNT_NEEDED_OF_TENANT, [tenantId, exceptRevisionId ?? null]))?.needed ?? 0
    );
  }

  /**
   * A new retainer waits for its own starts, so earlier failures do not count. The new version keeps a reconciler from
   * writing back what it read before.
   */
  private async forgetFailures(tx: Tx, { revisionId, tenantId }: Workload, retainer: Retainer): Promise<void> {
    const retention = { revision_id: revisionId, tenant_id: tenantId, holder: retainer };
    if (await tx.repository(WorkloadRetentionEntity).existsBy(retention)) return;
    await tx
      .repository(InstanceEntity)
      .update(
        { revision_id: revisionId, tenant_id: tenantId },
        { failure: null, failed_starts: 0, version: () => 'version + 1' },
      );
  }

  /** Sends a probe concurrently with the checks of the reconciler, and does not change their counts. Never throws. */
  private async answers(
    { target, spec, tenant_id, revision_id }: WorkloadEntity,
    tenant: string,
    instance: InstanceEntity,
  ): Promise<boolean> {
    const { id, generation, ordinal, base_url: baseUrl } = instance;
    const driver = this.catalog.find(target)?.driver;
    if (!driver || baseUrl === null) return false;
    try {
      const secrets = this.secrets.readerOf({ tenantId: tenant_id, tenantName: tenant, revisionId: revision_id });
      const about = { id, generation, ordinal, tenantName: tenant };
      const asked = toInstanceSpec(spec, about, driver.adopts ? secrets : placeholderSecrets);
      return await driver.answers({ ...asked, ...this.keys.of(instance) }, baseUrl);
    } catch {
      return false;
    }
  }
}

/** An instance that waits for its requests. */
interface DrainingInstance {
  id: string;
  revision_id: string;
  revision_name: string;
  until: string;
  abandons_silent: boolean;
}

/** Sums up the instances of each revision. A revision whose requests have ended is left out. */
function drainsOf(instances: readonly DrainingInstance[], counts: ReadonlyMap<string, DrainCounts>): RevisionDrain[] {
  const drains = new Map<string, RevisionDrain>();
  for (const { id, revision_name: revisionName, until, abandons_silent: abandons } of instances) {
    const requests = waitedFor(counts.get(id) ?? { in_flight: 0, silent: 0 }, abandons);
    if (requests === 0) continue;
    const known = drains.get(revisionName);
    const latest = [known?.until ?? '', new Date(until).toISOString()].sort().at(-1) as string;
    drains.set(revisionName, { revisionName, requests: requests + (known?.requests ?? 0), until: latest });
  }
  return [...drains.values()];
}

function notThere(message: string): StepFailed {
  return new StepFailed(operationFailures.validation_failed, message, { retryable: false });
}
