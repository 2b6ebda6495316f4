import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import type { Config } from '@slipway/platform-config';
import { migrations as authMigrations, TokenService, type TokenUses } from '@slipway/platform-http/auth';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import type { Principal } from '@slipway/platform-http';
import { migrations as mutationMigrations, Mutations } from '@slipway/platform-durable/mutations';
import { migrations as operationMigrations } from '@slipway/platform-durable/operations';
import { migrations } from './index.js';
import { LastAdmin } from './last-admin.js';
import { TokenRetention } from './token-retention.js';
import { TokensService } from './tokens.service.js';

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
let bed: DatabaseBed;
let tokens: TokensService;
let who: Principal;

beforeAll(async () => {
  bed = await DatabaseBed.start({
    migrations: [
      ...databaseMigrations,
      ...mutationMigrations,
      ...operationMigrations,
      ...authMigrations,
      ...migrations,
    ],
  });
  const config = {
    operator: { quotas: { tokens: LIMIT } },
    rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
  };
  tokens = new TokensService(
    bed.database,
    new Mutations({ leaseSeconds: 30, ...config }, bed.database),
    new TokenService(bed.database, { note: () => undefined } as unknown as TokenUses),
    new LastAdmin({ identity: { provider: 'oidc' } }),
    config,
  );
});
afterAll(() => bed?.stop());
afterEach(() => {
  jest.useRealTimers();
});
beforeEach(async () => {
  const tenantId = newId('ten');
  await bed.sql('insert into tenants (id, name) values ($1, $1)', [tenantId]);
  who = {
    tenantId,
    tenantName: tenantId,
    isOperatorTenant: false,
    actor: { type: 'token', id: 'tok_boot' },
    scopes: new Set(['viewer', 'operator', 'admin'] as const),
    owner: { type: 'person', id: 'alice' },
    minters: [],
  };
});

let count = 0;
const create = () => tokens.create(who, { name: `ci-${(count += 1)}`, scopes: ['viewer'] });
const refusal = { status: 429, code: 'quota_exceeded', extra: { quota: 'tokens', limit: LIMIT } };

it('a tenant has as many active tokens as its quota allows, and may create another when one is revoked or expires', async () => {
  const made = [];
  for (let n = 0; n < LIMIT; n += 1) made.push(await create());
  await expect(create()).rejects.toMatchObject(refusal);
  await tokens.revoke(who, made[0]!.id);
  await create();
  await expect(create()).rejects.toMatchObject(refusal);
  await bed.sql(`update api_tokens set expires_at = now() - interval '1 second' where id = $1`, [made[1]!.id]);
  await create();
  await expect(create()).rejects.toMatchObject(refusal);
});

it('thirty concurrent creations leave exactly as many tokens as the quota allows', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, create));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(LIMIT);
  expect(await bed.sql('select from api_tokens where tenant_id = $1', [who.tenantId])).toHaveLength(LIMIT);
});

it.each([-2, 2])(
  'the clock of Postgres decides about an expiry if the clock of the api is off by %i hours',
  async (hours) => {
    const hourMs = 3_600_000;
    const trueNow = Date.now();
    jest.useFakeTimers({ now: trueNow + hours * hourMs, doNotFake: [...NOT_DATE] });
    const token = (hoursLeft: number) => {
      const expires_at = new Date(trueNow + hoursLeft * hourMs).toISOString();
      return tokens.create(who, { name: `ci-${hoursLeft}`, scopes: ['viewer'], expires_at });
    };
    await expect(token(-1)).rejects.toThrow('expires_at must be in the future');
    await token(1);
    const { expires_at: expiresAt } = await create();
    const days = (new Date(expiresAt as unknown as string).getTime() - trueNow) / (24 * hourMs);
    expect(Math.abs(days - 90)).toBeLessThan(1 / 24);
  },
);

const rotate = (id: string, overlap_seconds: number, life: { expires_in?: string } = {}) =>
  tokens.rotate(who, id, { overlap_seconds, ...life });
const named = (name: string) => tokens.create(who, { name, scopes: ['viewer'] });

it('of many concurrent creations with one name one succeeds, until its token is revoked or expires', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => named('ci')));
  const made = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(made).toHaveLength(1);
  await expect(named('ci')).rejects.toMatchObject({
    status: 409,
    code: 'token_exists',
    extra: { token_id: made[0]!.id },
  });
  await tokens.revoke(who, made[0]!.id);
  const second = await named('ci');
  await bed.sql(`update api_tokens set expires_at = now() where id = $1`, [second.id]);
  await named('ci');
});

