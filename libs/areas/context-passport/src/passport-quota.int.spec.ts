import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { Global, Module } from '@nestjs/common';
import { findPassport, migrations as dataplane, writeSightings, type PassportSighting } from '@slipway/dataplane';
import { migrations as auth } from '@slipway/platform-http/auth';
import { newId } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { Schedule } from '@slipway/platform-durable/scheduling';
import { OperationHarness, platformMigrations } from '@slipway/platform-durable/operations/testing';
import { DEPLOYMENTS } from '@slipway/ports/deployment-records';
import { PRODUCTS } from '@slipway/ports/model-api-administration';
import { ROUTES } from '@slipway/ports/routing';
import { ContextPassportModule } from './index.js';
import { PassportsService } from './passports.service.js';

const LIMIT = 4;
const NOT_DATE = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;
let harness: OperationHarness;
let passports: PassportsService;
let who: Principal;

const ports = [
  { provide: DEPLOYMENTS, useValue: { get: async () => ({ id: 'dep_1', name: 'chat' }) } },
  { provide: ROUTES, useValue: { current: async () => undefined } },
  { provide: PRODUCTS, useValue: {} },
];
@Global()
@Module({ providers: ports, exports: ports.map(({ provide }) => provide) })
class NeighboursModule {}

beforeAll(async () => {
  harness = await OperationHarness.start({
    migrations: [...platformMigrations, ...auth, ...dataplane],
    modules: [NeighboursModule, ContextPassportModule],
    config: {
      operator: {
        targets: [],
        secrets: {},
        quotas: { context_passports: LIMIT, tenants: { big: { context_passports: LIMIT + 2 } } },
      },
    },
  });
  passports = harness.context.get(PassportsService, { strict: false });
  // A round runs only when a test runs it.
  await harness.context.get(Schedule, { strict: false }).beforeApplicationShutdown();
}, 60_000);
afterAll(() => harness?.stop());
afterEach(() => {
  jest.useRealTimers();
});
beforeEach(async () => {
  const tenantId = newId('ten');
  await sql('insert into tenants (id, name) values ($1, $1)', [tenantId]);
  who = {
    tenantId,
    tenantName: tenantId,
    isOperatorTenant: false,
    actor: { type: 'token', id: 'tok_1' },
    scopes: new Set(['operator'] as const),
    owner: { type: 'person', id: 'alice' },
    minters: [],
  };
});

const sql = <R extends object>(text: string, values: unknown[] = []): Promise<R[]> =>
  harness.database.tx('system', (tx) => tx.query<R>(text, values));
const declare = (session: string, ttlSeconds = 600) =>
  passports.create(who, {
    deployment: 'chat',
    session_id: session,
    affinity: { mode: 'soft', ttl_seconds: ttlSeconds },
  });
const count = async (): Promise<number> =>
  (await sql('select from dataplane_passports where tenant_id = $1', [who.tenantId])).length;
const round = () => harness.context.get(Schedule, { strict: false }).runNow('context-passport-bounds');
/** Reports new sessions as a gateway does. */
const seen = (sessions: number, first = 0) => {
  const at = new Date().toISOString();
  const sightings = Array.from({ length: sessions }, (_, n) => ({
    id: `cp_${who.tenantId}_${first + n}`,
    tenant_id: who.tenantId,
    deployment_id: 'dep_1',
    deployment_name: 'chat',
    key_hash: 'hash',
    source: 'x-session-id',
    subject: 'tok_1',
    mode: 'soft',
    ttl_seconds: 600,
    revision_id: null,
    revision_name: null,
    instance_id: null,
    bound_at: null,
    last_seen_at: at,
    expires_at: new Date(Date.now() + 600_000).toISOString(),
    requests: 1,
    hits: 0,
    misses: 1,
    rebinds: 0,
    last_rebind_reason: null,
  })) satisfies PassportSighting[];
  return harness.database.tx('system', (tx) => writeSightings(tx, sightings));
};
const refusal = { status: 429, code: 'quota_exceeded', extra: { quota: 'context_passports', limit: LIMIT } };

it('a tenant declares as many passports as its quota allows, and may declare another when one is gone', async () => {
  for (let n = 0; n < LIMIT; n += 1) await declare(`session-${n}`);
  await expect(declare('one-more')).rejects.toMatchObject(refusal);
  expect((await declare('session-1')).status).toBe(201);
  await sql(
    `update dataplane_passports set expires_at = now() - interval '1 second' where tenant_id = $1 and id = $2`,
    [who.tenantId, (await declare('session-2')).body.id],
  );
  await expect(declare('one-more')).rejects.toMatchObject(refusal);
  await round();
  expect((await declare('one-more')).status).toBe(201);
  await expect(declare('two-more')).rejects.toMatchObject(refusal);
});

