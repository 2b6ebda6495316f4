import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import pg from 'pg';
import { migrations as platformMigrations } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import {
  declarePassport,
  emptyCounts,
  requestFailures,
  findPassport,
  followedCount,
  forgetGateway,
  HistogramRecorder,
  histogramsOf,
  inFlight,
  lastWindowWith,
  migrations,
  passportId,
  passportKey,
  publishBackend,
  publishRoute,
  publishSlug,
  quantile,
  readEntries,
  readVersions,
  reportGateway,
  revokePassport,
  routeFollowers,
  sessionKeyHash,
  StaleGenerationError,
  statsBetween,
  statsCompleteUntil,
  unpublishRoute,
  withdrawBackend,
  withdrawSlug,
  writeSightings,
  writeWindows,
  type NamedSql,
  type PassportSighting,
  type QueryClient,
  type StatsWindow,
} from './index.js';

let database: TestDatabase;
let client: pg.Client;
let db: QueryClient;

beforeAll(async () => {
  database = await createTestDatabase([...platformMigrations, ...migrations]);
});
afterAll(async () => {
  await database?.drop();
});

beforeEach(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('set role slipway_system');
  db = {
    query: async <R>(statement: NamedSql, values: unknown[] = []) =>
      (await client.query({ ...statement, values })).rows as R[],
  };
});
afterEach(async () => {
  await client.end();
});

const affinity = { mode: 'soft', ttl_seconds: 600 } as const;
const target = (revisionId: string, weight: number) => ({ revisionId, revisionName: `${revisionId}-name`, weight });

async function asTenant<T>(tenantId: string, work: () => Promise<T>): Promise<T> {
  await client.query(`reset role; set role slipway_tenant; set slipway.tenant = '${tenantId}'`);
  try {
    return await work();
  } finally {
    await client.query('reset role; set role slipway_system');
  }
}

it('publishes a route with its slots, notifies on commit, and refuses an older generation', async () => {
  const heard: string[] = [];
  const listener = new pg.Client({ connectionString: database.url });
  await listener.connect();
  listener.on('notification', (message) => heard.push(message.payload ?? ''));
  await listener.query('listen slipway_dataplane');

  const route = { tenantId: 'ten_a', deploymentId: 'dep_a', deploymentName: 'chat', affinity };
  const first = await publishRoute(db, { ...route, generation: 1, targets: [target('r1', 100)] });
  expect(first.slots).toEqual(new Array(100).fill('r1'));
  const second = await publishRoute(db, {
    ...route,
    generation: 2,
    targets: [target('r1', 70), target('r2', 30), target('r3', 0)],
  });
  const third = await publishRoute(db, {
    ...route,
    generation: 3,
    targets: [target('r3', 0), target('r2', 50), target('r1', 50)],
  });
  expect(third.slots.filter((owner, slot) => owner !== second.slots[slot])).toHaveLength(20);
  await expect(publishRoute(db, { ...route, generation: 3, targets: [target('r1', 100)] })).rejects.toThrow(
    StaleGenerationError,
  );

  const { routes } = await readEntries(db, { routes: ['dep_a'], backends: [], slugs: [], passports: [] });
  expect(routes[0]).toMatchObject({ generation: 3, tenant_id: 'ten_a', deployment_name: 'chat', affinity });
  expect(routes[0]?.slots.map((index) => routes[0]?.targets[index]?.revision_id)).toEqual(third.slots);

  await unpublishRoute(db, 'dep_a');
  expect(await readVersions(db)).toEqual([]);
  await listener.query('select 1');
  expect(heard).toEqual(new Array(4).fill('route:dep_a'));
  await listener.end();
});

it('publishes backends and slugs, versioned, and a tenant sees only its own', async () => {
  const backend = {
    revisionId: 'rev_b',
    revisionName: 'chat-00001',
    tenantId: 'ten_b',
    deploymentId: 'dep_b',
    modelId: 'llama',
    credential: null,
    guard: null,
  };
  await publishBackend(db, { ...backend, instances: [{ id: 'i1', base_url: 'http://127.0.0.1:1', state: 'ready' }] });
  await publishBackend(db, { ...backend, instances: [], guard: { allow: ['https://*.example.com'] } });
  const slug = {
    slug: 'acme/chat',
    tenantId: 'ten_b',
    productId: 'prd_1',
    bindings: [],
    audience: { visibility: 'shared' as const, tenants: [] },
  };
  expect(await publishSlug(db, slug)).toBe(true);
  expect(await publishSlug(db, { ...slug, tenantId: 'ten_other' })).toBe(false);
  expect(await readVersions(db)).toEqual(
    expect.arrayContaining([
      { kind: 'backend', id: 'rev_b', version: expect.any(Number) },
      { kind: 'slug', id: 'acme/chat', version: expect.any(Number) },
    ]),
  );
  const read = await readEntries(db, { routes: ['dep_b'], backends: [], slugs: ['acme/chat'], passports: [] });
  expect(read.backends[0]).toMatchObject({
    revision_id: 'rev_b',
    instances: [],
    guard: { allow: ['https://*.example.com'] },
  });
  expect(read.slugs[0]).toMatchObject({ slug: 'acme/chat', tenant_id: 'ten_b' });
  expect(await asTenant('ten_a', () => readVersions(db))).toEqual([]);
  expect(await asTenant('ten_b', () => readVersions(db))).toHaveLength(2);
  await withdrawBackend(db, 'rev_b');
  await withdrawSlug(db, 'acme/chat');
  expect(await readVersions(db)).toEqual([]);
});

