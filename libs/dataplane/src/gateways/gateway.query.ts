import type { NamedSql, QueryClient } from '../sql.js';

/** A gateway without a report for this long is gone: its counts delay nothing. */
const LIVE_INTERVAL = `interval '5 seconds'`;
/** The same if a wrong answer would break requests: as long as `reportersOf` takes to call a gateway `left`. */
const LEFT_INTERVAL = `interval '10 seconds'`;

export interface GatewayReport {
  gatewayId: string;
  /** Null means unchanged. */
  statsUntil: Date | null;
  followed: readonly { deployment_id: string; tenant_id: string; generation: number }[];
  inFlight: readonly GatewayLoad[];
}

/** The load that one gateway reports for one revision. */
export interface GatewayLoad {
  revision_id: string;
  tenant_id: string;
  in_flight: number;
  /** Requests that wait because it sleeps; 0 if absent. */
  held?: number;
  /** Whether there was a request since the last report. If absent: whether one is in flight. */
  is_used?: boolean;
  /** `in_flight` by instance, without instances that have none. Absent if unknown. */
  instances?: Record<string, number>;
  /**
   * The part of `instances` without a byte of an answer for 30 s, only of instances that take no new requests. Absent if
   * there is none, or if it is unknown.
   */
  silent?: Record<string, number>;
}

/** The requests in flight to an instance that takes no new ones, over all gateways. */
export interface DrainCounts {
  in_flight: number;
  /** The part of `in_flight` without a byte for 30 s. */
  silent: number;
  /** Last counts of gateways without a recent report. They, or Postgres, may have been away for a moment only. */
  lost: number;
}

export interface GatewayStatus {
  gateway_id: string;
  started_at: Date;
  seen_at: Date;
  /** Null if it has stored no statistics yet. */
  stats_until: Date | null;
  is_alive: boolean;
  routes: number;
  routes_behind: number;
}

/** The load of a revision over all live gateways. */
export interface RevisionLoad {
  revision_id: string;
  in_flight: number;
  held: number;
  /** Seconds since any gateway had a request for it; null if none is known to have had one. */
  idle_age: number | null;
}

/**
 * One statement, so that "follows generation 7" never becomes visible before the counts of the requests that generation
 * 6 started. Times are the server's, because the clocks of gateways may differ.
 */
const REPORT_GATEWAY: NamedSql = {
  name: 'dataplane_report',
  text: `
    with heartbeat as (
      insert into dataplane_gateways (gateway_id, stats_until) values ($1, $2)
      on conflict (gateway_id) do update set seen_at = clock_timestamp(), stats_until = coalesce(excluded.stats_until, dataplane_gateways.stats_until)),
    followed as (
      insert into dataplane_followed_routes (gateway_id, deployment_id, tenant_id, generation)
      select $1, f.deployment_id, f.tenant_id, f.generation
      from jsonb_to_recordset($3::jsonb) as f(deployment_id text, tenant_id text, generation bigint)
      on conflict (deployment_id, gateway_id) do update set generation = excluded.generation, updated_at = clock_timestamp()),
    counted as (
      insert into dataplane_inflight (gateway_id, revision_id, tenant_id, in_flight, held, instances, silent, used_at, updated_at)
      select $1, i.revision_id, i.tenant_id, i.in_flight, coalesce(i.held, 0), i.instances, i.silent, case when coalesce(i.is_used, i.in_flight > 0) then clock_timestamp() end, clock_timestamp()
      from jsonb_to_recordset($4::jsonb) as i(revision_id text, tenant_id text, in_flight int, held int, is_used boolean, instances jsonb, silent jsonb)
      on conflict (revision_id, gateway_id) do update set in_flight = excluded.in_flight, held = excluded.held, instances = excluded.instances,
        silent = excluded.silent, used_at = coalesce(excluded.used_at, dataplane_inflight.used_at), updated_at = excluded.updated_at)
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms`,
};

const FORGET_GATEWAYS: NamedSql = {
  name: 'dataplane_forget_gateways',
  text: `
    with gone as (
      delete from dataplane_gateways where gateway_id = $1 or seen_at < clock_timestamp() - interval '10 minutes' returning gateway_id),
    followed as (
      delete from dataplane_followed_routes f where gateway_id = $1
        or exists (select from gone where gone.gateway_id = f.gateway_id)
        or not exists (select from dataplane_routes r where r.deployment_id = f.deployment_id))
    delete from dataplane_inflight i where gateway_id = $1 or exists (select from gone where gone.gateway_id = i.gateway_id)`,
};

