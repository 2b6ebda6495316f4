import { PERMANENT_REASONS, sqlList, WORKLOADS_CHANNEL } from '@slipway/contracts';
import { KEYS, locking, lookup, prepared } from '@slipway/platform-database';
import { isLiveOperation } from '@slipway/platform-durable/operations';

/*
 * Desired state: which workloads should run, and for which retainers. Locks, in the order in which they are taken:
 *
 * - the quota `instances` of the tenant, only when instances are added to it;
 * - the row of a workload. `RETAIN_WORKLOAD` takes it FOR SHARE. The reconciler takes it FOR NO KEY UPDATE before it
 *   stops or retires anything. So the reconciler either sees the new retainer or has finished before it. An eviction
 *   skips locked rows, because the holder of the lock is about to retain the workload.
 *
 * Operation rows and event streams come after both, never before: see `instance-transitions.ts` and `target-rows.ts`.
 */

const unexpired = (row: string): string => `(${row}.expires_at is null or ${row}.expires_at > now())`;

/** Whether anything retains workload `w`. */
export const IS_RETAINED = `exists (select from workload_holds h where h.revision_id = w.revision_id and ${unexpired('h')})`;

/** Whether anything except `warm` retains workload `w`. */
export const IS_NEEDED = `exists (select from workload_holds h where h.revision_id = w.revision_id and h.holder <> 'warm' and ${unexpired('h')})`;

/**
 * Whether an operation retains workload `w`. The operation wants instances, and decides itself how to treat their
 * starts.
 */
export const IS_AWAITED = `exists (select from workload_holds h where h.revision_id = w.revision_id and h.holder like 'operation:%' and ${unexpired('h')})`;

export const RETAINERS = `array(select h.holder from workload_holds h where h.revision_id = w.revision_id and ${unexpired('h')})`;

/** Age in seconds; null if the workload is needed or not retained. */
export const WARM_AGE = `(select extract(epoch from now() - h.placed_at)::float8 from workload_holds h
  where h.revision_id = w.revision_id and h.holder = 'warm' and ${unexpired('h')} and not ${IS_NEEDED})`;

/**
 * Whether an operation keeps workload `w` from running. This ends with the operation, however that ends, so no undo
 * step is needed.
 */
export const IS_SUSPENDED = isLiveOperation('w.suspended_by');

/** Whether instances of workload `w` should run. */
const IS_WANTED = `(${IS_RETAINED} and not ${IS_SUSPENDED})`;

/**
 * Counts the instances that retained workloads want on each of the targets, without workload $2. The sum is computed in
 * Postgres. A workload that is stopping does not count: its replacement starts after it has stopped.
 */
export const COUNT_WANTED_OF_TARGETS = prepared(
  'instances-count-wanted-of-targets',
  `select w.target, sum(w.replicas + w.spare)::int as taken from workloads w
   where w.target = any($1) and w.is_active and w.revision_id is distinct from $2 and ${IS_WANTED} group by w.target`,
);

/** The same for a tenant, on all targets. */
export const COUNT_WANTED_OF_TENANT = prepared(
  'instances-count-wanted-of-tenant',
  `select coalesce(sum(w.replicas + w.spare), 0)::int as taken from workloads w
   where w.tenant_id = $1 and w.is_active and w.revision_id is distinct from $2 and ${IS_WANTED}`,
);

const countNeeded = (where = ''): string =>
  `select coalesce(sum(w.replicas + w.spare), 0)::int as needed from workloads w
   where w.tenant_id = $1 and w.is_active and w.revision_id is distinct from $2${where} and ${IS_NEEDED}`;

/** Counts the instances of a tenant that are needed: more than `warm` retains them. */
export const COUNT_NEEDED_OF_TENANT = prepared('instances-count-needed-of-tenant', countNeeded());

/** Counts the same on target $3, for the tenant's share of it. */
export const COUNT_NEEDED_OF_SHARE = prepared('instances-count-needed-of-share', countNeeded(' and w.target = $3'));

/** The row that `LOCK_WORKLOAD` reads. */
export interface LockedWorkload {
  is_active: boolean;
  replicas: number;
  is_retained: boolean;
  is_wanted: boolean;
  is_needed: boolean;
}

/**
 * The first lock of every change of a workload or its instances, so that two changes of a workload are published in
 * order.
 */
