import type { ObservationReason, RevisionSpec } from '@slipway/contracts';
import { locking, prepared } from '@slipway/platform-database';
import { IS_HELD } from './workload.query.js';

export type InstanceState = 'pending' | 'starting' | 'ready' | 'unhealthy' | 'backing_off' | 'stopping' | 'stopped';

/** A row of `instances` as the reconciler reads it. Ages are measured by Postgres, so that clocks of workers do not matter. */
export interface InstanceRow {
  id: string;
  ordinal: number;
  generation: number;
  state: InstanceState;
  base_url: string | null;
  restarts: number;
  crash_streak: number;
  message: string | null;
  incarnation: string | null;
  reason: ObservationReason | null;
  place: string | null;
  version: number;
  /** Seconds since it entered its state. */
  state_age: number;
  /** Seconds since this generation was first ready; null when it never was. */
  ready_age: number | null;
  /** Seconds until the back-off ends; negative when it has. */
  start_in: number | null;
}

export interface WorkloadRow {
  revision_id: string;
  tenant_id: string;
  deployment_id: string;
  revision_name: string;
  replicas: number;
  spec: RevisionSpec;
  is_held: boolean;
  instances: InstanceRow[];
}

/** Everything a pass of one target's reconciler looks at, in one snapshot, in the order in which workloads may start. */
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

/** Rows for the ordinals that have none. A second reconciler that does the same adds nothing. */
export const ADD_INSTANCES = prepared(
  'targets-add-instances',
  `insert into instances (id, revision_id, tenant_id, target, ordinal)
   select id, $2, $3, $4, ordinal from unnest($1::text[], $5::int[]) as missing(id, ordinal)
   on conflict (revision_id, ordinal) do nothing`,
);

/** The first lock of every change of an instance: two changes of one workload publish one after the other. */
export const LOCK_WORKLOAD = locking(
  'workload',
  prepared(
    'targets-lock-workload',
    `select w.is_active, ${IS_HELD} as is_held from workloads w where w.revision_id = $1 for no key update of w`,
  ),
);

/** One guarded change: nothing happens if somebody else has changed the row since it was read. */
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

/** Waits are judged by this time, so it is the clock's and not the transaction's. */
export const MARK_CHANGED = prepared(
  'targets-mark-changed',
  `update workloads set changed_at = clock_timestamp() where revision_id = $1`,
);

export const PUBLISHED_INSTANCES = prepared(
  'targets-published-instances',
  `select id, base_url from instances where revision_id = $1 and state = 'ready' and base_url is not null order by ordinal`,
);

/** Instances of this target that may have something running. An instance without such a row is an orphan. */
export const KNOWN_INSTANCES = prepared(
  'targets-known-instances',
  `select id from instances where target = $1 and state <> 'stopped'`,
);

export const UNSTOPPED = prepared(
  'targets-unstopped',
  `select count(*)::int as count from instances where revision_id = $1 and state <> 'stopped'`,
);

export const DEACTIVATE = prepared(
  'targets-deactivate',
  `update workloads set is_active = false, changed_at = clock_timestamp() where revision_id = $1`,
);
