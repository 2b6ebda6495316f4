import type { Device, RevisionSpec } from '@slipway/contracts';
import { Injectable } from '@nestjs/common';
import { shareOf, type TargetShare } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import type { RevisionSpecIssue } from '@slipway/ports/instances';
import { DeviceClaimEntity } from './device.entity.js';
import { chooseDevices, countFitting, suitable, whyNot, type DeviceDemand, type DeviceState } from './device-choice.js';
import {
  READ_DEVICE_CLAIMS,
  READ_DEVICES,
  END_DEVICE_CLAIMS,
  LOCK_DEVICES,
  READ_DEVICE_QUEUE,
  type DeviceClaimRow,
  type DeviceRow,
} from './device.query.js';
import { devicesOfShare, fitsShare, hasNeighbours } from '../workloads/target-share.js';
import type { InstanceRow, WorkloadRow } from '../workloads/instance.query.js';
import { engineTraitsOf, TargetCatalog, type Target } from '../catalog/target-catalog.js';

const FREE_WITHIN_SECONDS = 30;
const MOST_NAMED = 4;

/** Why an instance does not start yet. */
export interface DeviceWait {
  message: string;
  /** A workload that is only kept warm on devices that this instance needs. */
  evict?: { revision_id: string; tenant_id: string };
}

/** Capacity in devices: entire ones, or parts of the size that an instance needs. */
export interface DeviceCapacity {
  needed: number;
  total: number | null;
  free: number | null;
  own: number;
  /** Whether the tenant's share of the target leaves less than the target. */
  isShare?: true;
}

interface DeviceRequest {
  demand: DeviceDemand;
  freeWithinSeconds: number;
}

type DeviceQueueRow = Pick<
  WorkloadRow,
  'revision_id' | 'tenant_id' | 'tenant_name' | 'spec' | 'replicas' | 'retainers' | 'suspended_by'
> & { is_warm: boolean; is_ahead: boolean; served: number };

interface DeviceReservation extends Pick<DeviceQueueRow, 'tenant_id' | 'tenant_name'> {
  spec: RevisionSpec;
  /** Instances that have no devices yet. */
  count: number;
  /** Whether they start as soon as they can. */
  isStarting: boolean;
}

/** Returns the most devices of a tenant, by its name and what one instance needs. */
type DeviceShares = (tenantName: string, demand: DeviceDemand) => number;

/** Decides which instance gets which accelerators of its host. The stored claims are the only state. */
@Injectable()
export class DeviceAssignments {
  constructor(private readonly catalog: TargetCatalog) {}

  /** Returns undefined if the engine needs no device, or the target knows of no devices. */
  private requestOf(target: Target | undefined, spec: RevisionSpec): DeviceRequest | undefined {
    if (!target?.driver.devices) return undefined;
    const traits = engineTraitsOf(target.driver, spec);
    if (!traits?.gpus) return undefined;
    const { accelerator, count = traits.gpus.min, memory_mb: memoryMb } = spec.resources ?? {};
    if (count < 1) return undefined;
    return {
      demand: {
        count,
        memoryMb: traits.gpus.share === 'fraction' ? (memoryMb ?? 0) : null,
        ...(accelerator === undefined ? {} : { accelerator }),
      },
      freeWithinSeconds: traits.memoryFreeWithinSeconds ?? FREE_WITHIN_SECONDS,
    };
  }

  /** Returns the demands of a spec that its target cannot meet, even with all its devices free. */
  async issues(tx: Tx, target: Target, spec: RevisionSpec, replicas: number): Promise<RevisionSpecIssue[]> {
    const asked = this.requestOf(target, spec);
    if (!asked) return [];
    const { demand } = asked;
    if (demand.memoryMb !== null && demand.memoryMb < 1) {
      const message = `engine "${spec.runtime.engine}" shares devices: set the number of MiB that it uses of each`;
      return [{ field: 'resources.memory_mb', code: 'required', message }];
    }
    const { name } = target.config;
    const devices = await tx.lookAsSystem<DeviceRow>(READ_DEVICES, [[name]]);
    // No check of the devices has succeeded yet. The instance then waits for one.
    if (devices.length === 0) return [];
    const empty = devices.map((device) => stateOf({ ...device, foreign_mb: 0, used_mb: null }, []));
    const fitting = countFitting(
      empty.map(({ problem: _, ...device }) => device),
      demand,
    );
    const needed = demand.count * replicas;
    if (fitting >= needed) return [];
    const part = demand.memoryMb === null ? '' : ` with ${demand.memoryMb} MiB each`;
    const field = demand.memoryMb !== null && fitting < demand.count ? 'resources.memory_mb' : 'resources.count';
    const message = `target "${name}" has ${fitting} suitable devices${part}, but ${needed} are requested`;
    return [{ field, code: 'not_allowed', message }];
  }