export const LOCK_WORKLOAD = locking(
  'workload',
  prepared(
    'instances-lock-workload',
    `select w.is_active, w.replicas, ${IS_RETAINED} as is_retained, ${IS_WANTED} as is_wanted, ${IS_NEEDED} as is_needed from workloads w where w.revision_id = $1 for no key update of w`,
  ),
);

/** Locks the warm workloads of a tenant. Skips rows that others have locked, because those are about to be retained. */
export const LOCK_WARM_OF_TENANT = locking(
  'workload',
  prepared(
    'instances-lock-warm-of-tenant',
    `select w.revision_id, w.replicas from workloads w join workload_holds warm on warm.revision_id = w.revision_id and warm.holder = 'warm'
   where w.tenant_id = $1 and w.is_active and w.revision_id <> $2 and ${unexpired('warm')} and not ${IS_NEEDED}
   order by warm.placed_at, w.revision_id for no key update of w skip locked`,
  ),
  () => [],
);

/**
 * Activates a workload, in one statement that depends on the row before it. Restarts count from the last activation, so
 * an inactive row starts again at 0. The caller computes the number of replicas under the quota lock. For a retained
 * workload it is never below the wanted number (`READ_WANTED_REPLICAS`).
 */
export const ACTIVATE_WORKLOAD = prepared(
  'instances-activate-workload',
  `with before as (
     select is_active from workloads where revision_id = $1
   ), written as (
     insert into workloads as w (revision_id, tenant_id, deployment_id, revision_name, target, replicas, spec) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (revision_id) do update set
       is_active = true, replicas = excluded.replicas, spare = case when w.is_active then w.spare else 0 end, revision_name = excluded.revision_name, abandons_silent = false,
       suspended_by = case when w.is_active then w.suspended_by end,
       activated_at = case when w.is_active and w.replicas > 0 then w.activated_at else now() end,
       changed_at = case when w.is_active then w.changed_at else clock_timestamp() end
     returning w.revision_id
   )
   update instances i set restarts = 0, crashes = 0, crash_streak = 0, message = null from written
   where i.revision_id = written.revision_id and not coalesce((select is_active from before), false)`,
);

/** The notification is sent with the commit of the row, so the reconciler sees both or neither. */
export const SUSPEND_WORKLOAD = locking(
  'workload',
  prepared(
    'instances-suspend-workload',
    `with written as (
     update workloads set suspended_by = $2, suspended_drain_seconds = $3::float8 where revision_id = $1 and suspended_by is distinct from $2 returning target
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from written`,
  ),
);

/** Adds an instance to a workload that runs, or removes it. The notification is sent with the commit of the row. */
export const SET_SPARE = locking(
  'workload',
  prepared(
    'instances-set-spare',
    `with written as (
     update workloads set spare = $2::int where revision_id = $1 and spare <> $2 and (is_active or $2 = 0) returning target
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from written`,
  ),
);

/**
 * Lets an instance stop and start again, unless it is not running, or has another generation than $3 by now. The new
 * version keeps a reconciler from writing back what it read before.
 */
export const REPLACE_INSTANCE = prepared(
  'instances-replace',
  `with written as (
     update instances set replace_drain_seconds = $4::float8, version = version + 1
     where revision_id = $1 and id = $2 and generation = $3 and state in ('starting', 'ready', 'unhealthy') and replace_drain_seconds is null
     returning target
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from written`,
);

/** Reads the instances of a revision that run or will run. A restart polls it. It reads two tables. */
export const READ_MEMBERS = prepared(
  'instances-read-members',
  `select w.spare > 0 as "hasSpare", array(
     select jsonb_build_object('id', i.id, 'ordinal', i.ordinal, 'generation', i.generation, 'state', i.state,
       'message', i.message, 'reason', i.reason, 'failure', i.failure, 'failedStarts', i.failed_starts, 'progress', i.progress,
       'isSpare', i.ordinal >= w.replicas, 'isReplaced', i.replace_drain_seconds is not null)
     from instances i
     where i.revision_id = w.revision_id and w.is_active and i.ordinal < w.replicas + w.spare and (i.state <> 'stopped' or i.ordinal >= w.replicas)
     order by i.ordinal) as members
   from workloads w where w.revision_id = $1`,
);

/**
 * Counts the instances that are needed on a target: of all tenants, of one tenant, and of one deployment; without those
 * of one revision. The instances of a suspended workload count, because they are kept for its deployment. Also counts what the
 * tenant wants on all targets, without the retentions, which are read only if this is near the quota. Runs at every
 * accepted rollout.
 */