it('a rotated token and its replacement share a name, which no third token gets', async () => {
  const first = await named('ci');
  const second = await rotate(first.id, 60);
  expect(second).toMatchObject({
    name: 'ci',
    state: 'active',
    replaced: { id: first.id, state: 'active', replaced_by: second.id },
  });
  await expect(named('ci')).rejects.toMatchObject({ code: 'token_exists', extra: { token_id: second.id } });
  await expect(rotate(first.id, 0)).rejects.toMatchObject({
    status: 409,
    code: 'token_not_rotatable',
    extra: { replaced_by: second.id },
  });
  await tokens.revoke(who, second.id);
  await expect(named('ci')).rejects.toMatchObject({ code: 'token_exists', extra: { token_id: first.id } });
  await expect(rotate(second.id, 60)).rejects.toMatchObject({ code: 'token_not_rotatable' });
});

it('an old token that stays usable counts in the quota, and one that ends at once does not', async () => {
  const made = [];
  for (let n = 0; n < LIMIT; n += 1) made.push(await create());
  await expect(rotate(made[0]!.id, 60)).rejects.toMatchObject(refusal);
  const second = await rotate(made[0]!.id, 0);
  expect(second.replaced).toMatchObject({ state: 'revoked', revoked_by: 'token:tok_boot' });
  expect(
    await bed.sql(`select from api_tokens where tenant_id = $1 and revoked_at is null`, [who.tenantId]),
  ).toHaveLength(LIMIT);
});

it('a token ends at the end of the overlap, and never later than before', async () => {
  const long = await create();
  const before = Date.now();
  const { replaced } = await rotate(long.id, 120);
  const leftMs = new Date(replaced.expires_at).getTime() - before;
  expect(leftMs).toBeGreaterThan(100_000);
  expect(leftMs).toBeLessThan(300_000);
  const short = await tokens.create(who, { name: 'short', scopes: ['viewer'], expires_in: '1m' });
  expect((await rotate(short.id, 3_600)).replaced.expires_at).toBe(short.expires_at);
});

it('a replacement belongs to the owner of the old token, and names everyone who knows a secret of it', async () => {
  const bob = { type: 'person', id: 'bob' } as const;
  const made = await tokens.create({ ...who, owner: bob }, { name: 'of bob', scopes: ['viewer'] });
  const second = await rotate(made.id, 0);
  expect([second.owner, second.minters]).toEqual([bob, [bob, who.owner]]);
});

it('concurrent rotations of one token leave one replacement', async () => {
  const made = await create();
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => rotate(made.id, 0)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

it('deletes tokens when they ended long enough ago, except those that approvals or configuration still need', async () => {
  const [old, fresh, starter, configured] = [await create(), await create(), await create(), await create()];
  const end = (id: string, days: number) =>
    bed.sql(`update api_tokens set revoked_at = now() - make_interval(days => $2) where id = $1`, [id, days]);
  for (const { id } of [old, starter, configured]) await end(id, 31);
  await end(fresh.id, 29);
  await bed.sql(`update api_tokens set created_by = 'system:configuration' where id = $1`, [configured.id]);
  await bed.sql(
    `insert into operations (id, tenant_id, kind, resource_type, resource_name, resource_id, stream, method, path, fingerprint, requested_by)
     values ($1, $2, 'rollout', 'deployment', 'chat', 'dep_1', 'deployment/dep_1', 'POST', '/', '', $3)`,
    [newId('op'), who.tenantId, JSON.stringify({ type: 'token', id: starter.id })],
  );
  const ids = async () =>
    (await bed.sql<{ id: string }>('select id from api_tokens where tenant_id = $1', [who.tenantId])).map(
      ({ id }) => id,
    );
  await new TokenRetention({ operator: { retention: { tokens_days: 30 } } as Config['operator'] }).run((scope, work) =>
    bed.database.tx(scope, work),
  );
  expect((await ids()).sort()).toEqual([fresh.id, starter.id, configured.id].sort());
  await bed.sql('delete from operations where tenant_id = $1', [who.tenantId]);
  await new TokenRetention({ operator: { retention: { tokens_days: 29 } } as Config['operator'] }).run((scope, work) =>
    bed.database.tx(scope, work),
  );
  expect(await ids()).toEqual([configured.id]);
});
