import { prepared } from '@slipway/platform-database';
import type { DeviceClaimEntity, TargetDeviceEntity } from './device.entity.js';
import { RETAINERS, IS_RETAINED, IS_NEEDED, IS_SUSPENDED, WARM_AGE } from '../workloads/workload.query.js';

/*
 * Who holds which accelerator. The rows of a target's devices are locked, after a workload's and before an instance's, by whoever gives one
 * away or takes one back: of two starts that want the last device the second sees the claim of the first. A device that two targets list is
 * one device, so its rows are locked together. That one device has one owner is also an index of the table.
 */

export type DeviceRow = Pick<
  TargetDeviceEntity,
  'uuid' | 'device_index' | 'name' | 'memory_mb' | 'used_mb' | 'foreign_mb' | 'is_usable' | 'problem' | 'stuck_above_mb'
>;

const DEVICE_COLUMNS =
  'd.uuid, d.device_index, d.name, d.memory_mb, d.used_mb, d.foreign_mb, d.is_usable, d.problem, d.stuck_above_mb';

/** Read for a tenant too, which has no say over these rows: as the system. */
export const READ_DEVICES = prepared(
  'instances-read-devices',
  `select d.target, ${DEVICE_COLUMNS} from target_devices d where d.target = any($1) order by d.target, d.device_index, d.uuid`,
);

/** The same of one target, locked together with what other targets call these devices. */
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
  /** It is over and its memory is back, as far as that can be seen. */
  is_back: boolean;
  /** More than `warm` retains its workload. */
  is_needed: boolean;
  /** Seconds; null unless its workload is only kept warm. */
  warm_age_seconds: number | null;
}

/** In use at most, once an owner has given its memory back: a tenth of what it held, and what drivers keep for themselves, may stay. */
const BACK_MB = `(coalesce(c.before_mb, 0) + (c.peak_mb - coalesce(c.before_mb, 0)) / 10 + 128)`;
/** Only a look that began after the end can tell. What takes a part is gone with its processes: nobody can tell its memory from others'. */
const IS_BACK = `(c.ended_at is not null and (c.memory_mb is not null or d.measured_at > c.ended_at and
  (d.used_mb is null or c.peak_mb is null or d.used_mb <= ${BACK_MB})))`;

/** Claims on the devices of targets $1, whichever target their holders are of. */
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

/** A generation that hangs may still run: what comes after it is started on the same devices. */
const IS_OVER = `(i.state in ('stopped', 'pending')
  or i.state = 'backing_off' and coalesce(i.reason, 'none') not in ('none', 'start_failed', 'start_timeout', 'probe_failed', 'health_path_missing', 'not_allowed', 'replaced'))`;

/** Of the instances of target $1, or of instance $2 alone: notes the end of those whose processes are gone. */
export const END_DEVICE_CLAIMS = prepared(
  'instances-end-device-claims',
  `update device_claims c set ended_at = clock_timestamp() from instances i
   where i.id = c.instance_id and c.target = $1 and ($2::text is null or c.instance_id = $2) and c.ended_at is null and ${IS_OVER}`,
);

/** Most that was in use while their holders ran. */
export const RECORD_DEVICE_PEAKS = prepared(
  'instances-record-device-peaks',
  `update device_claims c set peak_mb = greatest(c.peak_mb, d.used_mb) from target_devices d
   where c.target = $1 and d.target = c.target and d.uuid = c.device_uuid and c.ended_at is null and d.measured_at > c.claimed_at`,
);

/**
 * Devices whose last owner is gone for longer than memory may take to come back: faulty until no more is in use than before. Where nobody can
 * measure, the next look that can brings it back.
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

/** What has stopped and given back its memory holds nothing any more. What starts again keeps its devices. */
export const RELEASE_DEVICE_CLAIMS = prepared(
  'instances-release-device-claims',
  `delete from device_claims c using instances i, target_devices d
   where c.target = $1 and i.id = c.instance_id and i.state = 'stopped' and d.uuid = c.device_uuid and d.target = c.target and ${IS_BACK}
   returning c.device_uuid`,
);

/** What a look has seen, at $3 and as $2 says: inserts and updates at once. A faulty device is well when no more is in use than may be. */
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

/** One row a target, the last look's. */
export const RECORD_DEVICE_CHECK = prepared(
  'instances-record-device-check',
  `insert into target_device_looks (target, looked_at, problem) values ($1, $2, $3)
   on conflict (target) do update set looked_at = excluded.looked_at, problem = excluded.problem`,
);

/** What is not among $2 any more: kept while somebody holds it, and not usable. */
export const FORGET_DEVICES = prepared(
  'instances-forget-devices',
  `with claimed as (
     update target_devices d set is_usable = false, problem = 'is not there any more' where d.target = $1 and d.uuid <> all($2)
       and exists (select from device_claims c where c.device_uuid = d.uuid and c.target = d.target) returning d.uuid
   )
   delete from target_devices d where d.target = $1 and d.uuid <> all($2) and d.uuid not in (select uuid from claimed)`,
);

/** Whether devices wait for their holders' memory: they are looked at more often. */
export const HAS_ENDING_DEVICE_CLAIMS = prepared(
  'instances-has-ending-device-claims',
  `select exists (select from device_claims c join instances i on i.id = c.instance_id
     where c.target = $1 and i.state in ('stopped', 'pending', 'backing_off'))
     or exists (select from target_devices where target = $1 and stuck_above_mb is not null) as has_ending`,
);

/**
 * The workloads beside $2 on target $1 for which devices are kept: what an operation suspended, and what came before $2 and waits. With how
 * many of their instances have devices.
 */
export const READ_DEVICE_QUEUE = prepared(
  'instances-read-device-queue',
  `select w.revision_id, w.spec, w.replicas, ${RETAINERS} as retainers, case when ${IS_SUSPENDED} then w.suspended_by end as suspended_by,
     ${WARM_AGE} is not null as is_warm, (w.activated_at, w.revision_id) < (me.activated_at, me.revision_id) as is_ahead,
     (select count(distinct c.instance_id)::int from device_claims c join instances i on i.id = c.instance_id
      where i.revision_id = w.revision_id) as served
   from workloads w, workloads me where w.target = $1 and w.is_active and w.revision_id <> $2 and me.revision_id = $2 and ${IS_RETAINED}
   order by w.activated_at, w.revision_id`,
);