it('counts in-flight requests and followers of live gateways only, also in a tenant’s transaction', async () => {
  const followed = (generation: number) => [{ deployment_id: 'dep_c', tenant_id: 'ten_c', generation }];
  const busy = (count: number) => [{ revision_id: 'rev_c', tenant_id: 'ten_c', in_flight: count }];
  await reportGateway(db, { gatewayId: 'gw_1', statsUntil: null, followed: followed(2), inFlight: busy(3) });
  await reportGateway(db, { gatewayId: 'gw_2', statsUntil: null, followed: [], inFlight: busy(4) });
  await reportGateway(db, { gatewayId: 'gw_3', statsUntil: null, followed: followed(1), inFlight: [] });
  expect(await asTenant('ten_c', () => inFlight(db, 'rev_c'))).toBe(7);
  expect(await asTenant('ten_c', () => routeFollowers(db, 'dep_c', 2))).toEqual({ gateways: 3, behind: 2 });

  await reportGateway(db, { gatewayId: 'gw_2', statsUntil: null, followed: followed(2), inFlight: busy(0) });
  await client.query(`update dataplane_gateways set seen_at = now() - interval '6 seconds' where gateway_id = 'gw_3'`);
  await client.query(
    `update dataplane_inflight set updated_at = now() - interval '6 seconds' where gateway_id = 'gw_1'`,
  );
  expect(await inFlight(db, 'rev_c')).toBe(0);
  expect(await routeFollowers(db, 'dep_c', 2)).toEqual({ gateways: 2, behind: 0 });

  // Once the route is known, a live gateway that does not follow it counts as a request that may start.
  await publishBackend(db, {
    revisionId: 'rev_c',
    revisionName: 'c',
    tenantId: 'ten_c',
    deploymentId: 'dep_c',
    modelId: 'm',
    instances: [],
    credential: null,
    guard: null,
  });
  await publishRoute(db, {
    tenantId: 'ten_c',
    deploymentId: 'dep_c',
    deploymentName: 'c',
    generation: 3,
    targets: [target('rev_c', 100)],
    affinity,
  });
  expect(await asTenant('ten_c', () => inFlight(db, 'rev_c'))).toBe(2);
  await reportGateway(db, { gatewayId: 'gw_1', statsUntil: null, followed: followed(3), inFlight: [] });
  await reportGateway(db, { gatewayId: 'gw_2', statsUntil: null, followed: followed(3), inFlight: [] });
  expect(await inFlight(db, 'rev_c')).toBe(0);
  expect(await followedCount(db, 'gw_1')).toBe(1);
  await unpublishRoute(db, 'dep_c');
  await withdrawBackend(db, 'rev_c');
  await forgetGateway(db, '');
  expect(await followedCount(db, 'gw_1')).toBe(0);

  await forgetGateway(db, 'gw_1');
  await forgetGateway(db, 'gw_2');
  expect(await routeFollowers(db, 'dep_c', 2)).toEqual({ gateways: 0, behind: 0 });
  await forgetGateway(db, 'gw_3');
});

function windowAt(second: number, gatewayId: string, ok: number, failed: number, ttft: number): StatsWindow {
  const recorder = new HistogramRecorder();
  recorder.record(ttft, ok);
  const histogram = recorder.snapshot();
  return {
    revision_id: 'rev_s',
    tenant_id: 'ten_s',
    gateway_id: gatewayId,
    window_start: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(),
    ...emptyCounts(),
    ok,
    server_error: failed,
    cancelled: 1,
    streamed: ok,
    tokens_in: 10 * ok,
    tokens_out: 20 * ok,
    ...histogramsOf(() => histogram),
    loads: null,
    callers: null,
    waits: null,
    faults: null,
  };
}

