import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { migrations as databaseMigrations, newId, prepared, type Tx } from '@slipway/platform-database';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { beside, Latch } from '@slipway/platform-database/testing';
import { errors, KeyedRequest, type Principal, reply, type RouteSpec, runInRequest } from '@slipway/platform-http';
import { lockAccess, migrations as authMigrations, TokenService, TokenUses } from '@slipway/platform-http/auth';
import { migrations } from './index.js';
import { Mutations } from './mutations.js';

const WRITE = prepared('t-write-effect', 'insert into effects values ($1)');
const TENANT = 'ten_a';

let bed: DatabaseBed;
let tokens: TokenService;
let uses: TokenUses;
let mutations: Mutations;
let tokenId: string;
let who: Principal;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...authMigrations, ...migrations] });
  await bed.asOwner(`create table effects (tenant_id text); select slipway_tenant_table('effects')`);
  await bed.sql(`insert into tenants (id, name) values ($1, 'a')`, [TENANT]);
  uses = new TokenUses(bed.database);
  tokens = new TokenService(bed.database, uses);
  mutations = new Mutations(
    {
      leaseSeconds: 30,
      operator: {},
      rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
      gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    },
    bed.database,
  );
});
afterAll(() => bed?.stop());
beforeEach(async () => {
  await bed.sql('delete from effects');
  const owner = { type: 'person', id: 'ada' } as const;
  const { row, text } = await bed.database.tx({ tenantId: TENANT }, (tx) =>
    tokens.create(tx, {
      tenantId: TENANT,
      name: newId('name'),
      scopes: ['admin'],
      expiresAt: new Date(Date.now() + 60_000),
      createdBy: 'token:x',
      owner,
      minters: [],
    }),
  );
  tokenId = row.id;
  who = await tokens.authenticate(text);
});
afterEach(() => {
  jest.restoreAllMocks();
});

interface MutationOptions {
  by?: Pick<Principal, 'tenantId' | 'access'>;
  /** Runs in the mutation, before it writes. */
  meanwhile?: (tx: Tx) => Promise<unknown>;
  /** Runs in the mutation, after it has written. */
  after?: (tx: Tx) => Promise<unknown>;
  locksAccess?: boolean;
  isDryRun?: boolean;
}

const mutate = ({ by = who, meanwhile, after, ...options }: MutationOptions = {}) =>
  mutations.run({ principal: by, ...options }, async (tx) => {
    await meanwhile?.(tx);
    await tx.query(WRITE, [TENANT]);
    await after?.(tx);
    return 'done';
  });
const outcome = (work: Promise<unknown>) =>
  work.then(
    (value) => value,
    (failure: { code: string }) => failure.code,
  );
const effects = async () => (await bed.sql('select from effects')).length;
/** Changes the token as another process would. */
const change = (set: string) => beside(() => bed.asOwner(`update api_tokens set ${set} where id = '${tokenId}'`));
const revoke = () => change('revoked_at = now()');
const SLEEP_UNTIL_EXPIRY = prepared(
  't-until-expiry',
  `select pg_sleep_until(expires_at) from api_tokens where id = $1`,
);

const ENDS: [what: string, code: string, end: (tx: Tx) => Promise<unknown>][] = [
  ['was revoked', 'unauthenticated', revoke],
  ['has expired', 'token_expired', () => change(`expires_at = now() - interval '1 second'`)],
  [
    'expires while the transaction runs',
    'token_expired',
    async (tx) => {
      await change(`expires_at = clock_timestamp() + interval '50 ms'`);
      await tx.query(SLEEP_UNTIL_EXPIRY, [tokenId]);
    },
  ],
  ['lost a scope', 'scope_insufficient', () => change(`scopes = '{operator}'`)],
  ['got another secret', 'unauthenticated', () => change(`secret_sha256 = ''`)],
  ['was deleted', 'unauthenticated', () => beside(() => bed.asOwner(`delete from api_tokens where id = '${tokenId}'`))],
];

it.each(ENDS)('a mutation whose token %s changes nothing: %s', async (_what, code, end) => {
  expect(await outcome(mutate({ after: end }))).toBe(code);
  expect(await effects()).toBe(0);
});

it.each(ENDS)('a mutation that locks its token changes nothing if the token %s: %s', async (_what, code, end) => {
  expect(await outcome(mutate({ after: end, locksAccess: true }))).toBe(code);
  expect(await effects()).toBe(0);
});

it('a mutation changes something if the access has not ended, and if it has no caller', async () => {
  expect(await mutate()).toBe('done');
  expect(await mutate({ locksAccess: true })).toBe('done');
  expect(await mutate({ by: { tenantId: TENANT }, after: revoke })).toBe('done');
  expect(await effects()).toBe(3);
});

it('the caller of the request counts, whatever the service passes on', async () => {
  const context = { requestId: 'req_1', warnings: [], principal: who, route: { scope: 'admin' } as RouteSpec };
  const refused = runInRequest(context, () =>
    mutate({ by: { tenantId: TENANT }, after: () => change(`scopes = '{viewer}'`) }),
  );
  await expect(refused).rejects.toMatchObject({ status: 403, extra: { required_scope: 'admin' } });
  expect(await effects()).toBe(0);
});