export const COUNT_CAPACITY_IN_USE = prepared(
  'instances-count-capacity-in-use',
  `select coalesce(sum(w.replicas + w.spare), 0)::int as taken, coalesce(sum(w.replicas + w.spare) filter (where w.deployment_id = $2), 0)::int as own,
     coalesce(sum(w.replicas + w.spare) filter (where w.tenant_id = $4), 0)::int as "ofTenant",
     (select coalesce(sum(t.replicas + t.spare), 0)::int from workloads t where t.tenant_id = $4 and t.is_active) as wanted
   from workloads w where w.target = $1 and w.is_active and w.revision_id is distinct from $3 and ${IS_NEEDED}`,
);

/**
 * Reads the wanted instances of these revisions of tenant $1. The reasons to retain are in another table; revisions
 * that nothing retains are omitted.
 */
export const READ_WANTED_REPLICAS = prepared(
  'instances-read-wanted-replicas',
  `select w.revision_id, w.replicas from workloads w where w.tenant_id = $1 and w.revision_id = any($2) and w.is_active and ${IS_RETAINED}`,
);

/** Reads the longest of the last three successful starts of deployment $1, in seconds. */
export const READ_START_SECONDS = prepared(
  'instances-read-start-seconds',
  `select max(start_seconds) as seconds from (
     select i.start_seconds from instances i join workloads w using (revision_id)
     where w.deployment_id = $1 and i.start_seconds is not null order by i.start_began_at desc limit 3) newest`,
);

/** Locks, upserts and notifies in one statement, because it runs at every change of a route. */
export const RETAIN_WORKLOAD = locking(
  'workload',
  prepared(
    'instances-retain-workload',
    `with retained as (
     select revision_id, tenant_id, target from workloads where revision_id = $1 for share
   ), written as (
     insert into workload_holds (revision_id, tenant_id, holder, expires_at) select revision_id, tenant_id, $2, now() + make_interval(secs => $3::float8) from retained
     on conflict (revision_id, holder) do update set expires_at = excluded.expires_at, placed_at = now()
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from retained`,
  ),
);

/** The notification is sent with the commit of the row. Runs at every change of a route. */
export const RELEASE_WORKLOAD = prepared(
  'instances-release-workload',
  `with released as (
     delete from workload_holds where revision_id = $1 and holder = $2 returning revision_id
   )
   select pg_notify('${WORKLOADS_CHANNEL}', w.target) from released join workloads w using (revision_id)`,
);

/** If several instances fail, the one that ends the wait first. */
const FIRST_TO_TELL = `i.failure->>'cause' in (${sqlList([...PERMANENT_REASONS])}) desc, i.failed_starts desc, i.ordinal`;

const DESIRED = `case when w.is_active and ${IS_WANTED} then w.replicas else 0 end`;
const IS_ASLEEP = `w.is_active and exists (select from workload_scalings s where s.revision_id = w.revision_id and s.asleep_since is not null)`;

/** Aggregates the state of a workload, for every check of a waiting rollout. */
export const READ_WORKLOAD_STATUS = prepared(
  'instances-read-workload-status',
  `select ${DESIRED} as desired,
     count(i.id) filter (where i.state = 'ready')::int as ready,
     count(i.id) filter (where i.state <> 'stopped')::int as alive,
     coalesce(sum(i.restarts), 0)::int as restarts, coalesce(sum(i.crashes), 0)::int as crashes,
     (array_agg(i.message order by i.observed_at desc) filter (where i.message is not null and i.state <> 'ready'))[1] as message,
     (array_agg(i.reason order by i.observed_at desc) filter (where i.message is not null and i.state <> 'ready'))[1] as reason,
     coalesce(array_agg(i.base_url order by i.ordinal) filter (where i.state = 'ready'), '{}') as "baseUrls",
     (array_agg(i.failure order by ${FIRST_TO_TELL}) filter (where i.failure is not null and i.state <> 'ready'))[1] as failure,
     (array_agg(i.failed_starts order by ${FIRST_TO_TELL}) filter (where i.failure is not null and i.state <> 'ready'))[1] as "failedStarts",
     (array_agg(i.progress order by i.started_at desc) filter (where i.state = 'starting'))[1] as progress,
     extract(epoch from now() - max(i.started_at) filter (where i.state = 'starting'))::float8 as "startingSeconds",
     ${IS_ASLEEP} as "isAsleep"
   from workloads w left join instances i on i.revision_id = w.revision_id
   where w.revision_id = $1 group by w.revision_id`,
);

