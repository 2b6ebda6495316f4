import { Inject, Injectable } from '@nestjs/common';
import { In } from 'typeorm';
import { CONFIG, type Config, type TargetShare } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { StepFailed } from '@slipway/platform-durable/operations';
import { quotasOfTenant } from '@slipway/platform-durable/quotas';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { type CapacityForecast, type CapacityRequest, instanceFailures } from '@slipway/ports/instances';
import { replicasOn, type Target, TargetCatalog } from '../catalog/target-catalog.js';
import { DeviceAssignments, type DeviceCapacity } from '../devices/device-assignments.js';
import { shareOfTenant } from '../workloads/target-share.js';
import { WorkloadRetentionEntity } from '../workloads/workload.entity.js';
import {
  COUNT_CAPACITY_IN_USE,
  COUNT_NEEDED_OF_TENANT,
  COUNT_WANTED_OF_TENANT,
  LOCK_WARM_OF_TENANT,
  READ_WANTED_REPLICAS,
} from '../workloads/workload.query.js';
import { initialReplicas, withinCapacity } from './scaling-decision.js';

/** The tenant whose instances are counted, and the requesting revision, which is left out. */
export interface QuotaRequester {
  tenantId: string;
  revisionId: string;
}

/**
 * Reserves `replicas` instances of the tenant's quota for the requesting revision. If necessary, stops keeping others
 * warm. Call it under the quota lock, so that no concurrent request uses the same part of the quota.
 */
export async function reserveInstanceQuota(
  tx: Tx,
  config: Parameters<typeof quotasOfTenant>[1],
  requester: QuotaRequester,
  replicas: number,
): Promise<{ max: number; taken: number; isReserved: boolean }> {
  const { instances: max } = await quotasOfTenant(tx, config, requester.tenantId);
  const taken = await takenByOthers(tx, requester);
  return { max, taken, isReserved: await evictWarm(tx, taken + replicas - max, requester) };
}

async function takenByOthers(tx: Tx, { tenantId, revisionId }: QuotaRequester): Promise<number> {
  return (await tx.one<{ taken: number }>(COUNT_WANTED_OF_TENANT, [tenantId, revisionId]))?.taken ?? 0;
}

/**
 * Removes reasons to keep others warm, the longest first, until enough instances are free. If that is not enough, it
 * removes none and returns false.
 */
async function evictWarm(tx: Tx, missing: number, { tenantId, revisionId }: QuotaRequester): Promise<boolean> {
  if (missing <= 0) return true;
  const evicted: string[] = [];
  for (const warm of await tx.query<{ revision_id: string; replicas: number }>(LOCK_WARM_OF_TENANT, [
    tenantId,
    revisionId,
  ])) {
    if (missing <= 0) break;
    evicted.push(warm.revision_id);
    missing -= warm.replicas;
  }
  if (missing > 0) return false;
  await tx.repository(WorkloadRetentionEntity).delete({ revision_id: In(evicted), holder: 'warm' });
  return true;
}

const ENTIRE_TARGET: TargetShare = { instances: Number.POSITIVE_INFINITY, partOfDevices: 1 };

type CapacityCounts = Pick<CapacityForecast, 'total' | 'free' | 'own' | 'isShare'>;
type CapacityRow = Record<'taken' | 'own' | 'ofTenant' | 'wanted', number>;

/**
 * Computes how many instances a revision begins with, and the capacity for them. A forecast and a request get the same
 * number.
 */