  /** @param share of the tenant, of the target of the spec */
  async capacity(
    tx: Tx,
    spec: RevisionSpec,
    replicas: number,
    { tenantId, deploymentId, revisionId }: { tenantId: string; deploymentId: string; revisionId?: string },
    share: TargetShare,
  ): Promise<DeviceCapacity | undefined> {
    const found = this.catalog.find(spec.runtime.target);
    const asked = this.requestOf(found, spec);
    if (!asked) return undefined;
    const { demand } = asked;
    const target = [spec.runtime.target];
    const devices = await tx.lookAsSystem<DeviceRow>(READ_DEVICES, [target]);
    const needed = demand.count * replicas;
    if (devices.length === 0) return { needed, total: null, free: null, own: 0 };
    const claims = await tx.lookAsSystem<DeviceClaimRow>(READ_DEVICE_CLAIMS, [target]);
    const needful = claims.filter((claim) => claim.is_needed && claim.revision_id !== revisionId);
    const isOwn = (claim: DeviceClaimRow) => claim.deployment_id === deploymentId;
    // Measured use is ignored: it does not show how much will be free once the instances have stopped.
    const fitting = (taken: DeviceClaimRow[]) =>
      countFitting(
        devices.map((device) => stateOf({ ...device, used_mb: null }, taken)),
        demand,
      );
    const free = fitting(needful);
    const own = fitting(needful.filter((claim) => !isOwn(claim))) - free;
    const most = devicesOfShare(share, devices.length, demand.count);
    const taken = devicesIn(needful.filter((claim) => claim.tenant_id === tenantId)).size;
    // Parts of devices that the tenant already uses are free for it, so only the start counts their devices.
    if (demand.memoryMb !== null || most - taken >= free) return { needed, total: fitting([]), free, own };
    return { needed, total: most, free: Math.max(0, most - taken), own, isShare: true };
  }

  /**
   * Gives the instance its devices, or returns the reason to wait. Call it with the workload locked, in the transaction
   * that begins the start.
   */
  async assign(tx: Tx, workload: WorkloadRow, instance: InstanceRow): Promise<DeviceWait | undefined> {
    const target = this.catalog.find(workload.spec.runtime.target);
    const asked = this.requestOf(target, workload.spec);
    if (!target || !asked) return undefined;
    const { name, start_parallelism_per_device: startsAtOnce = 1 } = target.config;
    const locked = await tx.query<DeviceRow & { target: string }>(LOCK_DEVICES, [name]);
    const devices = locked.filter((device) => device.target === name);
    await tx.query(END_DEVICE_CLAIMS, [name, instance.id]);
    const claims = await tx.query<DeviceClaimRow>(READ_DEVICE_CLAIMS, [[name]]);
    const own = claims.filter((claim) => claim.instance_id === instance.id);
    if (own.some((claim) => claim.has_ended && !claim.is_back))
      return { message: `waiting until the memory of its devices on target ${name} is free` };
    const others = claims.filter((claim) => claim.instance_id !== instance.id);
    const states = devices.map((device) => stateOf(device, others));
    const { demand } = asked;
    const kept = ownDevices(states, own, demand);
    if (kept?.some((device) => device.starting >= startsAtOnce))
      return { message: `waiting because another instance is starting on the same device of target ${name}` };
    const mostOf = await sharesOf(tx, target, devices.length);
    const most = mostOf(workload.tenant_name, demand);
    const ofTenant = others.filter((claim) => claim.tenant_id === workload.tenant_id);
    const used = devicesIn(ofTenant);
    const free = kept ?? (await this.choose(tx, target, workload, { states, claims: others, mostOf }, asked));
    const isLimited = !kept && most < devices.length;
    const isShareFull =
      isLimited && (free ? !fitsShare(used, free, most) : demand.memoryMb === null && used.size + demand.count > most);
    // Devices that the tenant already uses in part add nothing to its share.
    const partly = states.filter(({ uuid }) => used.has(uuid));
    const chosen = isShareFull ? chooseDevices(partly, demand, startsAtOnce) : free;
    if (chosen) await this.claim(tx, workload, instance, chosen, asked);
    else if (isShareFull) return waitForShare(name, most, ofTenant, workload);
    else return waitFor(name, demand, startsAtOnce, states, others, workload);
    return undefined;
  }

