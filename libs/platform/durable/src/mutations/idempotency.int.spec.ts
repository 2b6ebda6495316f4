import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, migrations as databaseMigrations, type Tx } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import {
  KeyedRequest,
  rawJson,
  reply,
  runInRequest,
  type Principal,
  type RawJson,
  type Reply,
  type RequestContext,
  type RouteSpec,
} from '@slipway/platform-http';
import { ClaimedKey, forgetKeys, StoredAnswer } from './idempotency-keys.js';
import { appendAudit, Mutations } from './mutations.js';
import { migrations } from './index.js';

const scope = { tenantId: 'ten_1' };

let testDatabase: TestDatabase;
let module: TestingModule;
let mutations: Mutations;
let database: Database;
let number = 0;
let claim: { method: string; path: string; key: string; fingerprint: string };
let effects = 0;

beforeAll(async () => {
  testDatabase = await createTestDatabase([...databaseMigrations, ...migrations]);
  const config = {
    database: { url: testDatabase.url, migrateUrl: testDatabase.ownerUrl, embedded: false, poolSize: 8 },
    leaseSeconds: 30,
    operator: { targets: [], secrets: {} },
    rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
  } as unknown as Config;
  module = await Test.createTestingModule({
    imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config)],
    providers: [Mutations],
  }).compile();
  mutations = module.get(Mutations);
  database = module.get(Database);
});

afterAll(async () => {
  await module?.close();
  await testDatabase?.drop();
});

beforeEach(() => {
  claim = { method: 'POST', path: '/things', key: `key-${(number += 1)}`, fingerprint: 'a' };
  effects = 0;
});

/** Runs a mutation as the handler of a request with a key. */
const request = (
  idempotency: typeof claim,
  handle: () => Promise<unknown>,
  context: Partial<RequestContext> = {},
): Promise<Reply> => {
  const keyed = new KeyedRequest(idempotency, (given) => mutations.earlierAnswer(given));
  const answer = () => keyed.answer(handle) as Promise<Reply>;
  return runInRequest({ requestId: 'req_1', warnings: [], keyed, ...context }, answer);
};
const run = (principal: { tenantId: string }, idempotency: typeof claim, change: typeof work): Promise<Reply> =>
  request(idempotency, () => mutations.run({ principal }, change));
const work = async (_tx: Tx): Promise<Reply> => reply(201, { effect: (effects += 1) }, { etag: '"x"' });
const bodyOf = (answer: Reply) =>
  answer.body && 'text' in (answer.body as object) ? JSON.parse((answer.body as RawJson).text) : answer.body;
const keys = async () =>
  (await database.read('system', 'select 1 from idempotency_keys where key = $1', [claim.key])).length;

it('has one effect for fifty concurrent requests, and one answer', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => run(scope, claim, work)));
  expect(effects).toBe(1);
  expect(
    new Set(answers.map((answer) => JSON.stringify([answer.status, bodyOf(answer), answer.headers['etag']]))),
  ).toEqual(new Set(['[201,{"effect":1},"\\"x\\""]']));
  expect(answers.filter((answer) => answer.headers['idempotency-replayed'] === 'true').length).toBe(49);
});

it('refuses another request with the key, from run and from hold', async () => {
  await run(scope, claim, async () => reply(200, rawJson('{"a": 1}')));
  await expect(run(scope, { ...claim, fingerprint: 'b' }, work)).rejects.toMatchObject({
    code: 'idempotency_key_reused',
    status: 422,
  });
  const stored = (await mutations.hold(scope, claim)) as StoredAnswer;
  expect(() => stored.replay('b')).toThrow(expect.objectContaining({ code: 'idempotency_key_reused' }));
  expect(bodyOf(stored.replay('a'))).toEqual({ a: 1 });
  expect(effects).toBe(0);
});

it('keeps tenants, methods and paths apart', async () => {
  await run(scope, claim, work);
  await run({ tenantId: 'ten_2' }, claim, work);
  await run(scope, { ...claim, path: '/others' }, work);
  await run(scope, { ...claim, method: 'PUT' }, work);
  await mutations.run({ principal: scope }, work);
  expect(effects).toBe(5);
});

