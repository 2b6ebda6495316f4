import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { prepared, setwise, Tx } from '@slipway/platform-database';
import { Pending } from '@slipway/platform-database/testing';
import { errors, runInRequest, type RequestContext } from '@slipway/platform-http';
import { ACTOR, OperationsBed, TENANT } from '../../test/bed.js';
import type { Accept } from './accept-batch.js';
import { GatheredAccepts } from './gathered-accepts.js';

const FIND = setwise(
  't-thing-find',
  { name: 'text' },
  (given) =>
    `select given.at, t.name, t.owner from ${given} join things t on t.name = given.name order by t.name for update of t`,
);
const TAKE = setwise(
  't-thing-take',
  { name: 'text', owner: 'text' },
  (given) => `update things t set owner = given.owner from ${given} where t.name = given.name`,
);
const FAIL = prepared('t-thing-fail', 'select 1 / 0');
const PROBE = { kind: 'probe', steps: ['only'], unwind: {} };

let bed: OperationsBed;
let accepts: GatheredAccepts;
let count = 0;

beforeAll(async () => {
  bed = await OperationsBed.start();
  accepts = bed.module.get(GatheredAccepts);
  await bed.asOwner(
    `create table things (tenant_id text not null, name text primary key, owner text); select slipway_tenant_table('things');
     create function at_commit() returns trigger language plpgsql as $$
       begin if current_setting('lock_timeout') = '100ms' then raise 'in a hurry'; end if; return null; end $$;
     create constraint trigger at_commit after update on things deferrable initially deferred for each row execute function at_commit()`,
  );
});
afterAll(() => bed?.stop());
afterEach(() => void jest.restoreAllMocks());

/** Names of things that nobody has taken. */
async function things(number: number): Promise<string[]> {
  const names = Array.from({ length: number }, () => `thing-${String((count += 1)).padStart(5, '0')}`);
  await bed.sql('insert into things select $1, name from unnest($2::text[]) name', [TENANT, names]);
  return names;
}

interface More {
  key?: string;
  fingerprint?: string;
  /** Beside its rules, and behind its writes. */
  rule?: (tx: Tx) => Promise<unknown>;
  after?: (tx: Tx) => Promise<unknown>;
}

/** Takes a thing that nobody has; answers the operation's id. */
const take = (name: string, { key, fingerprint = 'same', rule, after }: More = {}) => {
  const idempotency = key === undefined ? undefined : { method: 'POST', path: '/things', key, fingerprint };
  const accept: Accept<string> = async (tx, turn) => {
    const claim = { operation: PROBE, resourceType: 'thing', resourceName: name, requestedBy: ACTOR, idempotency };
    const { id, created } = await turn.claim(claim);
    if (!created) return id;
    const [[found] = []] = await tx.each<{ owner: string | null }>(FIND, [{ name }]);
    if (!found) throw errors.not_found();
    if (found.owner) throw errors.precondition_failed({ message: found.owner });
    await rule?.(tx);
    await turn.toWrite();
    await tx.each(TAKE, [{ name, owner: id }]);
    await after?.(tx);
    return id;
  };
  return accepts.add({ tenantId: TENANT, resource: name, idempotency, accept });
};

/** Whose each thing is, and in how many transactions these were taken. */
async function standing(names: readonly string[]) {
  const rows = await bed.sql<{ owner: string | null; tx: string }>(
    'select owner, xmin::text as tx from things where name = any($1) order by name',
    [names],
  );
  const owners = rows.map(({ owner }) => owner);
  return { owners, transactions: new Set(rows.filter(({ owner }) => owner).map(({ tx }) => tx)).size };
}

const claimsFor = async (names: readonly string[]) =>
  (
    await bed.sql<{ id: string }>('select id from operations where resource_name = any($1) order by resource_name', [
      names,
    ])
  ).map(({ id }) => id);

/** The names of each look for things. */
const looksIn = (sent: jest.Spied<Tx['query']>) =>
  sent.mock.calls
    .filter(([statement]) => typeof statement !== 'string' && statement === FIND.statement)
    .map(([, values]) => values?.[0] as string[]);

