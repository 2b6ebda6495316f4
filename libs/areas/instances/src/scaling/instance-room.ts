import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import { StepFailed } from '@slipway/platform-durable/operations';
import { quotasOfTenant } from '@slipway/platform-durable/quotas';
import { DEPLOYMENTS, type DeploymentsPort } from '@slipway/ports/deployment-records';
import { instanceFailures, type Room, type RoomAsked } from '@slipway/ports/instances';
import { DeviceAssignments, type DeviceRoom } from '../devices/device-assignments.js';
import { initialReplicas, withinRoom } from './scaling-decision.js';
import { roomInQuota, type Asking } from './quota-room.js';
import { replicasOn } from '../catalog/instance-spec.js';
import { TargetCatalog, type Target } from '../catalog/target-catalog.js';
import { CAPACITY_IN_USE, STANDING, TENANT_NEEDS } from '../workloads/workload.query.js';

type Places = Pick<Room, 'total' | 'free' | 'own'>;
type Held = Record<'taken' | 'own' | 'wanted', number>;

/** How many instances a revision begins with, and the room for them: the same number for who forecasts and for who wants them. */
@Injectable()
export class InstanceRoom {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<Config, 'operator' | 'rateLimit' | 'gateway'>,
    @Inject(DEPLOYMENTS) private readonly deployments: DeploymentsPort,
    private readonly catalog: TargetCatalog,
    private readonly devices: DeviceAssignments,
  ) {}

  async of(tx: Tx, about: RoomAsked): Promise<Room> {
    const { spec } = about;
    const name = spec.runtime.target;
    const target = this.catalog.find(name);
    const places = await this.places(tx, about, target);
    const ofOne = await this.devices.room(tx, spec, 1, about);
    const replicas = target ? await this.replicas(tx, about, target, places, ofOne) : 0;
    const room: Room = { target: name, resource: 'place', replicas, needed: replicas, ...places };
    if (!ofOne) return room;
    const devices = { ...ofOne, needed: ofOne.needed * replicas };
    return spareOf(devices) >= spareOf(room) ? room : { ...room, resource: 'device', ...devices };
  }

  /**
   * What the tenant may have is judged here once more: between two requests that were accepted at once, only the quota's lock decides.
   * @throws StepFailed `quota_exceeded`
   */
  async takeOfQuota(tx: Tx, asking: Asking, replicas: number): Promise<void> {
    const { max, taken, hasRoom } = await roomInQuota(tx, this.config, asking, replicas);
    if (hasRoom) return;
    throw new StepFailed(
      instanceFailures.quota_exceeded,
      `the quota instances allows ${max}: ${taken} are taken, and ${replicas} more are wanted`,
      { retryable: true, evidence: { quota: 'instances', limit: max } },
    );
  }

  private async places(tx: Tx, about: RoomAsked, target: Target | undefined): Promise<Places & Pick<Room, 'wanted'>> {
    const { tenantId, spec, deploymentId, revisionId } = about;
    const total = target?.config.max_instances ?? null;
    const values = [spec.runtime.target, deploymentId, revisionId ?? null, tenantId];
    const [{ taken, own, wanted }] = (await tx.lookAsSystem<Held>(CAPACITY_IN_USE, values)) as [Held];
    return { total, free: total === null ? null : Math.max(0, total - taken), own, wanted };
  }

  private async replicas(
    tx: Tx,
    { tenantId, deploymentId, revisionId, spec, takesOver }: RoomAsked,
    target: Target,
    places: Places,
    devices: DeviceRoom | undefined,
  ): Promise<number> {
    if (target.driver.adopts) return replicasOn(target, spec);
    const { revisionIds = [], areStopped = false } = takesOver ?? {};
    const standing = await this.standing(tx, tenantId, revisionId ? [...revisionIds, revisionId] : revisionIds);
    const { [revisionId ?? '']: running = 0, ...others } = standing;
    const override = (await this.deployments.scalingOverrides(tx, [deploymentId])).get(deploymentId) ?? null;
    const { scaling } = spec;
    const initial = initialReplicas({ scaling, override, running, baseline: Math.max(0, ...Object.values(others)) });
    if (initial.wished <= initial.least) return initial.least;
    // What is stopped first makes room.
    const withOwn = ({ free, own }: Places) =>
      free === null ? Number.POSITIVE_INFINITY : free + (areStopped ? own : 0);
    const { instances: quota } = await quotasOfTenant(tx, this.config, tenantId);
    const needs = await tx.one<{ needed: number }>(TENANT_NEEDS, [tenantId, revisionId ?? null]);
    const ofQuota = withOwn({ total: quota, free: quota - (needs?.needed ?? 0), own: places.own });
    const ofDevices = devices ? Math.floor(withOwn(devices) / devices.needed) : Number.POSITIVE_INFINITY;
    return withinRoom(initial, Math.min(withOwn(places), ofDevices, ofQuota));
  }

  /** Instances that are wanted of each of these revisions. */
  private async standing(tx: Tx, tenantId: string, revisionIds: readonly string[]): Promise<Record<string, number>> {
    if (revisionIds.length === 0) return {};
    const rows = await tx.query<{ revision_id: string; replicas: number }>(STANDING, [tenantId, revisionIds]);
    return Object.fromEntries(rows.map(({ revision_id, replicas }) => [revision_id, replicas]));
  }
}

function spareOf({ free, needed }: Pick<Room, 'free' | 'needed'>): number {
  return free === null ? Number.POSITIVE_INFINITY : free - needed;
}