it('a rehearsal, a refusal and a mutation of several tenants tell a caller without access nothing else', async () => {
  expect(await outcome(mutate({ after: revoke, isDryRun: true }))).toBe('unauthenticated');
  const refusing = (end: () => Promise<unknown>) =>
    mutate({
      after: async () => {
        await end();
        throw errors.precondition_failed();
      },
    });
  expect(await outcome(refusing(revoke))).toBe('unauthenticated');
  await change('revoked_at = null');
  expect(await outcome(refusing(async () => undefined))).toBe('precondition_failed');
  const asSystem = mutations.runAsSystem({ principal: who }, async (tx) => {
    await tx.query(WRITE, ['ten_b']);
    await revoke();
  });
  expect(await outcome(asSystem)).toBe('unauthenticated');
  expect(await effects()).toBe(0);
});

const claim = () => ({ method: 'POST', path: '/things', key: newId('key'), fingerprint: '' });

it('a key is not claimed for a caller without access', async () => {
  await revoke();
  const held = claim();
  const context = { requestId: 'req_1', warnings: [], principal: who };
  expect(await outcome(runInRequest(context, () => mutations.hold({ tenantId: TENANT }, held)))).toBe(
    'unauthenticated',
  );
  expect(await bed.sql('select from idempotency_keys where key = $1', [held.key])).toEqual([]);
});

it('an earlier answer is not repeated for a caller without access', async () => {
  const given = claim();
  const send = () => {
    const keyed = new KeyedRequest(given);
    const context = { requestId: 'req_1', warnings: [], principal: who, keyed };
    return runInRequest(context, () => mutations.run({ principal: who }, async () => reply(201, { secret: 1 })));
  };
  const earlier = () =>
    runInRequest({ requestId: 'req_2', warnings: [], principal: who }, () => mutations.earlierAnswer(given));
  expect(await earlier()).toBeUndefined();
  await send();
  expect(await earlier()).toMatchObject({ status: 201 });
  await revoke();
  expect(await outcome(earlier())).toBe('unauthenticated');
});

it('only a mutation that locks its token waits for a revocation under way, and the revocation wins', async () => {
  const [isRevoked, mayCommit] = [new Latch(), new Latch()];
  const revocation = bed.database.tx('system', async (tx) => {
    await tx.query('update api_tokens set revoked_at = now() where id = $1', [tokenId]);
    isRevoked.resolve();
    await mayCommit.promise;
  });
  await isRevoked.promise;
  expect(await outcome(mutate())).toBe('done');
  const locking = outcome(mutate({ locksAccess: true }));
  await bed.somebodyWaits();
  mayCommit.resolve();
  await revocation;
  expect(await locking).toBe('unauthenticated');
  expect(await effects()).toBe(1);
});

it('a revocation waits for a mutation that has locked its token, and the note of a use does not', async () => {
  let revocation: Promise<unknown> | undefined;
  const done = await mutate({
    meanwhile: async (tx) => {
      await lockAccess(tx, who);
      uses.note(tokenId);
      await beside(() => uses.flush());
      revocation = revoke();
      await bed.somebodyWaits();
    },
  });
  expect(done).toBe('done');
  await revocation;
  const [row] = await bed.sql(
    'select last_used_at, revoked_at is not null as is_revoked from api_tokens where id = $1',
    [tokenId],
  );
  expect(row).toEqual({ last_used_at: null, is_revoked: true });
});

it('a caller may end its own access only in a mutation that locks it before', async () => {
  const REVOKE = prepared('t-revoke-self', 'update api_tokens set revoked_at = now() where id = $1');
  const revokeSelf = (tx: Tx) => tx.query(REVOKE, [tokenId]);
  expect(await outcome(mutate({ after: revokeSelf, locksAccess: true }))).toBe('unauthenticated');
  expect(await effects()).toBe(0);
  const meanwhile = (tx: Tx) => lockAccess(tx, who);
  expect(await outcome(mutate({ meanwhile, after: revokeSelf, locksAccess: true }))).toBe('done');
  // It has lost its access, and cannot give it back.
  const RESTORE = prepared('t-restore-self', 'update api_tokens set revoked_at = null where id = $1');
  const restore = (tx: Tx) => tx.query(RESTORE, [tokenId]);
  expect(await outcome(mutate({ meanwhile, after: restore, locksAccess: true }))).toBe('unauthenticated');
  expect(await effects()).toBe(1);
});

it('reads the access again in the message of the commit: without a round trip of its own', async () => {
  const spies = [jest.spyOn(Socket.prototype, '_writev'), jest.spyOn(Socket.prototype, '_write')];
  const messages = async (options: MutationOptions) => {
    await mutate(options);
    const before = spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0);
    await mutate(options);
    return spies.reduce((sum, spy) => sum + spy.mock.calls.length, 0) - before;
  };
  const unchecked = await messages({ by: { tenantId: TENANT } });
  // The begin with the first statement, the quotas, and the commit.
  expect(unchecked).toBe(3);
  expect(await messages({})).toBe(unchecked);
  expect(await messages({ locksAccess: true })).toBe(unchecked);
});
