import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { StepFailed } from '@slipway/platform-durable/operations';
import { quotasOfTenant } from '@slipway/platform-durable/quotas';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { instanceFailures, type CapacityForecast, type CapacityRequest } from '@slipway/ports/instances';
import { DeviceAssignments, type DeviceCapacity } from '../devices/device-assignments.js';
import { initialReplicas, withinCapacity } from './scaling-decision.js';
import { reserveInstanceQuota, type QuotaRequester } from './instance-quota.js';
import { replicasOn } from '../catalog/instance-spec.js';
import { TargetCatalog, type Target } from '../catalog/target-catalog.js';
import { COUNT_CAPACITY_IN_USE, READ_WANTED_REPLICAS, COUNT_NEEDED_OF_TENANT } from '../workloads/workload.query.js';

type CapacityCounts = Pick<CapacityForecast, 'total' | 'free' | 'own'>;
type CapacityRow = Record<'taken' | 'own' | 'wanted', number>;

/** How many instances a revision begins with, and the capacity for them: the same number for who forecasts and for who wants them. */
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
    const counts = await this.countsOf(tx, about, target);
    const ofOne = await this.devices.capacity(tx, spec, 1, about);
    const replicas = target ? await this.replicas(tx, about, target, counts, ofOne) : 0;
    const forecast: CapacityForecast = { target: name, resource: 'place', replicas, needed: replicas, ...counts };
    if (!ofOne) return forecast;
    const devices = { ...ofOne, needed: ofOne.needed * replicas };
    return spareCapacity(devices) >= spareCapacity(forecast)
      ? forecast
      : { ...forecast, resource: 'device', ...devices };
  }

  /**
   * What the tenant may have is judged here once more: between two requests that were accepted at once, only the quota's lock decides.
   * @throws StepFailed `quota_exceeded`
   */
  async reserveQuota(tx: Tx, requester: QuotaRequester, replicas: number): Promise<void> {
    const { max, taken, isReserved } = await reserveInstanceQuota(tx, this.config, requester, replicas);
    if (isReserved) return;
    throw new StepFailed(
      instanceFailures.quota_exceeded,
      `the quota instances allows ${max}: ${taken} are taken, and ${replicas} more are wanted`,
      { retryable: true, evidence: { quota: 'instances', limit: max } },
    );
  }

  private async countsOf(
    tx: Tx,
    about: CapacityRequest,
    target: Target | undefined,
  ): Promise<CapacityCounts & Pick<CapacityForecast, 'wanted'>> {
    const { tenantId, spec, deploymentId, revisionId } = about;
    const total = target?.config.max_instances ?? null;
    const values = [spec.runtime.target, deploymentId, revisionId ?? null, tenantId];
    const [{ taken, own, wanted }] = (await tx.lookAsSystem<CapacityRow>(COUNT_CAPACITY_IN_USE, values)) as [
      CapacityRow,
    ];
    return { total, free: total === null ? null : Math.max(0, total - taken), own, wanted };
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
    // What is stopped first leaves its capacity.
    const withOwn = ({ free, own }: CapacityCounts) =>
      free === null ? Number.POSITIVE_INFINITY : free + (areStopped ? own : 0);
    const { instances: quota } = await quotasOfTenant(tx, this.config, tenantId);
    const needs = await tx.one<{ needed: number }>(COUNT_NEEDED_OF_TENANT, [tenantId, revisionId ?? null]);
    const ofQuota = withOwn({ total: quota, free: quota - (needs?.needed ?? 0), own: counts.own });
    const ofDevices = devices ? Math.floor(withOwn(devices) / devices.needed) : Number.POSITIVE_INFINITY;
    return withinCapacity(initial, Math.min(withOwn(counts), ofDevices, ofQuota));
  }

  /** Instances that are wanted of each of these revisions. */
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