const codeOf = (end: PromiseSettledResult<string>) =>
  end.status === 'fulfilled' ? 'taken' : ((end.reason as { code?: string }).code ?? String(end.reason));

it('accepts up to sixteen that come at one time in one transaction, with one statement of each kind', async () => {
  const names = await things(20);
  const sent = jest.spyOn(Tx.prototype, 'query');
  const ids = await Promise.all(names.map((name) => take(name)));
  expect(await standing(names)).toEqual({ owners: ids, transactions: 2 });
  expect(await claimsFor(names)).toEqual(ids);
  expect(looksIn(sent).map(({ length }) => length)).toEqual([16, 4]);
});

it('accepts others while a transaction is under way, but nobody for what that one writes', async () => {
  const [name, other] = (await things(2)) as [string, string];
  const { tx } = bed.database;
  const begun = new Pending();
  const held = new Pending();
  jest.spyOn(bed.database, 'tx').mockImplementationOnce(async (...args) => {
    begun.resolve();
    await held.promise;
    return tx.apply(bed.database, args);
  });
  const first = take(name);
  await begun.promise;
  const sent = jest.spyOn(Tx.prototype, 'query');
  const second = take(name);
  expect(await take(other)).toMatch(/^op_/);
  expect(looksIn(sent)[0]).toEqual([other]);
  held.resolve();
  const ends = await Promise.allSettled([first, second]);
  expect(ends.map(codeOf)).toEqual(['taken', 'precondition_failed']);
});

it('refuses one alone, which leaves no claim, and whose key is as new', async () => {
  const names = await things(3);
  const [first, refused, last] = names as [string, string, string];
  await bed.sql(`update things set owner = 'somebody' where name = $1`, [refused]);
  const ends = await Promise.allSettled([take(first), take(refused, { key: 'k-refused' }), take(last), take('none')]);
  expect(ends.map(codeOf)).toEqual(['taken', 'precondition_failed', 'taken', 'not_found']);
  expect((await standing([first, last])).transactions).toBe(1);
  expect(await claimsFor([...names, 'none'])).toHaveLength(2);
  await bed.sql('update things set owner = null where name = $1', [refused]);
  expect(await take(refused, { key: 'k-refused', fingerprint: 'another' })).toMatch(/^op_/);
});

it('keeps nothing of a transaction in which all were refused', async () => {
  const ends = await Promise.allSettled([take('none-a'), take('none-b')]);
  expect(ends.map(codeOf)).toEqual(['not_found', 'not_found']);
  expect(await claimsFor(['none-a', 'none-b'])).toEqual([]);
});

it.each([
  ['a rule', 'rule'],
  ['a write', 'after'],
] as const)('fails one alone where a statement of %s fails, and the others stand', async (_, at) => {
  const names = await things(3);
  const [first, failing, last] = names as [string, string, string];
  const ends = await Promise.allSettled([take(first), take(failing, { [at]: (tx: Tx) => tx.query(FAIL) }), take(last)]);
  expect(ends.map(codeOf)).toEqual(['taken', '22012', 'taken']);
  expect((await standing(names)).owners.map(Boolean)).toEqual([true, false, true]);
  expect(await claimsFor(names)).toHaveLength(2);
});

it('fails one alone that is refused behind its writes', async () => {
  const names = await things(2);
  const late = async () => {
    throw errors.precondition_failed();
  };
  const ends = await Promise.allSettled([take(names[0]!, { after: late }), take(names[1]!)]);
  expect(ends.map(codeOf)).toEqual(['precondition_failed', 'taken']);
  expect((await standing(names)).owners.map(Boolean)).toEqual([false, true]);
});

it('lets nobody wait for long for what another one waits for', async () => {
  const [held, ...others] = (await things(3)) as [string, string, string];
  let waiting: Promise<string[]> | undefined;
  await bed.whileLocked('select 1 from things where name = $1 for update', [held], async () => {
    const first = take(held);
    // Far below the ten seconds that a transaction of its own waits for a lock.
    const late = new Promise((resolve) => setTimeout(resolve, 5_000));
    expect(await Promise.race([take(others[0]!), late])).toMatch(/^op_/);
    await bed.somebodyWaits();
    // In no batch with the next one, which would wait for it again.
    const second = take(held);
    const transactions = jest.spyOn(bed.database, 'tx');
    await take(others[1]!);
    expect(transactions).toHaveBeenCalledTimes(1);
    waiting = Promise.allSettled([first, second]).then((ends) => ends.map(codeOf));
  });
  expect((await waiting)!.sort()).toEqual(['precondition_failed', 'taken']);
});