/** Live gateways that do not follow the current route of the deployment of revision $1 yet. */
const GATEWAYS_BEHIND = `select count(*)
        from dataplane_backends b
        join dataplane_routes r using (deployment_id)
        cross join dataplane_gateways g
        left join dataplane_followed_routes f on f.gateway_id = g.gateway_id and f.deployment_id = r.deployment_id
        where b.revision_id = $1 and g.seen_at > clock_timestamp() - ${LIVE_INTERVAL} and (f.generation is null or f.generation < r.generation)`;

/**
 * A gateway that does not follow the deployment's current route yet may start a request on the revision at any moment,
 * so it counts as one. Otherwise a 0 read between the commit of a route and its arrival would stop an instance too
 * early.
 */
const COUNT_IN_FLIGHT: NamedSql = {
  name: 'dataplane_in_flight',
  text: `
    select (coalesce((
        select sum(in_flight) from dataplane_inflight
        where revision_id = $1 and updated_at > clock_timestamp() - ${LIVE_INTERVAL}), 0)
      + (${GATEWAYS_BEHIND}))::int as total`,
};

const COUNT_GATEWAYS_BEHIND: NamedSql = {
  name: 'dataplane_gateways_behind',
  text: `select (${GATEWAYS_BEHIND})::int as total`,
};

const READ_REVISION_LOADS: NamedSql = {
  name: 'dataplane_loads',
  text: `
    select revision_id,
      coalesce(sum(in_flight) filter (where updated_at > clock_timestamp() - ${LIVE_INTERVAL}), 0)::int as in_flight,
      coalesce(sum(held) filter (where updated_at > clock_timestamp() - ${LIVE_INTERVAL}), 0)::int as held,
      extract(epoch from clock_timestamp() - max(used_at))::float8 as idle_age
    from dataplane_inflight where revision_id = any($1) group by revision_id`,
};

/** If a gateway does not report a revision's requests by instance, each instance may have all of them. */
const COUNT_IN_FLIGHT_OF_INSTANCES: NamedSql = {
  name: 'dataplane_instances_in_flight',
  text: `
    select i.id, coalesce(sum(case when f.instances is null then f.in_flight else (f.instances ->> i.id)::int end), 0)::int as in_flight
    from unnest($1::text[], $2::text[]) as i(id, revision_id)
    left join dataplane_inflight f on f.revision_id = i.revision_id and f.updated_at > clock_timestamp() - ${LIVE_INTERVAL}
    group by i.id`,
};

/**
 * The same while an instance drains. A drain may last for minutes, and a gateway that is away for some seconds must not
 * end it.
 */
const COUNT_DRAINING: NamedSql = {
  name: 'dataplane_draining',
  text: `
    select i.id,
      coalesce(sum(f.requests) filter (where f.is_recent), 0)::int as in_flight,
      coalesce(sum(f.silent) filter (where f.is_recent), 0)::int as silent,
      coalesce(sum(f.requests) filter (where not f.is_recent), 0)::int as lost
    from unnest($1::text[], $2::text[]) as i(id, revision_id)
    left join lateral (
      select case when d.instances is null then d.in_flight else coalesce((d.instances ->> i.id)::int, 0) end as requests,
        coalesce((d.silent ->> i.id)::int, 0) as silent, d.updated_at > clock_timestamp() - ${LEFT_INTERVAL} as is_recent
      from dataplane_inflight d where d.revision_id = i.revision_id) f on true
    group by i.id`,
};

const COUNT_ROUTE_FOLLOWERS: NamedSql = {
  name: 'dataplane_followed',
  text: `
    select count(*)::int as gateways, count(*) filter (where f.generation is null or f.generation < $2)::int as behind
    from dataplane_gateways g left join dataplane_followed_routes f on f.gateway_id = g.gateway_id and f.deployment_id = $1
    where g.seen_at > clock_timestamp() - ${LIVE_INTERVAL}`,
};

const READ_GATEWAY_STATUSES: NamedSql = {
  name: 'dataplane_gateway_standings',
  text: `
    select g.gateway_id, g.started_at, g.seen_at, g.stats_until, g.seen_at > clock_timestamp() - ${LIVE_INTERVAL} as is_alive,
      count(f.generation)::int as routes, count(*) filter (where r.deployment_id is not null and (f.generation is null or f.generation < r.generation))::int as routes_behind
    from dataplane_gateways g
    left join dataplane_routes r on true
    left join dataplane_followed_routes f on f.gateway_id = g.gateway_id and f.deployment_id = r.deployment_id
    group by g.gateway_id order by g.started_at, g.gateway_id`,
};