  /** Returns the devices for the instance's engine. The index is read at each start, because it may change. */
  async devicesOf(tx: Tx, { id }: Pick<InstanceRow, 'id'>): Promise<Pick<Device, 'uuid' | 'index'>[]> {
    const claims = await tx
      .repository(DeviceClaimEntity)
      .find({ where: { instance_id: id }, order: { position: 'ASC' } });
    return claims.map(({ device_uuid, device_index }) => ({ uuid: device_uuid, index: device_index }));
  }

  /** Chooses devices that are free for the workload, after the devices kept for others are set aside. */
  private async choose(
    tx: Tx,
    target: Target,
    workload: WorkloadRow,
    { states, claims, mostOf }: { states: DeviceState[]; claims: readonly DeviceClaimRow[]; mostOf: DeviceShares },
    { demand }: DeviceRequest,
  ): Promise<DeviceState[] | undefined> {
    const { start_parallelism_per_device: startsAtOnce = 1 } = target.config;
    const queue = await tx.query<DeviceQueueRow>(READ_DEVICE_QUEUE, [target.config.name, workload.revision_id]);
    for (const { tenant_id, tenant_name, spec, count, isStarting } of reservationsOf(queue, workload)) {
      const before = this.requestOf(target, spec)?.demand;
      if (!before) continue;
      const most = mostOf(tenant_name, before);
      const used = devicesIn(claims.filter((claim) => claim.tenant_id === tenant_id));
      for (let one = 0; one < count; one += 1) {
        // A reservation that does not fit now, or not into the share of its tenant, reserves nothing, so another
        // instance may use the devices meanwhile.
        const chosen = chooseDevices(states, before, Number.POSITIVE_INFINITY) ?? [];
        if (!fitsShare(used, chosen, most)) break;
        for (const device of chosen) {
          used.add(device.uuid);
          device.claims.push(before.memoryMb);
          device.starting += isStarting ? 1 : 0;
        }
      }
    }
    return chooseDevices(states, demand, startsAtOnce);
  }

  private async claim(
    tx: Tx,
    { tenant_id, spec }: WorkloadRow,
    { id }: InstanceRow,
    devices: readonly DeviceState[],
    { demand, freeWithinSeconds }: DeviceRequest,
  ): Promise<void> {
    const claims = tx.repository(DeviceClaimEntity);
    await claims.delete({ instance_id: id, tenant_id });
    await claims.insert(
      devices.map(({ uuid, index, name, usedMb }, position) => ({
        instance_id: id,
        device_uuid: uuid,
        position,
        target: spec.runtime.target,
        tenant_id,
        device_index: index,
        device_name: name,
        memory_mb: demand.memoryMb,
        before_mb: usedMb,
        free_within_seconds: freeWithinSeconds,
        claimed_at: () => 'clock_timestamp()',
      })),
    );
  }
}

function stateOf(device: DeviceRow, claims: readonly DeviceClaimRow[]): DeviceState {
  const own = claims.filter((claim) => claim.device_uuid === device.uuid);
  const problem = problemOf(device);
  return {
    uuid: device.uuid,
    index: device.device_index,
    name: device.name,
    memoryMb: device.memory_mb,
    usedMb: device.used_mb,
    foreignMb: device.foreign_mb,
    ...(problem === undefined ? {} : { problem }),
    claims: own.map((claim) => claim.memory_mb),
    starting: own.filter((claim) => claim.is_starting).length,
  };
}

/** Returns the reason why no instance can start on a device; undefined if there is none. */
export function problemOf({ is_usable, problem, stuck_above_mb: stuckAbove }: DeviceRow): string | undefined {
  if (!is_usable) return problem ?? 'is not usable';
  return stuckAbove === null ? undefined : 'is unusable: its last instance has ended, but its memory is still not free';
}

/** Returns the devices from the instance's last start, if they still suit the next one. */
function ownDevices(states: DeviceState[], own: DeviceClaimRow[], demand: DeviceDemand): DeviceState[] | undefined {
  const devices = own.flatMap((claim) => states.find(({ uuid }) => uuid === claim.device_uuid) ?? []);
  const isGood = devices.length === demand.count && devices.every(({ problem }) => problem === undefined);
  const isSame = own.every((claim) => claim.memory_mb === demand.memoryMb);
  return isGood && isSame ? devices : undefined;
}

/**
 * Returns the instances for which devices are set aside: first those of workloads that an operation suspended, then
 * those that have waited longer. The successor of a suspended workload waits for no other workload.
 */