it('has of two for one resource the second see what the first has done', async () => {
  const [name, other] = (await things(2)) as [string, string];
  const ends = await Promise.allSettled([take(name), take(name), take(other), take(name)]);
  expect(ends.map(codeOf)).toEqual(['taken', 'precondition_failed', 'taken', 'precondition_failed']);
  const id = (ends[0] as PromiseFulfilledResult<string>).value;
  expect(await claimsFor([name])).toEqual([id]);
  expect((ends[1] as PromiseRejectedResult).reason).toMatchObject({ message: id });
});

it('answers two of one Idempotency-Key with one operation, and refuses a key of another request', async () => {
  const [name, other] = (await things(2)) as [string, string];
  const more = { key: 'k-same' };
  const ends = await Promise.allSettled([
    take(name, more),
    take(name, more),
    take(other, { ...more, fingerprint: 'b' }),
  ]);
  expect(ends.map(codeOf)).toEqual(['taken', 'taken', 'idempotency_key_reused']);
  const [first, second] = ends as PromiseFulfilledResult<string>[];
  expect(second!.value).toBe(first!.value);
  expect(await claimsFor([name, other])).toEqual([first!.value]);
});

it('lets nobody adopt what is refused', async () => {
  const ends = await Promise.allSettled([take('none', { key: 'k-none' }), take('none', { key: 'k-none' })]);
  expect(ends.map(codeOf)).toEqual(['not_found', 'not_found']);
});

it('tells each request what its own rules say, once, also where it goes twice', async () => {
  const [name, other] = (await things(2)) as [string, string];
  const warned = async (thing: string) => {
    const context: RequestContext = { requestId: `req-${thing}`, warnings: [{ code: 'no_route', field: 'earlier' }] };
    const rule = async () => void context.warnings.push({ code: 'no_route', field: thing });
    await runInRequest(context, () => take(thing, { rule })).catch(() => undefined);
    return context.warnings.map(({ field }) => field);
  };
  expect(await Promise.all([warned(name), warned(other), warned(name)])).toEqual([
    ['earlier', name],
    ['earlier', other],
    ['earlier'],
  ]);
  const requests = await bed.sql('select request_id from operations where resource_name = any($1)', [[name, other]]);
  expect(requests).toEqual(expect.arrayContaining([{ request_id: `req-${name}` }, { request_id: `req-${other}` }]));
});

it('goes alone where Postgres refuses the commit', async () => {
  const names = await things(2);
  const { tx } = bed.database;
  jest.spyOn(bed.database, 'tx').mockImplementationOnce(async (scope, work, options) => {
    await tx.call(bed.database, scope, work, { ...options, dryRun: true });
    throw Object.assign(new Error('canceling statement'), { severity: 'ERROR' });
  });
  const ends = await Promise.allSettled(names.map((name) => take(name)));
  expect(ends.map(codeOf)).toEqual(['taken', 'taken']);
  expect(await standing(names)).toEqual({ owners: expect.not.arrayContaining([null]), transactions: 2 });
});

it('answers nobody before the commit, and goes no second time where nobody knows whether it stands', async () => {
  const names = await things(2);
  const { tx } = bed.database;
  const committing = new Pending();
  const cut = new Error('Connection terminated unexpectedly');
  const transactions = jest.spyOn(bed.database, 'tx').mockImplementationOnce(async (...args) => {
    await tx.apply(bed.database, args);
    await committing.promise;
    throw cut;
  });
  let answered = 0;
  const asked = names.map((name) => take(name).finally(() => (answered += 1)));
  const ends = Promise.allSettled(asked);
  await new Promise((resolve) => setTimeout(resolve, 150));
  expect(answered).toBe(0);
  committing.resolve();
  expect((await ends).map(codeOf)).toEqual([String(cut), String(cut)]);
  expect(transactions).toHaveBeenCalledTimes(1);
});
