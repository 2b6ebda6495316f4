import { tenantNameOf } from '@slipway/platform-http/auth';
import { prepared } from '@slipway/platform-database';
import type { FailedStart, InstanceEntity } from './instance.entity.js';
import type { WorkloadEntity } from './workload.entity.js';
import { RETAINERS, IS_AWAITED, IS_RETAINED, IS_SUSPENDED, WARM_AGE } from './workload.query.js';

/**
 * A row of `instances` as the reconciler reads it. Postgres measures the ages, so the clocks of workers do not matter.
 */
export interface InstanceRow extends Pick<
  InstanceEntity,
  | 'id'
  | 'ordinal'
  | 'target'
  | 'generation'
  | 'state'
  | 'base_url'
  | 'restarts'
  | 'crash_streak'
  | 'message'
  | 'incarnation'
  | 'reason'
  | 'place'
  | 'drift'
  | 'version'
  | 'key_id'
  | 'failed_starts'
  | 'progress'
  | 'abandons_silent'
  | 'replace_drain_seconds'
  | 'ending_url'
  | 'doubted'
  | 'made_at'
> {
  /** Shows whether the next start fails in the same way. */
  failure: Pick<FailedStart, 'cause' | 'exit_code' | 'signal'> | null;
  /** Whether its server was ever seen with the revision's model. Only for adopted servers. */
  model_seen: boolean;
  /** Seconds since it entered its state. */
  state_age_seconds: number;
  /** Seconds since this generation was first ready; null if it never was. */
  ready_age_seconds: number | null;
  /** Seconds until the back-off ends; negative if it has ended. */
  start_in_seconds: number | null;
  /**
   * Seconds until its engine is stopped, whatever requests are in flight; negative after that. Null unless it is
   * stopping, or if a worker of the previous release has withdrawn it.
   */
  drain_left_seconds: number | null;
  /** Seconds since the last change of the row. */
  observed_age_seconds: number;
}

export interface WorkloadRow extends Pick<
  WorkloadEntity,
  | 'revision_id'
  | 'tenant_id'
  | 'deployment_id'
  | 'revision_name'
  | 'spec'
  | 'abandons_silent'
  | 'suspended_drain_seconds'
> {
  /** With the spare one of a restart. */
  replicas: number;
  /** The tenant's name in the operator's configuration; empty if the tenant does not exist. */
  tenant_name: string;
  is_retained: boolean;
  /** The current retainers. */
  retainers: string[];
  /** Seconds since the workload is only kept warm; null if it is needed or not retained. */
  warm_age_seconds: number | null;
  /** The operation that keeps the workload from running for now, whether or not it is retained. */
  suspended_by: string | null;
  /**
   * Whether the workload's sleep has not ended and no operation waits for it. A start now wakes it, and only requests
   * wait for that start.
   */
  is_waking: boolean;
  instances: InstanceRow[];
}

/**
 * Reads everything that a pass of a target's reconciler needs, in one snapshot, in the order in which workloads may
 * start. It runs several times a second while a change is in progress. `TargetRows` adds the specs. $2 is null, or ids
 * of instances: then only the workloads of those instances are read.
 */
export const READ_TARGET_WORKLOADS = prepared(
  'instances-read-target-workloads',
  `select w.revision_id, w.tenant_id, w.deployment_id, w.revision_name, w.replicas + w.spare as replicas, w.abandons_silent, w.suspended_drain_seconds, ${IS_RETAINED} as is_retained, ${RETAINERS} as retainers, ${WARM_AGE} as warm_age_seconds,
     case when ${IS_SUSPENDED} then w.suspended_by end as suspended_by,
     not ${IS_AWAITED} and exists (select from workload_scalings s where s.revision_id = w.revision_id and s.asleep_since is not null) as is_waking,
     ${tenantNameOf('w.tenant_id')} as tenant_name,
     coalesce((
       select json_agg(json_build_object(
         'id', i.id, 'target', i.target, 'ordinal', i.ordinal, 'generation', i.generation, 'state', i.state, 'base_url', i.base_url, 'restarts', i.restarts,
         'crash_streak', i.crash_streak, 'message', i.message, 'incarnation', i.incarnation,
         'reason', i.reason, 'place', i.place, 'drift', i.drift, 'version', i.version,
         'key_id', i.key_id, 'failure', i.failure - 'log_tail', 'failed_starts', i.failed_starts, 'progress', i.progress,
         'model_seen', i.model_seen_at is not null, 'abandons_silent', i.abandons_silent, 'replace_drain_seconds', i.replace_drain_seconds, 'ending_url', i.ending_url, 'doubted', i.doubted, 'made_at', i.made_at,
         'drain_left_seconds', extract(epoch from i.drain_until - now())::float8,
         'state_age_seconds', extract(epoch from now() - i.state_since)::float8, 'ready_age_seconds', extract(epoch from now() - i.ready_since)::float8,
         'start_in_seconds', extract(epoch from i.next_start_at - now())::float8,
         'observed_age_seconds', extract(epoch from now() - i.observed_at)::float8) order by i.ordinal)
       from instances i where i.revision_id = w.revision_id), '[]'::json) as instances
   from workloads w where w.target = $1 and w.is_active
     and ($2::text[] is null or w.revision_id in (select i.revision_id from instances i where i.id = any($2)))
   order by w.activated_at, w.revision_id`,
);