it('stores no key of a refused request', async () => {
  await expect(run(scope, claim, async () => Promise.reject(new Error('refused')))).rejects.toThrow('refused');
  const held = (await mutations.hold(scope, claim)) as ClaimedKey;
  await held.release();
  expect(await keys()).toBe(0);
  await run(scope, { ...claim, fingerprint: 'b' }, work);
  expect(effects).toBe(1);
});

it('answers 409 while the key is held, and the stored answer after that', async () => {
  const held = (await mutations.hold(scope, { ...claim, fingerprint: '' })) as ClaimedKey;
  await expect(mutations.hold(scope, claim)).rejects.toMatchObject({
    code: 'idempotency_in_progress',
    status: 409,
    headers: { 'retry-after': '5' },
  });
  await expect(run(scope, claim, work)).rejects.toMatchObject({ code: 'idempotency_in_progress' });
  await database.tx(scope, (tx) => held.complete(tx, reply(201, { a: 1 }), 'late'));
  await held.release();
  expect(bodyOf(((await mutations.hold(scope, claim)) as StoredAnswer).replay('late'))).toEqual({ a: 1 });
  expect(effects).toBe(0);
});

it('reports at once that a held key belongs to another request, if the fingerprints are known', async () => {
  const held = (await mutations.hold(scope, claim)) as ClaimedKey;
  await expect(mutations.hold(scope, { ...claim, fingerprint: 'b' })).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  });
  await held.release();
});

it('gives the key of a dead request to the next one, and lets the dead one store nothing', async () => {
  const dead = (await mutations.hold(scope, claim)) as ClaimedKey;
  await database.tx('system', (tx) =>
    tx.query(`update idempotency_keys set claimed_until = now() - interval '1 second' where key = $1`, [claim.key]),
  );
  const heirs = await Promise.allSettled(Array.from({ length: 10 }, () => mutations.hold(scope, claim)));
  const [heir, ...more] = heirs.flatMap((one) => (one.status === 'fulfilled' ? [one.value as ClaimedKey] : []));
  expect(more).toEqual([]);
  await expect(database.tx(scope, (tx) => dead.complete(tx, reply(200, {})))).rejects.toMatchObject({
    code: 'idempotency_in_progress',
  });
  await dead.release();
  await database.tx(scope, (tx) => heir!.complete(tx, reply(200, { by: 'heir' })));
  expect(bodyOf(((await mutations.hold(scope, claim)) as StoredAnswer).replay('a'))).toEqual({ by: 'heir' });
});

it('changes one resource in one transaction at a time, and several resources concurrently', async () => {
  let open = 0;
  let most = 0;
  const change = async (tx: Tx): Promise<void> => {
    most = Math.max(most, (open += 1));
    await tx.query('select pg_sleep(0.002)');
    open -= 1;
  };
  const changing = (resources: readonly string[]) =>
    Promise.all(
      resources.map((changedResource) =>
        runInRequest({ requestId: 'req_1', warnings: [], changedResource }, () =>
          mutations.run({ principal: scope }, change),
        ),
      ),
    );
  await changing(Array.from({ length: 20 }, () => 'one'));
  expect(most).toBe(1);
  await changing(['one', 'two', 'three']);
  expect(most).toBeGreaterThan(1);
  most = 0;
  await Promise.all(Array.from({ length: 20 }, () => mutations.runAsSystem({ principal: scope }, change)));
  expect(most).toBe(1);
  // A change that fails lets the next one begin.
  const failed = runInRequest({ requestId: 'req_1', warnings: [], changedResource: 'one' }, () =>
    mutations.run({ principal: scope }, () => Promise.reject(new Error('refused'))),
  );
  await expect(failed).rejects.toThrow('refused');
  await changing(['one']);
});

it('answers a repeat before the checks of its handler, which may fail by now', async () => {
  const principal = { ...scope, access: [] } as unknown as Principal;
  await run(scope, claim, work);
  const handle = async () => Promise.reject(new Error('the address resolves no longer'));
  const repeated = await request(claim, handle, { principal });
  expect([repeated.status, bodyOf(repeated)]).toEqual([201, { effect: 1 }]);
  const other = request({ ...claim, fingerprint: 'b' }, handle, { principal });
  await expect(other).rejects.toThrow('the address resolves no longer');
});

