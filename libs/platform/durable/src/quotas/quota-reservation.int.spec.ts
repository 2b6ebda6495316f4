import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { QUOTAS, type QuotaConfig, type QuotaName } from '@slipway/platform-config';
import { migrations as databaseMigrations, newId, type Tx } from '@slipway/platform-database';
import { Latch, until } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { migrations as authMigrations } from '@slipway/platform-http/auth';
import { reserveQuota, quotasOfTenant } from './index.js';
import { quotaExceeded } from './quota.errors.js';

let bed: DatabaseBed;
let tenantId: string;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...authMigrations] });
  await bed.asOwner('create table things (tenant_id text); grant all on things to slipway_system, slipway_tenant');
});
afterAll(() => bed?.stop());
beforeEach(() => {
  tenantId = newId('ten');
});

const count = async (tx: Tx): Promise<number> =>
  (await tx.one<{ count: number }>('select count(*)::int from things where tenant_id = $1', [tenantId]))?.count ?? 0;
const add = (limit: number, adding?: number, quota: QuotaName = 'webhooks') =>
  bed.database.tx({ tenantId }, async (tx) => {
    await reserveQuota(tx, { tenantId, quota, limit }, () => count(tx), adding);
    await tx.query('insert into things select $1 from generate_series(1, $2)', [tenantId, adding ?? 1]);
  });

it('accepts exactly as many of thirty concurrent additions as the quota allows', async () => {
  const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => add(7)));
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(7);
  expect(await bed.database.tx('system', count)).toBe(7);
  const [refused] = outcomes.filter((outcome) => outcome.status === 'rejected');
  expect(refused?.reason).toMatchObject({
    status: 429,
    code: 'quota_exceeded',
    extra: { quota: 'webhooks', limit: 7 },
  });
});

it('counts what is to be added, and allows more after a deletion', async () => {
  await add(5, 5);
  await expect(add(5)).rejects.toMatchObject({ code: 'quota_exceeded' });
  await bed.sql('delete from things where tenant_id = $1', [tenantId]);
  await add(5, 4);
  await expect(add(5, 2)).rejects.toMatchObject({ code: 'quota_exceeded' });
  await add(5);
});

it('does not block additions to another quota or for another tenant', async () => {
  const held = new Latch();
  const goOn = new Latch();
  const first = bed.database.tx({ tenantId }, async (tx) => {
    await reserveQuota(tx, { tenantId, quota: 'webhooks', limit: 5 }, async () => 0);
    held.resolve();
    await goOn.promise;
  });
  await held.promise;
  await add(5, 1, 'tokens');
  const other = newId('ten');
  await bed.database.tx({ tenantId: other }, (tx) =>
    reserveQuota(tx, { tenantId: other, quota: 'webhooks', limit: 5 }, async () => 0),
  );
  const second = add(5);
  await until('the second waits', async () => {
    const here = `database = (select oid from pg_database where datname = current_database())`;
    return (
      (await bed.asOwner(`select from pg_locks where locktype = 'advisory' and not granted and ${here}`)).length > 0
    );
  });
  goOn.resolve();
  await Promise.all([first, second]);
});

it('names each quota, its limit and the way to stay below it', () => {
  for (const quota of Object.keys(QUOTAS) as QuotaName[]) {
    const refusal = quotaExceeded(quota, 20);
    expect(refusal).toMatchObject({
      status: 429,
      code: 'quota_exceeded',
      category: 'limit',
      extra: { quota, limit: 20 },
    });
    expect(refusal.message).toContain(`Tenant quota ${quota} exceeded: at most 20 `);
    expect(refusal.remediation).toMatch(/^.+, or ask the operator for a higher quota\.$/);
  }
  // Waiting helps with streams, which end by themselves, and not with deployments.
  expect([quotaExceeded('event_streams', 1), quotaExceeded('deployments', 1)].map((one) => one.retryable)).toEqual([
    true,
    false,
  ]);
});

it('finds the quotas of a tenant by its id, and sends no query if no tenant has its own', async () => {
  await bed.sql('insert into tenants (id, name) values ($1, $2)', [tenantId, 'acme']);
  const configOf = (quotas?: QuotaConfig['operator']['quotas']): QuotaConfig => ({
    operator: { quotas },
    rateLimit: { readsPerMinute: 1, mutationsPerMinute: 1 },
    gateway: { limits: { requestsPerMinute: 1, maxConcurrencyPerToken: 1 } },
  });
  const own = configOf({ webhooks: 5, tenants: { acme: { webhooks: 2 } } });
  await bed.database.tx('system', async (tx) => {
    expect((await quotasOfTenant(tx, own, tenantId)).webhooks).toBe(2);
    expect((await quotasOfTenant(tx, own, 'ten_unknown')).webhooks).toBe(5);
  });
  expect((await quotasOfTenant({} as Tx, configOf({ webhooks: 5 }), tenantId)).webhooks).toBe(5);
});