it('thirty concurrent declarations leave exactly as many passports as the quota allows', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, (_, n) => declare(`session-${n}`)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
  expect(await count()).toBe(LIMIT);
});

it('gateways write no more passports than the quota allows, once a worker has announced it', async () => {
  await seen(1);
  await round();
  await seen(10);
  expect(await count()).toBe(LIMIT);
  await expect(declare('one-more')).rejects.toMatchObject(refusal);
  // A live session keeps its record and continues.
  await round();
  await seen(1);
  const kept = await harness.database.tx('system', (tx) => findPassport(tx, who.tenantId, `cp_${who.tenantId}_0`));
  expect(kept).toMatchObject({ requests: 3 });
  expect(await count()).toBe(LIMIT);
});

it('a tenant with a quota of its own gets that one', async () => {
  await sql(`update tenants set name = 'big' where id = $1`, [who.tenantId]);
  await seen(1);
  await round();
  await seen(10);
  expect(await count()).toBe(LIMIT + 2);
});

it.each([-2, 2])(
  'a passport expires by the clock of Postgres if the clock of the api is off by %i hours',
  async (hours) => {
    await declare('short', 3_600);
    const [{ id }] = (await sql<{ id: string }>('select id from dataplane_passports where tenant_id = $1', [
      who.tenantId,
    ])) as [{ id: string }];
    jest.useFakeTimers({ now: Date.now() + hours * 3_600_000, doNotFake: [...NOT_DATE] });
    expect((await passports.get(who, id)).state).toBe('active');
    await sql(`update dataplane_passports set expires_at = now() - interval '1 second' where id = $1`, [id]);
    expect((await passports.get(who, id)).state).toBe('expired');
  },
);

it('lists the passports of a tenant, all of them once, by deployment and by state', async () => {
  for (const session of ['a', 'b', 'c']) await declare(session);
  await seen(1);
  const { id: revoked } = (await declare('b')).body;
  await passports.revoke(who, revoked);
  const { id: expired } = (await declare('c')).body;
  await sql(`update dataplane_passports set expires_at = now() where id = $1`, [expired]);
  const list = (filter: object = {}, limit = 200, cursor?: string[]) => passports.list(who, filter, { limit, cursor });
  const ids: string[] = [];
  for (let cursor: string[] | undefined; ;) {
    const page = await list({}, 1, cursor);
    ids.push(...page.data.map(({ id }) => id));
    if (page.next_cursor === null) break;
    cursor = [page.data[0]!.id];
  }
  expect(ids).toEqual([...new Set(ids)].sort());
  expect(ids).toHaveLength(4);
  for (const [state, id] of [
    ['revoked', revoked],
    ['expired', expired],
  ])
    expect((await list({ state })).data).toMatchObject([{ id, state }]);
  expect((await list({ state: 'active' })).data).toHaveLength(2);
  expect((await list({ deployment: 'chat' })).data).toHaveLength(4);
  expect((await list({ deployment: 'other' })).data).toEqual([]);
  expect((await passports.list({ ...who, tenantId: newId('ten') }, {}, { limit: 200 })).data).toEqual([]);
});

it('deletes only passports that have ended, which then no longer count in the quota', async () => {
  const made = [];
  for (let n = 0; n < LIMIT; n += 1) made.push((await declare(`session-${n}`)).body.id);
  const [active, revoked, expired] = made as [string, string, string];
  await passports.revoke(who, revoked);
  await sql(`update dataplane_passports set expires_at = now() where id = $1`, [expired]);
  await expect(passports.delete(who, active)).rejects.toMatchObject({ status: 409, code: 'context_passport_active' });
  await expect(passports.delete({ ...who, tenantId: newId('ten') }, revoked)).rejects.toMatchObject({ status: 404 });
  for (const id of [revoked, expired]) expect(await passports.delete(who, id)).toEqual({ id, state: 'deleted' });
  await expect(passports.delete(who, revoked)).rejects.toMatchObject({ code: 'context_passport_not_found' });
  await declare('one-more');
  await declare('two-more');
  await expect(declare('three-more')).rejects.toMatchObject(refusal);
});