it('stores no secret of an answer, and a repeat says that it lacks one', async () => {
  const route = { secrets: ['token'], ok: { 201: Object } } as unknown as RouteSpec;
  const create = () => mutations.run({ principal: scope }, async () => ({ id: 'tok_1', token: 'slw_secret' }));
  expect(await request(claim, create, { route })).toEqual({ id: 'tok_1', token: 'slw_secret' });
  const warnings: RequestContext['warnings'] = [];
  const repeated = await request(claim, create, { route, warnings });
  expect([repeated.status, bodyOf(repeated)]).toEqual([201, { id: 'tok_1', token: null }]);
  expect(warnings).toEqual([expect.objectContaining({ code: 'secret_omitted', field: 'token' })]);
  const [row] = await database.read<{ text: string }>(
    'system',
    'select k::text as text from idempotency_keys k where key = $1',
    [claim.key],
  );
  expect(row!.text).not.toContain('slw_secret');
});

it('obeys the key of a mutation of several tenants', async () => {
  const create = () => mutations.runAsSystem({ principal: scope }, () => work(undefined as never));
  const answers = await Promise.all(Array.from({ length: 5 }, () => request(claim, create)));
  expect([effects, ...answers.map(bodyOf)]).toEqual([1, ...answers.map(() => ({ effect: 1 }))]);
});

it('rehearses a request without its key, and a repeat of one as such', async () => {
  const rehearse = () => request(claim, () => mutations.run({ principal: scope, isDryRun: true }, work));
  expect(bodyOf(await rehearse())).toEqual({ effect: 1 });
  expect(await keys()).toBe(0);
  await run(scope, claim, work);
  expect(bodyOf(await rehearse())).toMatchObject({ valid: true, would: expect.stringMatching(/first request/) });
  const reused = request({ ...claim, fingerprint: 'b' }, () =>
    mutations.run({ principal: scope, isDryRun: true }, work),
  );
  await expect(reused).rejects.toMatchObject({ code: 'idempotency_key_reused' });
});

it('stores the answer with the first mutation of a request, and warns if there is none', async () => {
  const twice = async () => {
    const answer = await mutations.run({ principal: scope }, work);
    await mutations.run({ principal: scope }, async () => 'not an answer');
    return answer;
  };
  await request(claim, twice);
  expect(bodyOf(await request(claim, twice))).toEqual({ effect: 1 });
  const warnings: RequestContext['warnings'] = [];
  await request({ ...claim, path: '/others' }, async () => ({}), { warnings });
  expect(warnings).toEqual([expect.objectContaining({ code: 'idempotency_key_ignored', field: 'Idempotency-Key' })]);
});

it('refuses to store anything but the answer', async () => {
  const incomplete = request(claim, () => mutations.run({ principal: scope }, async () => 'only an id'));
  await expect(incomplete).rejects.toThrow('must return the answer');
  expect(await keys()).toBe(0);
});

it('forgets the keys of a deleted resource, and no others', async () => {
  const paths = ['/things/chat/end-drain', '/things/chat', '/things/chatty', '/things'];
  for (const path of paths) await run(scope, { ...claim, path }, work);
  await run({ tenantId: 'ten_2' }, { ...claim, path: paths[0]! }, work);
  await database.tx(scope, (tx) => forgetKeys(tx, scope.tenantId, '/things/chat'));
  const kept = await database.read<{ path: string }>('system', 'select path from idempotency_keys where key = $1', [
    claim.key,
  ]);
  expect(kept.map(({ path }) => path).sort()).toEqual(['/things', '/things/chat/end-drain', '/things/chatty']);
});

it('repeats the whole of a request that was cut off between two of its effects', async () => {
  const action = claim.key;
  const create = (afterFirst?: (tx: Tx) => Promise<unknown>) => () =>
    mutations.run({ principal: scope }, async (tx) => {
      await appendAudit(tx, { action, resourceType: 'thing', resourceName: 'first' });
      await afterFirst?.(tx);
      await appendAudit(tx, { action, resourceType: 'thing', resourceName: 'second' });
      return work(tx);
    });
  const cut = (tx: Tx) => tx.query('select pg_terminate_backend(pg_backend_pid())');
  await expect(request(claim, create(cut))).rejects.toThrow();
  expect((await request(claim, create())).status).toBe(201);
  expect((await request(claim, create())).headers['idempotency-replayed']).toBe('true');
  const rows = await database.read(
    'system',
    'select resource_name as name from audit_log where action = $1 order by 1',
    [action],
  );
  expect(rows).toEqual([{ name: 'first' }, { name: 'second' }]);
});
