import { prepared } from '@slipway/platform-database';
import { tenantNameOf } from '@slipway/platform-http/auth';
import type { DeviceClaimEntity, TargetDeviceEntity } from './device.entity.js';
import { RETAINERS, IS_RETAINED, IS_NEEDED, IS_SUSPENDED, WARM_AGE } from '../workloads/workload.query.js';

/*
 * Claims on accelerators. Every transaction that assigns or releases a device locks the rows of its target's devices,
 * after a workload's row and before an instance's. So if two starts want the last device, the second sees the claim of
 * the first. A device that two targets list is one device, so its rows are locked together. An index of the table also
 * ensures that an entire device has one owner.
 */

export type DeviceRow = Pick<
  TargetDeviceEntity,
  'uuid' | 'device_index' | 'name' | 'memory_mb' | 'used_mb' | 'foreign_mb' | 'is_usable' | 'problem' | 'stuck_above_mb'
>;

const DEVICE_COLUMNS =
  'd.uuid, d.device_index, d.name, d.memory_mb, d.used_mb, d.foreign_mb, d.is_usable, d.problem, d.stuck_above_mb';

/** Run this as the system: a tenant reads these rows too, but has no rights on them. */
export const READ_DEVICES = prepared(
  'instances-read-devices',
  `select d.target, ${DEVICE_COLUMNS} from target_devices d where d.target = any($1) order by d.target, d.device_index, d.uuid`,
);

/** Locks the devices of one target, together with the rows of other targets for the same devices. */
export const LOCK_DEVICES = prepared(
  'instances-lock-devices',
  `select d.target, ${DEVICE_COLUMNS} from target_devices d
   where d.uuid in (select own.uuid from target_devices own where own.target = $1) order by d.uuid, d.target for update`,
);

export interface DeviceClaimRow extends Pick<
  DeviceClaimEntity,
  'instance_id' | 'device_uuid' | 'position' | 'tenant_id' | 'memory_mb'
> {
  deployment_id: string;
  revision_id: string;
  revision_name: string;
  is_starting: boolean;
  has_ended: boolean;
  /** Whether it has ended and its memory is free again, as far as this can be measured. */
  is_back: boolean;
  /** Whether more than `warm` retains its workload. */
  is_needed: boolean;
  /** Seconds; null unless its workload is only kept warm. */
  warm_age_seconds: number | null;
}

/**
 * The most memory in use after an owner has released its own. A tenth of its memory, and what drivers keep, may remain
 * in use.
 */
const BACK_MB = `(coalesce(c.before_mb, 0) + (c.peak_mb - coalesce(c.before_mb, 0)) / 10 + 128)`;
/**
 * Only a check that began after the end counts. A part is free as soon as its processes have ended, because its memory
 * cannot be distinguished from that of others.
 */
const IS_BACK = `(c.ended_at is not null and (c.memory_mb is not null or d.measured_at > c.ended_at and
  (d.used_mb is null or c.peak_mb is null or d.used_mb <= ${BACK_MB})))`;

/** Reads the claims on the devices of targets $1, including those of instances on other targets. */
export const READ_DEVICE_CLAIMS = prepared(
  'instances-read-device-claims',
  `select c.instance_id, c.device_uuid, c.position, c.tenant_id, c.memory_mb, w.deployment_id, w.revision_id, w.revision_name,
     i.state = 'starting' as is_starting, c.ended_at is not null as has_ended, ${IS_NEEDED} as is_needed, ${WARM_AGE} as warm_age_seconds,
     coalesce(${IS_BACK}, false) as is_back
   from device_claims c join instances i on i.id = c.instance_id join workloads w on w.revision_id = i.revision_id
     left join target_devices d on d.uuid = c.device_uuid and d.target = c.target
   where c.device_uuid in (select own.uuid from target_devices own where own.target = any($1)) or c.target = any($1)
   order by c.claimed_at, c.instance_id, c.position`,
);

/** A generation that hangs may still run, so the next one starts on the same devices. */
const IS_OVER = `(i.state in ('stopped', 'pending')
  or i.state = 'backing_off' and coalesce(i.reason, 'none') not in ('none', 'start_failed', 'start_timeout', 'probe_failed', 'health_path_missing', 'request_refused', 'not_allowed', 'replaced'))`;

/** For the instances of target $1, or for instance $2 alone: marks the claims whose processes have ended. */
export const END_DEVICE_CLAIMS = prepared(
  'instances-end-device-claims',
  `update device_claims c set ended_at = clock_timestamp() from instances i
   where i.id = c.instance_id and c.target = $1 and ($2::text is null or c.instance_id = $2) and c.ended_at is null and ${IS_OVER}`,
);

/** Records the highest memory use while the holders ran. */
export const RECORD_DEVICE_PEAKS = prepared(
  'instances-record-device-peaks',
  `update device_claims c set peak_mb = greatest(c.peak_mb, d.used_mb) from target_devices d
   where c.target = $1 and d.target = c.target and d.uuid = c.device_uuid and c.ended_at is null and d.measured_at > c.claimed_at`,
);

