import { PERMANENT_REASONS, sqlList, WORKLOADS_CHANNEL } from '@slipway/contracts';
import { KEYS, locking, lookup, prepared } from '@slipway/platform-database';
import { isLiveOperation } from '@slipway/platform-durable/operations';

/*
 * Desired state: who wants what to run. Locks, in the order in which they are taken:
 *
 * - the quota `instances` of the tenant, only by those who add to it;
 * - the row of a workload. `RETAIN_WORKLOAD` takes it FOR SHARE, so that the reconciler, which takes it FOR NO KEY UPDATE before it
 *   stops or retires anything, either sees the new retainer or is done before it. An eviction skips locked rows: whoever has one
 *   locked is about to retain it.
 *
 * Operation rows and event streams come after both, never before: see `instance-transitions.ts` and `target-rows.ts`.
 */

const unexpired = (row: string): string => `(${row}.expires_at is null or ${row}.expires_at > now())`;

/** Whether anything retains workload `w`. */
export const IS_RETAINED = `exists (select from workload_holds h where h.revision_id = w.revision_id and ${unexpired('h')})`;

/** Whether more than `warm` does. */
export const IS_NEEDED = `exists (select from workload_holds h where h.revision_id = w.revision_id and h.holder <> 'warm' and ${unexpired('h')})`;

/** Whether an operation does: it wants instances, and judges by itself what becomes of their starts. */
export const IS_AWAITED = `exists (select from workload_holds h where h.revision_id = w.revision_id and h.holder like 'operation:%' and ${unexpired('h')})`;

export const RETAINERS = `array(select h.holder from workload_holds h where h.revision_id = w.revision_id and ${unexpired('h')})`;

/** Seconds; null where somebody needs it, and where nothing retains it. */
export const WARM_AGE = `(select extract(epoch from now() - h.placed_at)::float8 from workload_holds h
  where h.revision_id = w.revision_id and h.holder = 'warm' and ${unexpired('h')} and not ${IS_NEEDED})`;

/** Whether an operation keeps workload `w` from running. It is over with the operation, however that ends: nobody need remember it. */
export const IS_SUSPENDED = isLiveOperation('w.suspended_by');

/** Whether instances of workload `w` should run. */
const IS_WANTED = `(${IS_RETAINED} and not ${IS_SUSPENDED})`;

/**
 * Instances that retained workloads want of each of the targets, summed up where the rows are; workload $2 is left out. A workload on its
 * way out counts no more: what replaces it starts when it has gone.
 */
export const COUNT_WANTED_OF_TARGETS = prepared(
  'instances-count-wanted-of-targets',
  `select w.target, sum(w.replicas)::int as taken from workloads w
   where w.target = any($1) and w.is_active and w.revision_id is distinct from $2 and ${IS_WANTED} group by w.target`,
);

/** The same for a tenant, on whichever targets. */
export const COUNT_WANTED_OF_TENANT = prepared(
  'instances-count-wanted-of-tenant',
  `select coalesce(sum(w.replicas), 0)::int as taken from workloads w
   where w.tenant_id = $1 and w.is_active and w.revision_id is distinct from $2 and ${IS_WANTED}`,
);

/** What of it is needed: more than `warm` retains it. */
export const COUNT_NEEDED_OF_TENANT = prepared(
  'instances-count-needed-of-tenant',
  `select coalesce(sum(w.replicas), 0)::int as needed from workloads w
   where w.tenant_id = $1 and w.is_active and w.revision_id is distinct from $2
     and ${IS_NEEDED}`,
);

/** What `LOCK_WORKLOAD` reads. */
export interface LockedWorkload {
  is_active: boolean;
  replicas: number;
  is_retained: boolean;
  is_wanted: boolean;
  is_needed: boolean;
}

/** The first lock of every change of a workload or its instances: two changes of one workload publish one after the other. */
export const LOCK_WORKLOAD = locking(
  'workload',
  prepared(
    'instances-lock-workload',
    `select w.is_active, w.replicas, ${IS_RETAINED} as is_retained, ${IS_WANTED} as is_wanted, ${IS_NEEDED} as is_needed from workloads w where w.revision_id = $1 for no key update of w`,
  ),
);

/** Locks what it finds and skips what others have locked: they are about to retain it. */
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
 * Decides by what stood there before, in one statement: restarts count from the last time a workload was started, so a row that was
 * inactive begins again at 0. The caller has the number from under the quota's lock, below which it never is of one that is retained (`READ_WANTED_REPLICAS`).
 */