it('merges the windows of an interval over gateways, and stores a repeated batch once', async () => {
  const batch = [
    windowAt(10, 'gw_1', 30, 10, 100),
    windowAt(10, 'gw_2', 30, 0, 100),
    windowAt(11, 'gw_1', 20, 0, 400),
    windowAt(20, 'gw_1', 5, 0, 1),
  ];
  await writeWindows(db, batch);
  await writeWindows(db, batch);
  const at = (second: number): Date => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
  const stats = await statsBetween(db, 'rev_s', at(10), at(12));
  expect(stats.counts).toEqual({ ...emptyCounts(), ok: 80, server_error: 10, cancelled: 3 });
  expect(requestFailures(stats.counts)).toEqual({ failed: 10, of: 90 });
  expect(stats).toMatchObject({ streamed: 80, tokens_in: 800, tokens_out: 1600 });
  expect(quantile(stats.ttft_ms, 0.5) as number).toBeGreaterThan(95);
  expect(quantile(stats.ttft_ms, 0.5) as number).toBeLessThan(105);
  expect(quantile(stats.ttft_ms, 0.95) as number).toBeGreaterThan(380);
  expect((await statsBetween(db, 'rev_s', at(12), at(20))).counts.ok).toBe(0);
  expect(requestFailures((await statsBetween(db, 'rev_none', at(0), at(60))).counts)).toEqual({ failed: 0, of: 0 });

  expect(await lastWindowWith(db, 'rev_s', { before: at(60), seconds: 2, minAttempts: 80 })).toEqual({
    from: at(10),
    to: at(12),
  });
  expect(await lastWindowWith(db, 'rev_s', { before: at(60), seconds: 2, minAttempts: 500 })).toBeNull();
});

it('returns up to when statistics are complete, and nothing without a gateway', async () => {
  expect(await statsCompleteUntil(db)).toBeNull();
  const early = new Date('2026-01-01T00:00:05Z');
  await reportGateway(db, {
    gatewayId: 'gw_a',
    statsUntil: new Date('2026-01-01T00:00:09Z'),
    followed: [],
    inFlight: [],
  });
  await reportGateway(db, { gatewayId: 'gw_b', statsUntil: early, followed: [], inFlight: [] });
  await reportGateway(db, { gatewayId: 'gw_b', statsUntil: null, followed: [], inFlight: [] });
  expect(await statsCompleteUntil(db)).toEqual(early);
  await reportGateway(db, { gatewayId: 'gw_c', statsUntil: null, followed: [], inFlight: [] });
  expect(await statsCompleteUntil(db)).toBeNull();
  for (const id of ['gw_a', 'gw_b', 'gw_c']) await forgetGateway(db, id);
});

it('adds up sightings of a passport, and notifies the gateways when it is revoked', async () => {
  const key = passportKey(new KeyRing(randomBytes(32)));
  const id = passportId(key, 'ten_p', 'dep_p', 'session 1');
  const sighting: PassportSighting = {
    id,
    tenant_id: 'ten_p',
    deployment_id: 'dep_p',
    deployment_name: 'chat',
    key_hash: sessionKeyHash(key, 'ten_p', 'session 1'),
    source: 'user',
    subject: 'tok_1',
    mode: 'soft',
    ttl_seconds: 600,
    revision_id: 'rev_1',
    revision_name: 'chat-00001',
    instance_id: 'ins_1',
    bound_at: new Date().toISOString(),
    last_seen_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    requests: 3,
    hits: 2,
    misses: 1,
    rebinds: 0,
    last_rebind_reason: null,
  };
  await writeSightings(db, [sighting]);
  await writeSightings(db, [
    {
      ...sighting,
      requests: 2,
      hits: 1,
      misses: 0,
      rebinds: 1,
      last_rebind_reason: 'target_unhealthy',
      instance_id: 'ins_2',
    },
  ]);
  expect(await findPassport(db, 'ten_p', id)).toMatchObject({
    requests: 5,
    hits: 3,
    misses: 1,
    rebinds: 1,
    last_rebind_reason: 'target_unhealthy',
    instance_id: 'ins_2',
    revoked_at: null,
  });
  expect(await findPassport(db, 'ten_q', id)).toBeUndefined();
  expect(await revokePassport(db, 'ten_q', id)).toBeUndefined();
  expect((await revokePassport(db, 'ten_p', id))?.revoked_at).toBeInstanceOf(Date);
  expect((await readEntries(db, { routes: [], backends: [], slugs: [], passports: [id] })).revokedPassports).toEqual([
    id,
  ]);

  const declared = await declarePassport(db, {
    id,
    tenantId: 'ten_p',
    deploymentId: 'dep_p',
    deploymentName: 'chat',
    keyHash: sighting.key_hash,
    subject: null,
    mode: 'soft',
    ttlSeconds: 60,
  });
  expect(declared).toMatchObject({ revoked_at: null, subject: 'tok_1', requests: 5 });
});
