import { WORKLOADS_CHANNEL } from '@slipway/contracts';
import { locking, prepared } from '@slipway/platform-database';

/*
 * Desired state: who wants what to run. Locks, in the order in which they are taken:
 *
 * - the capacity lock of a target (`LOCK_CAPACITY`), only by those who add to it. Two wishes for the last free place are
 *   answered one after the other;
 * - the row of a workload. A hold takes it FOR SHARE, so that the reconciler, which takes it FOR NO KEY UPDATE before it
 *   stops or retires anything, either sees the hold or is done before it. An eviction skips locked rows: whoever has one
 *   locked is about to hold it.
 *
 * Operation rows and event streams come after both, never before: see `instance-transitions.ts` and `workload-waiters.ts`.
 */

const CAPACITY_LOCKS = 7_310_072;

const unexpired = (hold: string): string => `(${hold}.expires_at is null or ${hold}.expires_at > now())`;

/** Whether anybody holds workload `w`. */
export const IS_HELD = `exists (select from workload_holds h where h.revision_id = w.revision_id and ${unexpired('h')})`;

/** An advisory lock: adding to a target is what has to wait, and that is no row. */
export const LOCK_CAPACITY = locking(
  'target_capacity',
  prepared('targets-lock-capacity', `select pg_advisory_xact_lock(${CAPACITY_LOCKS}, hashtext($1))`),
);

/**
 * Instances that held workloads want of each of the targets, summed up where the rows are; workload $2 is left out. A workload on its
 * way out counts no more: what replaces it starts when it has gone.
 */
export const PLACES_TAKEN = prepared(
  'targets-places-taken',
  `select w.target, sum(w.replicas)::int as taken from workloads w
   where w.target = any($1) and w.is_active and w.revision_id is distinct from $2 and ${IS_HELD} group by w.target`,
);

/** The first lock of every change of a workload or its instances: two changes of one workload publish one after the other. */
export const LOCK_WORKLOAD = locking(
  'workload',
  prepared(
    'targets-lock-workload',
    `select w.is_active, ${IS_HELD} as is_held from workloads w where w.revision_id = $1 for no key update of w`,
  ),
);

/** Locks what it finds and skips what others have locked: they are about to hold it. */
export const WARM_ONLY = locking(
  'workload',
  prepared(
    'targets-warm-only',
    `select w.revision_id, w.replicas from workloads w join workload_holds warm on warm.revision_id = w.revision_id and warm.holder = 'warm'
   where w.target = $1 and w.is_active and w.revision_id <> $2 and ${unexpired('warm')}
     and not exists (select from workload_holds h where h.revision_id = w.revision_id and h.holder <> 'warm' and ${unexpired('h')})
   order by warm.placed_at, w.revision_id for no key update of w skip locked`,
  ),
  () => [],
);

/**
 * Decides by what stood there before, in one statement: restarts count from the last time a workload was started, so a row that was
 * inactive begins again at 0.
 */
export const ACTIVATE = prepared(
  'targets-activate',
  `with before as (
     select is_active from workloads where revision_id = $1
   ), written as (
     insert into workloads as w (revision_id, tenant_id, deployment_id, revision_name, target, replicas, spec) values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (revision_id) do update set
       is_active = true, replicas = excluded.replicas, revision_name = excluded.revision_name,
       activated_at = case when w.is_active then w.activated_at else now() end,
       changed_at = case when w.is_active then w.changed_at else clock_timestamp() end
     returning w.revision_id
   )
   update instances i set restarts = 0, crash_streak = 0, message = null from written
   where i.revision_id = written.revision_id and not coalesce((select is_active from before), false)`,
);

/** Lock, conflict and notification at once; at every change of a route. */
export const HOLD = locking(
  'workload',
  prepared(
    'targets-hold',
    `with held as (
     select revision_id, tenant_id, target from workloads where revision_id = $1 for share
   ), written as (
     insert into workload_holds (revision_id, tenant_id, holder, expires_at) select revision_id, tenant_id, $2, now() + make_interval(secs => $3::float8) from held
     on conflict (revision_id, holder) do update set expires_at = excluded.expires_at, placed_at = now()
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from held`,
  ),
);

/** The notification goes with the row; at every change of a route. */
export const RELEASE = prepared(
  'targets-release',
  `with released as (
     delete from workload_holds where revision_id = $1 and holder = $2 returning revision_id
   )
   select pg_notify('${WORKLOADS_CHANNEL}', w.target) from released join workloads w using (revision_id)`,
);

/** Aggregates, for every look of a waiting rollout and of whoever shows a deployment. */
export const STATUS = prepared(
  'targets-status',
  `select case when w.is_active and ${IS_HELD} then w.replicas else 0 end as desired,
     count(i.id) filter (where i.state = 'ready')::int as ready,
     count(i.id) filter (where i.state <> 'stopped')::int as alive,
     coalesce(sum(i.restarts), 0)::int as restarts,
     (array_agg(i.message order by i.observed_at desc) filter (where i.message is not null and i.state <> 'ready'))[1] as message,
     coalesce(array_agg(i.base_url order by i.ordinal) filter (where i.state = 'ready'), '{}') as "baseUrls"
   from workloads w left join instances i on i.revision_id = w.revision_id
   where w.revision_id = $1 group by w.revision_id`,
);

/** Registers again over an earlier registration, and lets the reconciler look: what it waits for may have come just before. */
export const WAIT = prepared(
  'targets-wait',
  `with watched as (
     select revision_id, tenant_id, target from workloads where revision_id = $1
   ), written as (
     insert into workload_waiters (revision_id, operation_id, tenant_id) select revision_id, $2, tenant_id from watched
     on conflict (revision_id, operation_id) do update set created_at = excluded.created_at
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from watched`,
);
