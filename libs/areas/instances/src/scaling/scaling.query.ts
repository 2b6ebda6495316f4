import { WORKLOADS_CHANNEL } from '@slipway/contracts';
import { locking, prepared, withinBytes } from '@slipway/platform-database';
import { operationActivity } from '@slipway/platform-durable/operations';
import { IS_AWAITED, IS_NEEDED, IS_SUSPENDED } from '../workloads/workload.query.js';

/** A workload whose number of instances may change, with the state of its instances. */
export interface ScalableRow {
  revision_id: string;
  tenant_id: string;
  deployment_id: string;
  revision_name: string;
  target: string;
  replicas: number;
  ready: number;
  starting: number;
  failure: string | null;
  /** Seconds. */
  low_age_seconds: number | null;
  active_age_seconds: number;
  /** Of the instance that became ready last; null if none is ready. */
  ready_age_seconds: number | null;
  start_seconds: number | null;
  is_asleep: boolean;
  failures: number;
  failure_age_seconds: number | null;
  /** Whether a running operation retains it. */
  is_awaited: boolean;
  /** If it is awaited: the other revisions of its deployment that may have instances. */
  sibling_ids: string[];
  /** Whether it has a row in `workload_scalings`, so that the load of its engines is requested too. */
  is_known: boolean;
  /** The recent reports of its engines, if there are any. */
  waiting: number | null;
  kv_usage: number | null;
}

/**
 * Reads all needed workloads whose number may change: by their own spec, by an override of their deployment ($1), or
 * because it was changed before. $2 selects one revision. Of the spec, whose arguments may be long, it reads only the scaling. Ages and counts are computed in Postgres. Runs every second.
 */
export const READ_SCALABLE_WORKLOADS = prepared(
  'instances-read-scalable',
  `select w.revision_id, w.tenant_id, w.deployment_id, w.revision_name, w.target, w.spec->'scaling' as scaling, w.replicas,
     (select count(*) from instances i where i.revision_id = w.revision_id and i.state = 'ready' and i.ordinal < w.replicas)::int as ready,
     (select count(*) from instances i where i.revision_id = w.revision_id and i.state = 'starting' and i.ordinal < w.replicas)::int as starting,
     (select coalesce(i.failure->>'cause', 'unknown') from instances i where i.revision_id = w.revision_id and i.failure is not null
        and i.failed_starts > 0 and i.state <> 'ready' order by i.ordinal limit 1) as failure,
     extract(epoch from now() - s.low_since)::float8 as low_age_seconds, extract(epoch from now() - w.activated_at)::float8 as active_age_seconds,
     newest.ready_age_seconds, newest.start_seconds,
     s.asleep_since is not null as is_asleep, coalesce(s.failures, 0) as failures, extract(epoch from now() - s.failed_at)::float8 as failure_age_seconds,
     ${IS_AWAITED} as is_awaited,
     case when ${IS_AWAITED} then array(select o.revision_id from workloads o
       where o.tenant_id = w.tenant_id and o.deployment_id = w.deployment_id and o.is_active and o.revision_id <> w.revision_id) else '{}' end as sibling_ids,
     s.revision_id is not null as is_known,
     e.waiting, e.kv_usage
   from workloads w left join workload_scalings s using (revision_id)
     left join lateral (select extract(epoch from now() - i.ready_since)::float8 as ready_age_seconds, i.start_seconds from instances i
       where i.revision_id = w.revision_id and i.state = 'ready' and i.ordinal < w.replicas order by i.ready_since desc limit 1) newest on true
     left join lateral (select sum(l.waiting) as waiting, avg(l.kv_usage) as kv_usage from engine_loads l join instances i on i.id = l.instance_id
       where l.revision_id = w.revision_id and i.state = 'ready' and l.observed_at > now() - interval '20 seconds') e on true
   where w.is_active and ${IS_NEEDED} and not ${IS_SUSPENDED} and w.revision_id = coalesce($2, w.revision_id)
     and (s.revision_id is not null or w.spec->'scaling' ? 'target_in_flight' or w.spec->'scaling'->>'min_replicas' = '0' or w.deployment_id = any($1))
   order by w.revision_id`,
);

/**
 * Reads in which directions operation $1 lets the load change the number of its deployment's instances. This is the only
 * rule about it. Without a live operation, both are allowed.
 */
export const READ_SCALING_DIRECTIONS = prepared(
  'instances-read-scaling-directions',
  `select case activity when 'works' then 'none' when 'soaks' then 'up' else 'both' end as directions
   from (select ${operationActivity('$1')} as activity) operation`,
);

/** The notification is sent with the commit of the row, so the reconciler sees both or neither. */
export const SCALE_WORKLOAD = locking(
  'workload',
  prepared(
    'instances-scale-workload',
    `with written as (
     update workloads set replicas = $2, changed_at = clock_timestamp() where revision_id = $1 returning target
   )
   select pg_notify('${WORKLOADS_CHANNEL}', target) from written`,
  ),
);

/**
 * Upserts a row and computes its times in one statement. $3: whether the load is low now; $4: the reason of the change,
 * if any.
 */
export const RECORD_SCALING = prepared(
  'instances-record-scaling',
  `insert into workload_scalings as s (revision_id, tenant_id, low_since, asleep_since)
   values ($1, $2, case when $3::boolean then now() end, case when $4 = 'idle' then now() end)
   on conflict (revision_id) do update set
     low_since = case when $3::boolean then coalesce(s.low_since, now()) end,
     asleep_since = case when $4 = 'idle' then now() else s.asleep_since end,
     failures = case $4 when 'idle' then 0 when 'start_failed' then s.failures + 1 else s.failures end,
     failed_at = case $4 when 'idle' then null when 'start_failed' then now() else s.failed_at end,
     failure = case $4 when 'idle' then null when 'start_failed' then $5 else s.failure end`,
);

const LOAD_SOURCE_BYTES = 4 * 1024 * 1024;

/**
 * Reads the engines of target $1, to request their load. If there are very many, each run gets those whose number follows
 * the load, and a different random part of the rest. Specs may be long, so the number is also bounded by their bytes. Runs
 * every few seconds.
 */
export const READ_LOAD_SOURCES = prepared(
  'instances-read-load-sources',
  `select id, generation, key_id, base_url, revision_id, tenant_id, spec from ${withinBytes(
    'page',
    `select i.id, i.generation, i.key_id, i.base_url, w.revision_id, w.tenant_id, w.spec from instances i join workloads w using (revision_id)
     where w.target = $1 and w.is_active and i.state = 'ready' and i.base_url is not null
     order by (w.spec->'scaling' ? 'target_in_flight' or exists (select from workload_scalings s where s.revision_id = w.revision_id)) is true desc,
       random()`,
    200,
    { spec: 'jsonb' },
    LOAD_SOURCE_BYTES,
  )} order by page_row`,
);

/** Writes several rows in one statement, and deletes old rows, as of removed instances. */
export const RECORD_ENGINE_LOADS = prepared(
  'instances-record-engine-loads',
  `with gone as (
     delete from engine_loads where observed_at < now() - interval '10 minutes'
   )
   insert into engine_loads (instance_id, revision_id, tenant_id, waiting, kv_usage)
   select l.instance_id, l.revision_id, l.tenant_id, l.waiting, l.kv_usage
   from jsonb_to_recordset($1::jsonb) as l(instance_id text, revision_id text, tenant_id text, waiting float8, kv_usage float8)
   on conflict (instance_id) do update set waiting = excluded.waiting, kv_usage = excluded.kv_usage, observed_at = now()`,
);