@Injectable()
export class InstanceCapacity {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator' | 'rateLimit' | 'gateway'>,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    private readonly catalog: TargetCatalog,
    private readonly devices: DeviceAssignments,
  ) {}

  async forecast(tx: Tx, about: CapacityRequest): Promise<CapacityForecast> {
    const { spec } = about;
    const name = spec.runtime.target;
    const target = this.catalog.find(name);
    const share = target ? await shareOfTenant(tx, target.config, about.tenantId) : ENTIRE_TARGET;
    const counts = await this.countsOf(tx, about, target, share);
    const ofOne = await this.devices.capacity(tx, spec, 1, about, share);
    const replicas = target ? await this.replicas(tx, about, target, counts, ofOne) : 0;
    const forecast: CapacityForecast = { target: name, resource: 'place', replicas, needed: replicas, ...counts };
    if (!ofOne) return forecast;
    const devices = { ...ofOne, needed: ofOne.needed * replicas };
    if (spareCapacity(devices) >= spareCapacity(forecast)) return forecast;
    const { isShare: _, ...ofTarget } = forecast;
    return { ...ofTarget, resource: 'device', ...devices };
  }

  /**
   * Checks the quota once more: only the quota lock decides between two requests that were accepted at the same time.
   * @throws StepFailed `quota_exceeded`
   */
  async reserveQuota(tx: Tx, requester: QuotaRequester, replicas: number): Promise<void> {
    const { max, taken, isReserved } = await reserveInstanceQuota(tx, this.config, requester, replicas);
    if (isReserved) return;
    throw new StepFailed(
      instanceFailures.quota_exceeded,
      `Tenant quota instances exceeded: at most ${max} instances; ${taken} are in use and ${replicas} more are needed. Wait until others stop, or ask the operator for a higher quota.`,
      { retryable: true, evidence: { quota: 'instances', limit: max } },
    );
  }

  /**
   * Whether there is capacity for one more instance of a revision that runs. Reserves the quota for it. Call it under the
   * quota lock.
   */
  async hasSpare(tx: Tx, about: CapacityRequest & QuotaRequester): Promise<boolean> {
    const forecast = await this.forecast(tx, about);
    const { [about.revisionId]: running = 0 } = await this.wantedReplicas(tx, about.tenantId, [about.revisionId]);
    if (running === 0 || forecast.replicas === 0) return false;
    const ofOne = forecast.needed / forecast.replicas;
    if (forecast.free !== null && forecast.free < ofOne * (running + 1)) return false;
    return (await reserveInstanceQuota(tx, this.config, about, running + 1)).isReserved;
  }

  private async countsOf(
    tx: Tx,
    about: CapacityRequest,
    target: Target | undefined,
    share: TargetShare,
  ): Promise<CapacityCounts & Pick<CapacityForecast, 'wanted'>> {
    const { tenantId, spec, deploymentId, revisionId } = about;
    const total = target?.config.max_instances ?? null;
    const values = [spec.runtime.target, deploymentId, revisionId ?? null, tenantId];
    const [{ taken, own, ofTenant, wanted }] = (await tx.lookAsSystem<CapacityRow>(COUNT_CAPACITY_IN_USE, values)) as [
      CapacityRow,
    ];
    const free = total === null ? null : Math.max(0, total - taken);
    const freeOfShare = Math.max(0, share.instances - ofTenant);
    // If the target has less than the share allows, the tenant waits for other tenants.
    if (freeOfShare >= (free ?? Number.POSITIVE_INFINITY)) return { total, free, own, wanted };
    return { total: share.instances, free: freeOfShare, own, wanted, isShare: true };
  }

  private async replicas(
    tx: Tx,
    { tenantId, deploymentId, revisionId, spec, takesOver }: CapacityRequest,
    target: Target,
    counts: CapacityCounts,
    devices: DeviceCapacity | undefined,
  ): Promise<number> {
    if (target.driver.adopts) return replicasOn(target, spec);
    const { revisionIds = [], areStopped = false } = takesOver ?? {};
    const wanted = await this.wantedReplicas(tx, tenantId, revisionId ? [...revisionIds, revisionId] : revisionIds);
    const { [revisionId ?? '']: running = 0, ...others } = wanted;
    const override = (await this.deployments.scalingOverrides(tx, [deploymentId])).get(deploymentId) ?? null;
    const { scaling } = spec;
    const initial = initialReplicas({ scaling, override, running, baseline: Math.max(0, ...Object.values(others)) });
    if (initial.wished <= initial.least) return initial.least;
    // The capacity of revisions that are stopped first is free.
    const withOwn = ({ free, own }: CapacityCounts) =>
      free === null ? Number.POSITIVE_INFINITY : free + (areStopped ? own : 0);
    const { instances: quota } = await quotasOfTenant(tx, this.config, tenantId);
    const needs = await tx.one<{ needed: number }>(COUNT_NEEDED_OF_TENANT, [tenantId, revisionId ?? null]);
    const ofQuota = withOwn({ total: quota, free: quota - (needs?.needed ?? 0), own: counts.own });
    const ofDevices = devices ? Math.floor(withOwn(devices) / devices.needed) : Number.POSITIVE_INFINITY;
    return withinCapacity(initial, Math.min(withOwn(counts), ofDevices, ofQuota));
  }

  /** Reads the wanted instances of each of these revisions. */
  private async wantedReplicas(
    tx: Tx,
    tenantId: string,
    revisionIds: readonly string[],
  ): Promise<Record<string, number>> {
    if (revisionIds.length === 0) return {};
    const rows = await tx.query<{ revision_id: string; replicas: number }>(READ_WANTED_REPLICAS, [
      tenantId,
      revisionIds,
    ]);
    return Object.fromEntries(rows.map(({ revision_id, replicas }) => [revision_id, replicas]));
  }
}

function spareCapacity({ free, needed }: Pick<CapacityForecast, 'free' | 'needed'>): number {
  return free === null ? Number.POSITIVE_INFINITY : free - needed;
}
