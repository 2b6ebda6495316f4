import { afterEach, beforeAll, expect, it } from '@jest/globals';
import {
  drainCountsOf,
  followedCount,
  forgetGateway,
  gatewaysBehind,
  inFlight,
  gatewayStatuses,
  inFlightOfInstances,
  publishBackend,
  publishRoute,
  reportGateway,
  routeFollowers,
  reportersOf,
  statsCompleteUntil,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';

const connection = DataplaneConnection.ofSpec();
const { db } = connection;

beforeAll(async () => {
  await publishBackend(db, {
    revisionId: 'rev',
    revisionName: 'chat-1',
    tenantId: 'ten',
    deploymentId: 'dep',
    modelId: 'm',
    instances: [],
    credential: null,
    guard: null,
  });
  await publishRoute(db, {
    tenantId: 'ten',
    deploymentId: 'dep',
    deploymentName: 'chat',
    generation: 7,
    targets: [{ revisionId: 'rev', revisionName: 'chat-1', weight: 100 }],
    affinity: { mode: 'none', ttl_seconds: 1 },
  });
});
afterEach(async () => {
  await connection.sql(`delete from dataplane_gateways`);
  await connection.sql(`delete from dataplane_inflight`);
  await connection.sql(`delete from dataplane_followed_routes`);
});

interface ReportContent {
  follows?: number;
  busy?: number;
  instances?: Record<string, number>;
  silent?: Record<string, number>;
  statsUntil?: Date;
}

const report = (
  gatewayId: string,
  { follows, busy, instances, silent, statsUntil }: ReportContent = {},
): Promise<unknown> =>
  reportGateway(db, {
    gatewayId,
    statsUntil: statsUntil ?? null,
    followed: follows === undefined ? [] : [{ deployment_id: 'dep', tenant_id: 'ten', generation: follows }],
    inFlight: busy === undefined ? [] : [{ revision_id: 'rev', tenant_id: 'ten', in_flight: busy, instances, silent }],
  });
const heardOf = (gatewayId: string, ago: string): Promise<unknown> =>
  connection.sql(`update dataplane_gateways set seen_at = now() - $2::interval where gateway_id = $1`, [
    gatewayId,
    ago,
  ]);
const count = (): Promise<number> => inFlight(db, 'rev');

it('counts one for each gateway that does not follow the current route, or no route of the deployment', async () => {
  await report('gw_follows', { follows: 7, busy: 0 });
  expect(await count()).toBe(0);
  await report('gw_new');
  expect([await count(), await routeFollowers(db, 'dep', 7)]).toEqual([1, { gateways: 2, behind: 1 }]);
  await report('gw_behind', { follows: 6, busy: 2 });
  expect(await count()).toBe(4);
  await report('gw_new', { follows: 7 });
  await report('gw_behind', { follows: 7, busy: 2 });
  expect(await count()).toBe(2);
  // A gateway with a newer generation is not behind.
  await report('gw_behind', { follows: 8, busy: 0 });
  expect(await count()).toBe(0);
  expect(await routeFollowers(db, 'dep', 8)).toEqual({ gateways: 3, behind: 2 });
  expect(await inFlight(db, 'rev_unknown')).toBe(0);
});

it('counts requests by instance over all live gateways; a gateway without that detail may have all of them at each', async () => {
  const both = [
    { id: 'ins_1', revision_id: 'rev' },
    { id: 'ins_2', revision_id: 'rev' },
    { id: 'ins_3', revision_id: 'rev_unknown' },
  ];
  const counts = async () => Object.fromEntries(await inFlightOfInstances(db, both));
  expect(await counts()).toEqual({ ins_1: 0, ins_2: 0, ins_3: 0 });
  await report('gw_1', { busy: 3, instances: { ins_1: 2, ins_2: 1 } });
  await report('gw_2', { busy: 4, instances: { ins_1: 4, ins_3: 9 } });
  expect(await counts()).toEqual({ ins_1: 6, ins_2: 1, ins_3: 0 });
  // A gateway that has drawn a request and not sent it yet.
  await report('gw_2', { busy: 1, instances: {} });
  expect(await counts()).toEqual({ ins_1: 2, ins_2: 1, ins_3: 0 });
  await report('gw_of_before', { busy: 5 });
  expect(await counts()).toEqual({ ins_1: 7, ins_2: 6, ins_3: 0 });
  await connection.sql(
    `update dataplane_inflight set updated_at = now() - interval '6 seconds' where gateway_id <> 'gw_1'`,
  );
  expect(await counts()).toEqual({ ins_1: 2, ins_2: 1, ins_3: 0 });
  expect(await inFlightOfInstances(db, [])).toEqual(new Map());
});

it('counts what a drain waits for: silent requests apart, and gateways as lost after ten seconds', async () => {
  const asked = [
    { id: 'ins_1', revision_id: 'rev' },
    { id: 'ins_2', revision_id: 'rev' },
  ];
  const counts = async () => Object.fromEntries(await drainCountsOf(db, asked));
  const none = { in_flight: 0, silent: 0, lost: 0 };
  expect(await counts()).toEqual({ ins_1: none, ins_2: none });
  await report('gw_1', { busy: 3, instances: { ins_1: 3 }, silent: { ins_1: 2 } });
  await report('gw_2', { busy: 1, instances: { ins_1: 1 } });
  expect(await counts()).toEqual({ ins_1: { in_flight: 4, silent: 2, lost: 0 }, ins_2: none });
  await report('gw_1', { busy: 3, instances: { ins_1: 3 } });
  expect(await counts()).toEqual({ ins_1: { in_flight: 4, silent: 0, lost: 0 }, ins_2: none });
  const old = (seconds: number) =>
    connection.sql(
      `update dataplane_inflight set updated_at = now() - make_interval(secs => $1) where gateway_id = 'gw_1'`,
      [seconds],
    );
  await old(9);
  expect(await counts()).toMatchObject({ ins_1: { in_flight: 4, lost: 0 } });
  await old(11);
  expect(await counts()).toEqual({ ins_1: { in_flight: 1, silent: 0, lost: 3 }, ins_2: none });
  expect(await drainCountsOf(db, [])).toEqual(new Map());
});

it('counts the gateways that do not follow the route of a revision yet', async () => {
  expect(await gatewaysBehind(db, 'rev')).toBe(0);
  await report('gw_behind', { follows: 6, busy: 3 });
  await report('gw_follows', { follows: 7 });
  expect([await gatewaysBehind(db, 'rev'), await gatewaysBehind(db, 'rev_unknown')]).toEqual([1, 0]);
  await heardOf('gw_behind', '6 seconds');
  expect(await gatewaysBehind(db, 'rev')).toBe(0);
});

it('treats a gateway as gone after five seconds without a report, and its counts too', async () => {
  await report('gw', { follows: 6, busy: 3 });
  expect(await count()).toBe(4);
  await heardOf('gw', '1 second');
  expect([await count(), await routeFollowers(db, 'dep', 7)]).toEqual([4, { gateways: 1, behind: 1 }]);
  await heardOf('gw', '6 seconds');
  expect([await count(), await routeFollowers(db, 'dep', 7)]).toEqual([3, { gateways: 0, behind: 0 }]);
  await connection.sql(`update dataplane_inflight set updated_at = now() - interval '6 seconds'`);
  expect(await count()).toBe(0);
  // A heartbeat alone shows that it is alive, and says nothing about its counts.
  await report('gw');
  expect([await count(), await routeFollowers(db, 'dep', 7)]).toEqual([1, { gateways: 1, behind: 1 }]);
  await report('gw', { busy: 3 });
  expect(await count()).toBe(4);
});

it('reports for each gateway whether it is alive, how many routes it follows, and for how many it is behind', async () => {
  const standings = async () =>
    (await gatewayStatuses(db)).map((one) => [one.gateway_id, one.is_alive, one.routes, one.routes_behind]);
  expect(await standings()).toEqual([]);
  await report('gw_new');
  await report('gw_behind', { follows: 6 });
  await report('gw_there', { follows: 7 });
  await heardOf('gw_behind', '6 seconds');
  expect(await standings()).toEqual([
    ['gw_new', true, 0, 1],
    ['gw_behind', false, 1, 1],
    ['gw_there', true, 1, 0],
  ]);
  await connection.sql(`delete from dataplane_followed_routes where gateway_id = 'gw_there'`);
  expect(await standings()).toContainEqual(['gw_there', true, 0, 1]);
});

it('treats statistics as complete up to what the slowest live gateway has stored', async () => {
  const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  expect(await statsCompleteUntil(db)).toBeNull();
  await report('gw_1', { statsUntil: at(9) });
  await report('gw_2', { statsUntil: at(5) });
  expect(await statsCompleteUntil(db)).toEqual(at(5));
  // A heartbeat without a time keeps the stored time; a later time replaces it.
  await report('gw_2');
  expect(await statsCompleteUntil(db)).toEqual(at(5));
  await report('gw_2', { statsUntil: at(8) });
  expect(await statsCompleteUntil(db)).toEqual(at(8));
  await report('gw_3');
  expect(await statsCompleteUntil(db)).toBeNull();
  await heardOf('gw_3', '6 seconds');
  expect(await statsCompleteUntil(db)).toBeNull();
  await heardOf('gw_3', '11 seconds');
  expect(await statsCompleteUntil(db)).toEqual(at(8));
  await heardOf('gw_2', '11 seconds');
  expect(await statsCompleteUntil(db)).toEqual(at(9));
});

it('treats no time as complete that has not come', async () => {
  await report('gw', { statsUntil: new Date(Date.now() + 3_600_000) });
  expect((await statsCompleteUntil(db))!.getTime()).toBeLessThan(Date.now() + 60_000);
});

it('reports which gateways have stored an interval, left in it, or date their windows ahead', async () => {
  const now = Date.now();
  const soak = { from: new Date(now - 60_000), to: new Date(now - 5_000) };
  const stored = new Date(now - 4_000);
  await report('gw_ahead', { statsUntil: stored });
  await report('gw_complete', { statsUntil: stored });
  await report('gw_late', { statsUntil: new Date(now - 6_000) });
  await report('gw_left', { statsUntil: stored });
  await report('gw_new');
  await report('gw_quiet', { statsUntil: new Date(now - 6_000) });
  await report('gw_gone_before');
  await heardOf('gw_left', '11 seconds');
  await heardOf('gw_quiet', '4 seconds');
  await heardOf('gw_gone_before', '2 minutes');
  const dated = (gatewayId: string, revisionId: string, inSeconds: number) =>
    connection.sql(
      `insert into dataplane_request_stats (revision_id, window_start, gateway_id, tenant_id, ok, client_error, server_error, connect_error,
        cancelled, retried, streamed, tokens_in, tokens_out, histograms)
      values ($1, now() + make_interval(secs => $2), $3, 'ten', 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}')`,
      [revisionId, inSeconds, gatewayId],
    );
  await dated('gw_ahead', 'rev_1', 3_600);
  await dated('gw_complete', 'rev_1', -10);
  await dated('gw_complete', 'rev_other', 3_600);
  const states = (await reportersOf(db, ['rev_1', 'rev_2'], soak)).map(({ gatewayId, state }) => [gatewayId, state]);
  expect(states).toEqual([
    ['gw_ahead', 'ahead'],
    ['gw_complete', 'complete'],
    ['gw_late', 'missing'],
    ['gw_left', 'left'],
    ['gw_new', 'missing'],
    ['gw_quiet', 'silent'],
  ]);
  await connection.sql('delete from dataplane_request_stats');
});

it('forgets a gateway that leaves, and those away for ten minutes, with all their reports', async () => {
  for (const id of ['gw_leaves', 'gw_away', 'gw_slow', 'gw_stays']) await report(id, { follows: 7, busy: 1 });
  await heardOf('gw_away', '11 minutes');
  await heardOf('gw_slow', '9 minutes');
  await forgetGateway(db, 'gw_leaves');
  const left = async (table: string): Promise<unknown[]> =>
    (await connection.sql<{ id: string }>(`select gateway_id as id from ${table} order by 1`)).map(({ id }) => id);
  for (const table of ['dataplane_gateways', 'dataplane_followed_routes', 'dataplane_inflight'])
    expect([table, await left(table)]).toEqual([table, ['gw_slow', 'gw_stays']]);
  await connection.sql(`update dataplane_followed_routes set deployment_id = 'dep_gone' where gateway_id = 'gw_slow'`);
  await forgetGateway(db, '');
  expect([await followedCount(db, 'gw_slow'), await followedCount(db, 'gw_stays')]).toEqual([0, 1]);
  expect(await left('dataplane_gateways')).toEqual(['gw_slow', 'gw_stays']);
});