/**
 * The part of `READ_WORKLOAD_STATUS` that determines health, and the number of instances that occupy devices, for
 * several revisions, such as those of a page of deployments.
 */
export const READ_SERVING_STATUS = lookup(
  'instances-read-serving-status',
  `select w.revision_id as key, ${DESIRED} as desired,
     counted.ready, counted.running, ${IS_ASLEEP} as "isAsleep"
   from workloads w, lateral (
     select count(*) filter (where i.state = 'ready')::int as ready,
       count(*) filter (where i.state in ('starting', 'ready', 'unhealthy'))::int as running
     from instances i where i.revision_id = w.revision_id) as counted
   where w.revision_id = any ${KEYS}`,
);

/** The last failed start of each deployment, from an index of those that have one. */
export const READ_LAST_FAILED_STARTS = lookup(
  'instances-read-last-failed-starts',
  `select distinct on (w.deployment_id) w.deployment_id as key, w.revision_name as revision, w.last_failed_start->>'instance_id' as "instanceId",
     slipway_rfc3339(w.last_failed_start_at) as at, w.last_failed_start as failure
   from workloads w where w.deployment_id = any ${KEYS} and w.last_failed_start is not null
   order by w.deployment_id, w.last_failed_start_at desc`,
);

/**
 * Registers a waiter, also over an earlier registration. Notifies the reconciler, because the awaited change may have
 * happened just before.
 */
export const WAIT_FOR_WORKLOAD = prepared(
  'instances-wait-for-workload',
  `with watched as (
     select revision_id, tenant_id, target from workloads where revision_id = $1
   ), written as (
     insert into workload_waiters (revision_id, operation_id, tenant_id) select revision_id, $2, tenant_id from watched
     on conflict (revision_id, operation_id) do update set created_at = excluded.created_at
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from watched`,
);

/**
 * Reads the draining instances of deployments, for every answer about a deployment. An instance without an address never
 * had a request.
 */
export const READ_DRAINING = lookup(
  'instances-read-draining',
  `select w.deployment_id as key, json_agg(json_build_object('id', i.id, 'revision_id', w.revision_id, 'revision_name', w.revision_name,
     'until', i.drain_until, 'abandons_silent', i.abandons_silent or w.abandons_silent) order by w.revision_name, i.ordinal) as instances
   from workloads w join instances i using (revision_id)
   where w.deployment_id = any ${KEYS} and w.is_active and i.state = 'stopping' and i.base_url is not null and i.drain_until > now()
   group by w.deployment_id`,
);

/** Reads the first instances of deployment $1 that nothing wants and that have not stopped, with their retentions. */
export const READ_UNENDED = prepared(
  'instances-read-unended',
  `select i.id, i.target, i.message from workloads w join instances i using (revision_id)
   where w.deployment_id = $1 and i.state <> 'stopped' and not ${IS_WANTED} order by w.revision_name, i.ordinal limit 5`,
);

/** The version keeps a reconciler from writing back what it read before. The notification is sent with the commit. */
export const END_DRAINS = prepared(
  'instances-end-drains',
  `with ended as (
     update instances i set drain_until = now(), version = i.version + 1 from workloads w
     where w.revision_id = i.revision_id and w.tenant_id = $1 and w.deployment_id = $2 and i.state = 'stopping' and i.drain_until > now()
     returning w.revision_name, w.target
   )
   select distinct revision_name from ended, lateral (select pg_notify('${WORKLOADS_CHANNEL}', target)) notified order by revision_name`,
);

/**
 * Reads the next workloads, in the order of their ids, that have ended: nothing runs, nothing retains them, and no
 * device waits until their memory is free. The conditions are on four tables.
 */
export const READ_ENDED_WORKLOADS = prepared(
  'instances-read-ended-workloads',
  `select w.revision_id from workloads w
   where w.revision_id > $1 and not w.is_active
     and not ${IS_RETAINED}
     and not exists (select from instances i where i.revision_id = w.revision_id and i.state <> 'stopped')
     and not exists (select from instances i join device_claims c on c.instance_id = i.id where i.revision_id = w.revision_id)
   order by w.revision_id limit $2`,
);

/** Deletes them with their instances, unless one of them was activated in the meantime. */
export const DELETE_WORKLOADS = prepared(
  'instances-delete-workloads',
  'delete from workloads where revision_id = any($1) and not is_active',
);
