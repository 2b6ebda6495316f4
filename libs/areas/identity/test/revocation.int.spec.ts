import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Config } from '@slipway/platform-config';
import { migrations as databaseMigrations, newId, type Tx } from '@slipway/platform-database';
import { beside, Latch } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { appendAudit, migrations as mutationMigrations, Mutations } from '@slipway/platform-durable/mutations';
import type { Principal, Scope } from '@slipway/platform-http';
import { migrations as authMigrations, TokenService, TokenUses, withIncluded } from '@slipway/platform-http/auth';
import { accessOfIdentity } from '../src/console-access.query.js';
import { ConsoleAccessService } from '../src/console-access.service.js';
import { migrations } from '../src/index.js';
import { LastAdmin } from '../src/last-admin.js';
import { TenantsService } from '../src/tenants.service.js';
import { TokensService } from '../src/tokens.service.js';

const IDENTITY = { provider: 'oidc', issuer: 'https://id.test' } as Config['identity'];
const ORGANIZATION = 'org_1';

let bed: DatabaseBed;
let mutations: Mutations;
let tokenService: TokenService;
let tokens: TokensService;
let access: ConsoleAccessService;
let tenants: TenantsService;
let tenantId: string;

beforeAll(async () => {
  bed = await DatabaseBed.start({
    migrations: [...databaseMigrations, ...mutationMigrations, ...authMigrations, ...migrations],
  });
  mutations = new Mutations(
    {
      leaseSeconds: 30,
      operator: {},
      rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
      gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    },
    bed.database,
  );
  tokenService = new TokenService(bed.database, new TokenUses(bed.database));
  const lastAdmin = new LastAdmin({ identity: IDENTITY });
  tokens = new TokensService(bed.database, mutations, tokenService, lastAdmin, {
    operator: { quotas: { tokens: 100 } },
    rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
  });
  access = new ConsoleAccessService(bed.database, mutations, lastAdmin);
  tenants = new TenantsService({ identity: IDENTITY }, bed.database, mutations, tokenService);
});
afterAll(() => bed?.stop());
beforeEach(async () => {
  tenantId = newId('ten');
  await bed.sql('delete from tenant_organizations');
  await bed.sql('update tenants set is_operator = false');
  await bed.sql('insert into tenants (id, name, is_operator) values ($1, $1, true)', [tenantId]);
});

async function byToken(): Promise<Principal> {
  const { text } = await bed.database.tx({ tenantId }, (tx) =>
    tokenService.create(tx, {
      tenantId,
      name: 'admin',
      scopes: ['admin'],
      expiresAt: new Date(Date.now() + 3_600_000),
      createdBy: 'token:x',
      owner: { type: 'person', id: 'alice' },
      minters: [],
    }),
  );
  return tokenService.authenticate(text);
}

/** A granted identity, as its provider's token would let it in. */
async function byPerson(userId: string, expiresAt = new Date(Date.now() + 60_000)): Promise<Principal> {
  await bed.sql(
    `insert into console_access (id, tenant_id, provider, external_organization_id, external_user_id, scopes, status, updated_by)
     values ($1, $2, 'oidc', $3, $4, '{admin}', 'active', '{}')`,
    [newId('cac'), tenantId, ORGANIZATION, userId],
  );
  const scopes = withIncluded(['admin']);
  const owner = { type: 'person', id: `user:${userId}` } as const;
  const identity = { organizationId: ORGANIZATION, userId, expiresAt };
  return {
    tenantId,
    tenantName: tenantId,
    isOperatorTenant: true,
    actor: { type: 'user', id: userId },
    scopes,
    owner,
    minters: [],
    access: [accessOfIdentity('oidc', identity, { tenantId, scopes })],
  };
}

const outcome = (work: Promise<unknown>) =>
  work.then(
    () => 'done',
    (failure: { code: string }) => failure.code,
  );
const set = (who: Principal, userId: string, scopes: Scope[]) =>
  access.set(who, {
    provider: 'oidc',
    external_organization_id: ORGANIZATION,
    external_user_id: userId,
    access: scopes.length > 0,
    scopes,
  });
const give = (who: Principal, id: string, organizations: string[]) =>
  tenants.update(who, id, { external_organization_ids: organizations });
const mappingOf = async (userId: string) =>
  (
    await bed.sql<{ status: string }>(
      'select status from console_access where tenant_id = $1 and external_user_id = $2',
      [tenantId, userId],
    )
  )[0]!.status;

/** Another transaction that makes a change and commits when the test says so. */
async function changing(change: (tx: Tx) => Promise<unknown>): Promise<{ commit: () => Promise<void> }> {
  const [isMade, mayCommit] = [new Latch(), new Latch()];
  const done = bed.database.tx('system', async (tx) => {
    await change(tx);
    isMade.resolve();
    await mayCommit.promise;
  });
  await isMade.promise;
  return {
    commit: () => {
      mayCommit.resolve();
      return done;
    },
  };
}

it.each([
  ['was revoked', 'console_access_revoked', `update console_access set status = 'revoked', scopes = '{}'`],
  ['was deleted', 'unauthenticated', 'delete from console_access'],
  ['lost a scope', 'scope_insufficient', `update console_access set scopes = '{operator}'`],
])('a mutation of an identity whose mapping %s in the meantime changes nothing', async (_what, code, change) => {
  for (const locksAccess of [false, true]) {
    const ada = await byPerson(newId('usr'));
    const mutating = mutations.run({ principal: ada, locksAccess }, async (tx) => {
      await appendAudit(tx, { action: 'thing.create', resourceType: 'thing', resourceName: 'one' });
      await beside(() => bed.sql(`${change} where external_user_id = $1`, [ada.actor.id]));
    });
    expect(await outcome(mutating)).toBe(code);
  }
  expect(await bed.sql('select from audit_log where tenant_id = $1', [tenantId])).toEqual([]);
});