export const ACTIVATE_WORKLOAD = prepared(
  'instances-activate-workload',
  `with before as (
     select is_active from workloads where revision_id = $1
   ), written as (
     insert into workloads as w (revision_id, tenant_id, deployment_id, revision_name, target, replicas, spec) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (revision_id) do update set
       is_active = true, replicas = excluded.replicas, revision_name = excluded.revision_name,
       suspended_by = case when w.is_active then w.suspended_by end,
       activated_at = case when w.is_active and w.replicas > 0 then w.activated_at else now() end,
       changed_at = case when w.is_active then w.changed_at else clock_timestamp() end
     returning w.revision_id
   )
   update instances i set restarts = 0, crash_streak = 0, message = null from written
   where i.revision_id = written.revision_id and not coalesce((select is_active from before), false)`,
);

/** The notification goes with the row, of which the reconciler sees either none or all. */
export const SUSPEND_WORKLOAD = locking(
  'workload',
  prepared(
    'instances-suspend-workload',
    `with written as (
     update workloads set suspended_by = $2 where revision_id = $1 and suspended_by is distinct from $2 returning target
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from written`,
  ),
);

/**
 * Instances that are needed on a target, of all tenants and of one deployment, but for those of one revision. What a suspended workload held is
 * kept for its deployment, so it counts. And what the tenant wants anywhere, out of the index alone: retentions are looked at only where this is
 * near the quota. At every rollout that is accepted.
 */
export const COUNT_CAPACITY_IN_USE = prepared(
  'instances-count-capacity-in-use',
  `select coalesce(sum(w.replicas), 0)::int as taken, coalesce(sum(w.replicas) filter (where w.deployment_id = $2), 0)::int as own,
     (select coalesce(sum(t.replicas), 0)::int from workloads t where t.tenant_id = $4 and t.is_active) as wanted
   from workloads w where w.target = $1 and w.is_active and w.revision_id is distinct from $3 and ${IS_NEEDED}`,
);

/** Instances that are wanted of each of these revisions of tenant $1: what retains them is in another table, and those that nothing retains are left out. */
export const READ_WANTED_REPLICAS = prepared(
  'instances-read-wanted-replicas',
  `select w.revision_id, w.replicas from workloads w where w.tenant_id = $1 and w.revision_id = any($2) and w.is_active and ${IS_RETAINED}`,
);

/** The worst of the last three starts of deployment $1 that led to readiness. */
export const READ_START_SECONDS = prepared(
  'instances-read-start-seconds',
  `select max(start_seconds) as seconds from (
     select i.start_seconds from instances i join workloads w using (revision_id)
     where w.deployment_id = $1 and i.start_seconds is not null order by i.start_began_at desc limit 3) newest`,
);

/** Lock, conflict and notification at once; at every change of a route. */
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

/** The notification goes with the row; at every change of a route. */
export const RELEASE_WORKLOAD = prepared(
  'instances-release-workload',
  `with released as (
     delete from workload_holds where revision_id = $1 and holder = $2 returning revision_id
   )
   select pg_notify('${WORKLOADS_CHANNEL}', w.target) from released join workloads w using (revision_id)`,
);

/** Of several instances that fail, the one that ends the wait first. */
const FIRST_TO_TELL = `i.failure->>'cause' in (${sqlList([...PERMANENT_REASONS])}) desc, i.failed_starts desc, i.ordinal`;

const DESIRED = `case when w.is_active and ${IS_WANTED} then w.replicas else 0 end`;
const IS_ASLEEP = `w.is_active and exists (select from workload_scalings s where s.revision_id = w.revision_id and s.asleep_since is not null)`;

/** Aggregates, for every look of a waiting rollout. */
export const READ_WORKLOAD_STATUS = prepared(
  'instances-read-workload-status',
  `select ${DESIRED} as desired,
     count(i.id) filter (where i.state = 'ready')::int as ready,
     count(i.id) filter (where i.state <> 'stopped')::int as alive,
     coalesce(sum(i.restarts), 0)::int as restarts,
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

/** The part of `READ_WORKLOAD_STATUS` that health is judged by, of several: for whoever shows a page of deployments. */
export const READ_SERVING_STATUS = lookup(
  'instances-read-serving-status',
  `select w.revision_id as key, ${DESIRED} as desired,
     (select count(*)::int from instances i where i.revision_id = w.revision_id and i.state = 'ready') as ready,
     ${IS_ASLEEP} as "isAsleep"
   from workloads w where w.revision_id = any ${KEYS}`,
);

/** Registers again over an earlier registration, and lets the reconciler look: what it waits for may have come just before. */
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