/**
 * Changes an instance if its version is still the one that was read; otherwise it changes nothing. The times are those
 * of the database.
 */
export const CHANGE_INSTANCE = prepared(
  'instances-change-instance',
  `update instances set
     state = $3, generation = $4, base_url = $5, message = $6, restarts = restarts + $7::int, crash_streak = $8::int,
     crashes = crashes + case when ready_since is not null then $7::int else 0 end,
     next_start_at = now() + make_interval(secs => $9::float8),
     state_since = case when state = $3 then state_since else now() end,
     ready_since = case when $3 = 'ready' then coalesce(ready_since, now()) when $3 = 'unhealthy' then ready_since end,
     incarnation = $10, reason = $11, place = $12, key_id = $13, failed_starts = $14::int, progress = $15::jsonb,
     failure = case when $16::boolean then $17::jsonb else failure end,
     started_at = case when $18::boolean then now() else started_at end,
     start_began_at = case when $3 <> 'starting' or state = 'starting' then start_began_at when state in ('pending', 'backing_off') then now() end,
     start_seconds = case when $3 = 'ready' and ready_since is null and start_began_at >= state_since
       then extract(epoch from now() - start_began_at) else start_seconds end,
     model_seen_at = case when $19::boolean then coalesce(model_seen_at, now()) else model_seen_at end,
     drain_until = case when $3 <> 'stopping' then null when state = 'stopping' then drain_until else now() + make_interval(secs => $21::float8) end,
     abandons_silent = case when $3 <> 'stopping' then false when state = 'stopping' then abandons_silent else $22::boolean end,
     replace_drain_seconds = case when $3 not in ('backing_off', 'stopped') then replace_drain_seconds end,
     ending_url = $23, doubted = $24, made_at = $25::jsonb, drift = $20, observed_at = now(), version = version + 1
   where id = $1 and version = $2 returning restarts`,
);

/** An instance that has or may have a unit on its target. */
export type PlacedInstance = Pick<InstanceEntity, 'id' | 'target' | 'made_at'> & Pick<WorkloadEntity, 'revision_name'>;

/** Reads them all, of all tenants, from two tables, when a worker starts. */
export const READ_PLACED_INSTANCES = prepared(
  'instances-read-placed',
  `select i.id, i.target, i.made_at, w.revision_name from instances i join workloads w using (revision_id)
   where i.state not in ('stopped', 'pending') order by i.target, w.revision_name, i.ordinal`,
);

/** Counts them by target, without the targets in $1, with the first few revisions. */
export const COUNT_PLACED_ELSEWHERE = prepared(
  'instances-count-placed-elsewhere',
  `select i.target, max(i.made_at->-1->>'kind') as kind, count(*)::int as count, (array_agg(distinct w.revision_name))[1:5] as revisions
   from instances i join workloads w using (revision_id)
   where i.state not in ('stopped', 'pending') and i.target <> all($1::text[]) group by i.target order by i.target limit 50`,
);

/**
 * Reads the addresses of the instances that targets ($1) have started, of all tenants. Runs every second while servers
 * are adopted.
 */
export const READ_STARTED_INSTANCES = prepared(
  'instances-read-started',
  `select tenant_id, base_url from instances where target = any($1) and state <> 'stopped' and base_url is not null`,
);