function reservationsOf(queue: readonly DeviceQueueRow[], { retainers }: WorkloadRow): DeviceReservation[] {
  const isSuccessor = queue.some((one) => retainers.includes(`operation:${one.suspended_by}`));
  const suspended = queue.flatMap(({ tenant_id, tenant_name, spec, replicas, suspended_by: operation }) => {
    const retainer = `operation:${operation}`;
    if (operation === null || retainers.includes(retainer)) return [];
    const users = queue.filter((one) => one.suspended_by === operation || one.retainers.includes(retainer));
    return [
      {
        tenant_id,
        tenant_name,
        spec,
        count: replicas - users.reduce((sum, { served }) => sum + served, 0),
        isStarting: false,
      },
    ];
  });
  const ahead = queue
    .filter((one) => one.is_ahead && !one.is_warm && one.suspended_by === null)
    .map(({ tenant_id, tenant_name, spec, replicas, served }) => ({
      tenant_id,
      tenant_name,
      spec,
      count: replicas - served,
      isStarting: true,
    }));
  return isSuccessor ? suspended : [...suspended, ...ahead];
}

function waitFor(
  target: string,
  demand: DeviceDemand,
  startsAtOnce: number,
  states: readonly DeviceState[],
  claims: readonly DeviceClaimRow[],
  workload: WorkloadRow,
): DeviceWait {
  if (states.length === 0)
    return { message: `waiting for a device: the devices of target ${target} are not known yet` };
  const candidates = suitable(states, demand);
  const reasons = candidates.slice(0, MOST_NAMED).map((device) => {
    const own = claims.filter((claim) => claim.device_uuid === device.uuid);
    return `${device.name} ${device.index} ${reasonOf(whyNot(device, demand, startsAtOnce), own, workload.tenant_id)}`;
  });
  const more = candidates.length > MOST_NAMED ? ` and ${candidates.length - MOST_NAMED} more` : '';
  const what = demand.count === 1 ? 'a device' : `${demand.count} devices of one kind`;
  const message = `waiting for ${what} of target ${target}: ${reasons.join('; ')}${more}`;
  const isCandidate = ({ device_uuid }: DeviceClaimRow) => candidates.some(({ uuid }) => uuid === device_uuid);
  return { message, ...evictionFor(workload, claims, isCandidate) };
}

async function sharesOf(tx: Tx, { config }: Target, total: number): Promise<DeviceShares> {
  const hasSecondTenant = await hasNeighbours(tx, [config]);
  return (tenantName, { count }) => devicesOfShare(shareOf(config, tenantName, hasSecondTenant), total, count);
}

/** Only workloads of the same tenant are stopped for it, because those of others free no part of its share. */
function waitForShare(
  target: string,
  most: number,
  claims: readonly DeviceClaimRow[],
  workload: WorkloadRow,
): DeviceWait {
  const message = `waiting for devices of the tenant on target ${target}: it may use at most ${most} devices of this shared target`;
  return { message, ...evictionFor(workload, claims, () => true) };
}

/** Returns the longest warm workload of the claims that help, to stop it for a workload that waits. */
function evictionFor(
  { warm_age_seconds }: WorkloadRow,
  claims: readonly DeviceClaimRow[],
  helps: (claim: DeviceClaimRow) => boolean,
): Pick<DeviceWait, 'evict'> {
  // A workload that is already stopping may free enough. A workload that is only warm does not evict another.
  const isLeaving = claims.some((claim) => claim.has_ended || (!claim.is_needed && claim.warm_age_seconds === null));
  if (isLeaving || warm_age_seconds !== null) return {};
  const [longest] = claims
    .filter((claim) => claim.warm_age_seconds !== null && helps(claim))
    .sort((one, other) => (other.warm_age_seconds ?? 0) - (one.warm_age_seconds ?? 0));
  return longest ? { evict: { revision_id: longest.revision_id, tenant_id: longest.tenant_id } } : {};
}

function devicesIn(claims: readonly DeviceClaimRow[]): Set<string> {
  return new Set(claims.map(({ device_uuid }) => device_uuid));
}

function reasonOf(why: string | undefined, claims: readonly DeviceClaimRow[], tenantId: string): string {
  if (why === undefined) return 'is free';
  if (why !== 'is in use') return why;
  if (claims.length === 0) return 'is reserved for an instance that has waited longer';
  const names = claims.map((claim) => (claim.tenant_id === tenantId ? claim.revision_name : 'another tenant'));
  return `is used by ${[...new Set(names)].slice(0, MOST_NAMED).join(', ')}`;
}
