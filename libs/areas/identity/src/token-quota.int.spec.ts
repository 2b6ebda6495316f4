import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { migrations as authMigrations, TokenService, type TokenUses } from '@slipway/platform-http/auth';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import type { Principal } from '@slipway/platform-http';
import { migrations as mutationMigrations, Mutations } from '@slipway/platform-durable/mutations';
import { migrations } from './index.js';
import { LastAdmin } from './last-admin.js';
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
    migrations: [...databaseMigrations, ...mutationMigrations, ...authMigrations, ...migrations],
  });
  const config = {
    operator: { quotas: { tokens: LIMIT } },
    rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
  };
  tokens = new TokensService(
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

const create = () => tokens.create(who, { name: 'ci', scopes: ['viewer'] });
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
      return tokens.create(who, { name: 'ci', scopes: ['viewer'], expires_at });
    };
    await expect(token(-1)).rejects.toThrow('expires_at must be in the future');
    await token(1);
    const { expires_at: expiresAt } = await create();
    const days = (new Date(expiresAt as unknown as string).getTime() - trueNow) / (24 * hourMs);
    expect(Math.abs(days - 90)).toBeLessThan(1 / 24);
  },
);