it('a mutation of an identity whose organization or token has ended in the meantime changes nothing', async () => {
  const ada = await byPerson('ada');
  const other = newId('ten');
  await bed.sql('insert into tenants (id, name) values ($1, $1)', [other]);
  const during = (who: Principal, change: () => Promise<unknown>) =>
    outcome(
      mutations.run({ principal: who }, async (tx) => {
        await appendAudit(tx, { action: 'thing.create', resourceType: 'thing', resourceName: 'one' });
        await beside(change);
      }),
    );
  const assign = (tenant: string) =>
    bed.sql(`insert into tenant_organizations values ('oidc', $1, $2)`, [ORGANIZATION, tenant]);
  expect(await during(ada, () => assign(other))).toBe('unauthenticated');
  await assign(tenantId);
  const endsAt = new Date(Date.now() + 50);
  const end = () => bed.sql('select from pg_sleep_until($1::timestamptz)', [endsAt]);
  expect(await during(await byPerson('late', endsAt), end)).toBe('token_expired');
  expect(await bed.sql('select from audit_log where tenant_id = $1', [tenantId])).toEqual([]);
  expect(await during(ada, async () => undefined)).toBe('done');
});

it('admins may end their own access', async () => {
  const [token, other, ada] = [await byToken(), await byToken(), await byPerson('ada')];
  expect(await outcome(tokens.revoke(token, token.actor.id))).toBe('done');
  expect(await outcome(tokens.revoke(token, other.actor.id))).toBe('unauthenticated');
  expect(await outcome(set(ada, 'ada', ['viewer']))).toBe('done');
  expect(await outcome(set(ada, 'ada', ['admin']))).toBe('scope_insufficient');
  const eve = await byPerson('eve');
  await bed.sql('insert into tenants (id, name) values ($1, $1)', [`${tenantId}x`]);
  expect(await outcome(give(eve, `${tenantId}x`, [ORGANIZATION]))).toBe('done');
  expect(await outcome(give(eve, `${tenantId}x`, []))).toBe('unauthenticated');
});

it('of two admins who revoke each other, one succeeds', async () => {
  await byToken();
  for (let round = 0; round < 5; round += 1) {
    const [one, two] = [await byToken(), await byToken()];
    const outcomes = await Promise.all([
      outcome(tokens.revoke(one, two.actor.id)),
      outcome(tokens.revoke(two, one.actor.id)),
    ]);
    expect(outcomes.sort()).toEqual(['done', 'unauthenticated']);
  }
});

it('an admin who is revoked while a request waits cannot restore the access with it', async () => {
  const [ada, bob] = [await byPerson('ada'), await byToken()];
  const { commit } = await changing(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('slipway.admins:' || $1::text, 0))`, [tenantId]);
    await tx.query(
      `update console_access set status = 'revoked', scopes = '{}' where external_user_id = 'ada' and tenant_id = $1`,
      [tenantId],
    );
  });
  const restoring = outcome(set(ada, 'ada', ['admin']));
  await bed.somebodyWaits();
  await commit();
  expect(await restoring).toBe('console_access_revoked');
  expect(await mappingOf('ada')).toBe('revoked');
  expect(await outcome(set(bob, 'ada', ['admin']))).toBe('done');
});

it('an admin whose organization is given away while a request waits cannot take it back with it', async () => {
  const ada = await byPerson('ada');
  const other = newId('ten');
  await bed.sql('insert into tenants (id, name) values ($1, $1)', [other]);
  const { commit } = await changing(async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('slipway.tenant_names', 0))`);
    await tx.query(`insert into tenant_organizations values ('oidc', $1, $2)`, [ORGANIZATION, other]);
  });
  const takingBack = outcome(give(ada, other, []));
  await bed.somebodyWaits();
  await commit();
  expect(await takingBack).toBe('unauthenticated');
  expect(await bed.sql('select from tenant_organizations where tenant_id = $1', [other])).toHaveLength(1);
});

it('a mutation that gives access waits for a revocation under way, and a revocation waits for it', async () => {
  const ada = await byPerson('ada');
  const { commit } = await changing((tx) =>
    tx.query(
      `update console_access set status = 'revoked', scopes = '{}' where external_user_id = 'ada' and tenant_id = $1`,
      [tenantId],
    ),
  );
  const creating = outcome(tokens.create(ada, { name: 'late', scopes: ['admin'] }));
  await bed.somebodyWaits();
  await commit();
  expect(await creating).toBe('console_access_revoked');
  expect(await bed.sql('select from api_tokens where tenant_id = $1', [tenantId])).toEqual([]);
});

it('an organization leaves its tenant before or after a mutation that gives access by it, never during it', async () => {
  const [operator, ada] = [await byToken(), await byPerson('ada')];
  await byPerson('bob');
  const other = newId('ten');
  await bed.sql('insert into tenants (id, name) values ($1, $1)', [other]);
  const { commit } = await changing((tx) =>
    tx.query(`select from console_access where external_user_id = 'bob' and tenant_id = $1 for update`, [tenantId]),
  );
  const ended: string[] = [];
  const note = async (what: string, work: Promise<unknown>) => void ended.push(`${what}: ${await outcome(work)}`);
  const revoking = note('the mapping is changed', set(ada, 'bob', ['viewer']));
  await bed.somebodyWaits();
  const taking = note('the organization is taken', give(operator, other, [ORGANIZATION]));
  // It ends at once, or waits for the mutation.
  await Promise.race([taking, bed.someWait(2)]);
  await commit();
  await Promise.all([revoking, taking]);
  expect(ended).toEqual(['the mapping is changed: done', 'the organization is taken: done']);
});
