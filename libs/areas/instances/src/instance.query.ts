import { prepared } from '@slipway/platform-database';
import type { InstanceEntity } from './instance.entity.js';
import type { WorkloadEntity } from './workload.entity.js';
import { IS_HELD } from './workload.query.js';

/** A row of `instances` as the reconciler reads it. Ages are measured by Postgres, so that clocks of workers do not matter. */
export interface InstanceRow extends Pick<
  InstanceEntity,
  | 'id'
  | 'ordinal'
  | 'generation'
  | 'state'
  | 'base_url'
  | 'restarts'
  | 'crash_streak'
  | 'message'
  | 'incarnation'
  | 'reason'
  | 'place'
  | 'version'
> {
  /** Seconds since it entered its state. */
  state_age: number;
  /** Seconds since this generation was first ready; null when it never was. */
  ready_age: number | null;
  /** Seconds until the back-off ends; negative when it has. */
  start_in: number | null;
}

export interface WorkloadRow extends Pick<
  WorkloadEntity,
  'revision_id' | 'tenant_id' | 'deployment_id' | 'revision_name' | 'replicas' | 'spec'
> {
  is_held: boolean;
  instances: InstanceRow[];
}

/**
 * Everything a pass of one target's reconciler looks at, in one snapshot, in the order in which workloads may start; several times a
 * second while something is on its way.
 */
export const LOAD_TARGET = prepared(
  'targets-load',
  `select w.revision_id, w.tenant_id, w.deployment_id, w.revision_name, w.replicas, w.spec, ${IS_HELD} as is_held,
     coalesce((
       select json_agg(json_build_object(
         'id', i.id, 'ordinal', i.ordinal, 'generation', i.generation, 'state', i.state, 'base_url', i.base_url, 'restarts', i.restarts,
         'crash_streak', i.crash_streak, 'message', i.message, 'incarnation', i.incarnation,
         'reason', i.reason, 'place', i.place, 'version', i.version,
         'state_age', extract(epoch from now() - i.state_since)::float8, 'ready_age', extract(epoch from now() - i.ready_since)::float8,
         'start_in', extract(epoch from i.next_start_at - now())::float8) order by i.ordinal)
       from instances i where i.revision_id = w.revision_id), '[]'::json) as instances
   from workloads w where w.target = $1 and w.is_active order by w.activated_at, w.revision_id`,
);

/** One guarded change, with ages that are the database's: nothing happens if somebody else has changed the row since it was read. */
export const CHANGE_INSTANCE = prepared(
  'targets-change-instance',
  `update instances set
     state = $3, generation = $4, base_url = $5, message = $6, restarts = restarts + $7::int, crash_streak = $8::int,
     next_start_at = now() + make_interval(secs => $9::float8),
     state_since = case when state = $3 then state_since else now() end,
     ready_since = case when $3 = 'ready' then coalesce(ready_since, now()) when $3 = 'unhealthy' then ready_since end,
     incarnation = $10, reason = $11, place = $12, observed_at = now(), version = version + 1
   where id = $1 and version = $2 returning restarts`,
);