const COUNT_FOLLOWED_ROUTES: NamedSql = {
  name: 'dataplane_followed_count',
  text: 'select count(*)::int as total from dataplane_followed_routes where gateway_id = $1',
};

/**
 * Writes the heartbeat of a gateway, with the changes since its last one. Returns the time of Postgres, in milliseconds
 * since the epoch.
 */
export async function reportGateway(db: QueryClient, report: GatewayReport): Promise<number> {
  const [row] = await db.query<{ now_ms: number }>(REPORT_GATEWAY, [
    report.gatewayId,
    report.statsUntil,
    JSON.stringify(report.followed),
    JSON.stringify(report.inFlight),
  ]);
  return (row as { now_ms: number }).now_ms;
}

/** Returns every known gateway: how many published routes it follows, and for how many it is behind. */
export function gatewayStatuses(db: QueryClient): Promise<GatewayStatus[]> {
  return db.query<GatewayStatus>(READ_GATEWAY_STATUSES);
}

/** Returns how many routes the gateway is known to follow. It follows more if other gateways took it for gone. */
export async function followedCount(db: QueryClient, gatewayId: string): Promise<number> {
  const [row] = await db.query<{ total: number }>(COUNT_FOLLOWED_ROUTES, [gatewayId]);
  return row?.total ?? 0;
}

/**
 * Removes a gateway, gateways without a report for ten minutes, and reports about deleted routes. `''` skips the first.
 */
export async function forgetGateway(db: QueryClient, gatewayId: string): Promise<void> {
  await db.query(FORGET_GATEWAYS, [gatewayId]);
}

/**
 * Returns the requests in flight on a revision over all live gateways, at most 0.4 s old. Adds one for each gateway
 * that does not follow the current route of its deployment yet. 0 means: none is in flight, and none starts unless a
 * route leads there.
 */
export async function inFlight(db: QueryClient, revisionId: string): Promise<number> {
  const [row] = await db.query<{ total: number }>(COUNT_IN_FLIGHT, [revisionId]);
  return row?.total ?? 0;
}

/**
 * Returns how many gateways live, and how many of them do not serve this generation (or a newer one) yet. `behind: 0`
 * means that no new request is drawn from an older route, and that `inFlight` includes those that the older one
 * started.
 */
export async function routeFollowers(
  db: QueryClient,
  deploymentId: string,
  generation: number,
): Promise<{ gateways: number; behind: number }> {
  const [row] = await db.query<{ gateways: number; behind: number }>(COUNT_ROUTE_FOLLOWERS, [deploymentId, generation]);
  return row ?? { gateways: 0, behind: 0 };
}

/** Returns requests in flight, waiting ones and the idle time over all live gateways, for the revisions they know. */
export async function loadsOf(db: QueryClient, revisionIds: readonly string[]): Promise<Map<string, RevisionLoad>> {
  const rows = await db.query<RevisionLoad>(READ_REVISION_LOADS, [revisionIds]);
  return new Map(rows.map((row) => [row.revision_id, row]));
}

/** Returns the requests in flight to each instance from live gateways, including instances that get no new ones. */
export async function inFlightOfInstances(
  db: QueryClient,
  instances: readonly { id: string; revision_id: string }[],
): Promise<Map<string, number>> {
  const rows = await db.query<{ id: string; in_flight: number }>(COUNT_IN_FLIGHT_OF_INSTANCES, [
    instances.map(({ id }) => id),
    instances.map(({ revision_id }) => revision_id),
  ]);
  return new Map(rows.map((row) => [row.id, row.in_flight]));
}

/** Returns the requests in flight to instances that take no new ones. */
export async function drainCountsOf(
  db: QueryClient,
  instances: readonly { id: string; revision_id: string }[],
): Promise<Map<string, DrainCounts>> {
  const rows = await db.query<DrainCounts & { id: string }>(COUNT_DRAINING, [
    instances.map(({ id }) => id),
    instances.map(({ revision_id }) => revision_id),
  ]);
  return new Map(rows.map(({ id, ...counts }) => [id, counts]));
}

/**
 * Returns how many live gateways do not follow the current route of the revision's deployment yet. Each may start a
 * request on the revision at any moment.
 */
export async function gatewaysBehind(db: QueryClient, revisionId: string): Promise<number> {
  const [row] = await db.query<{ total: number }>(COUNT_GATEWAYS_BEHIND, [revisionId]);
  return row?.total ?? 0;
}