/**
 * Marks devices whose last owner ended longer ago than its memory may take to become free. They are unusable until no
 * more memory is in use than before the owner. If the use cannot be measured, the next check that can measure it makes
 * the device usable again.
 */
export const MARK_STUCK_DEVICES = prepared(
  'instances-mark-stuck-devices',
  `with late as (
     select c.instance_id, c.device_uuid, coalesce(${BACK_MB}, 2147483647) as above from device_claims c
       left join target_devices d on d.uuid = c.device_uuid and d.target = c.target
     where c.target = $1 and c.ended_at < clock_timestamp() - make_interval(secs => c.free_within_seconds) and not coalesce(${IS_BACK}, false)
   ), marked as (
     update target_devices d set stuck_above_mb = late.above from late where d.uuid = late.device_uuid
   )
   delete from device_claims c using late where c.instance_id = late.instance_id and c.device_uuid = late.device_uuid`,
);

/**
 * Releases the claims of stopped instances whose memory is free again. An instance that starts again keeps its devices.
 */
export const RELEASE_DEVICE_CLAIMS = prepared(
  'instances-release-device-claims',
  `delete from device_claims c using instances i, target_devices d
   where c.target = $1 and i.id = c.instance_id and i.state = 'stopped' and d.uuid = c.device_uuid and d.target = c.target and ${IS_BACK}
   returning c.device_uuid`,
);

/**
 * Records the devices ($2) that a check at $3 found. A stuck device becomes usable once no more memory is in use than
 * allowed.
 */
export const RECORD_DEVICES = prepared(
  'instances-record-devices',
  `insert into target_devices as t (target, uuid, device_index, name, memory_mb, used_mb, foreign_mb, is_usable, problem, measured_at)
   select $1, d.uuid, d.index, d.name, d.memory_mb, d.used_mb, d.foreign_mb, d.is_usable, d.problem, $3
   from jsonb_to_recordset($2::jsonb) as d(uuid text, index int, name text, memory_mb int, used_mb int, foreign_mb int, is_usable boolean, problem text)
   on conflict (target, uuid) do update set
     device_index = excluded.device_index, name = excluded.name, memory_mb = excluded.memory_mb, used_mb = excluded.used_mb,
     foreign_mb = excluded.foreign_mb, is_usable = excluded.is_usable, problem = excluded.problem, measured_at = excluded.measured_at,
     stuck_above_mb = case when coalesce(excluded.used_mb, 0) > t.stuck_above_mb then t.stuck_above_mb end`,
);

/** Records the last check. Each target has one row. */
export const RECORD_DEVICE_CHECK = prepared(
  'instances-record-device-check',
  `insert into target_device_looks (target, looked_at, problem) values ($1, $2, $3)
   on conflict (target) do update set looked_at = excluded.looked_at, problem = excluded.problem`,
);

/** Removes the devices of target $1 that are not in $2. A device with claims stays, but is not usable. */
export const FORGET_DEVICES = prepared(
  'instances-forget-devices',
  `with claimed as (
     update target_devices d set is_usable = false, problem = 'is not there any more' where d.target = $1 and d.uuid <> all($2)
       and exists (select from device_claims c where c.device_uuid = d.uuid and c.target = d.target) returning d.uuid
   )
   delete from target_devices d where d.target = $1 and d.uuid <> all($2) and d.uuid not in (select uuid from claimed)`,
);

/** Whether the memory of ended holders is awaited. Devices are then checked more often. */
export const HAS_ENDING_DEVICE_CLAIMS = prepared(
  'instances-has-ending-device-claims',
  `select exists (select from device_claims c join instances i on i.id = c.instance_id
     where c.target = $1 and i.state in ('stopped', 'pending', 'backing_off'))
     or exists (select from target_devices where target = $1 and stuck_above_mb is not null) as has_ending`,
);

/**
 * Reads the other workloads on target $1 for which devices are kept from workload $2: those that an operation
 * suspended, and earlier ones that wait. Also reads how many of their instances have devices.
 */
export const READ_DEVICE_QUEUE = prepared(
  'instances-read-device-queue',
  `select w.revision_id, w.tenant_id, ${tenantNameOf('w.tenant_id')} as tenant_name, w.spec, w.replicas, ${RETAINERS} as retainers, case when ${IS_SUSPENDED} then w.suspended_by end as suspended_by,
     ${WARM_AGE} is not null as is_warm, (w.activated_at, w.revision_id) < (me.activated_at, me.revision_id) as is_ahead,
     (select count(distinct c.instance_id)::int from device_claims c join instances i on i.id = c.instance_id
      where i.revision_id = w.revision_id) as served
   from workloads w, workloads me where w.target = $1 and w.is_active and w.revision_id <> $2 and me.revision_id = $2 and ${IS_RETAINED}
   order by w.activated_at, w.revision_id`,
);
