import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { reply, type RawJson } from '@slipway/platform-http';
import { migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { holdIntervals, until } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { migrations } from './index.js';
import { ClaimedKey, StoredAnswer } from './idempotency-keys.js';
import { Mutations } from './mutations.js';

const scope = { tenantId: newId('ten') };
/** A third of the bed's lease. */
const RENEWAL_MS = 10_000;

let bed: DatabaseBed;
let mutations: Mutations;
let number = 0;
let claim: { method: string; path: string; key: string; fingerprint: string };

beforeAll(async () => {
  holdIntervals();
  bed = await DatabaseBed.start({ migrations: [...databaseMigrations, ...migrations], providers: [Mutations] });
  mutations = bed.module.get(Mutations);
});
afterAll(async () => {
  await bed?.stop();
  jest.useRealTimers();
});
beforeEach(() => {
  claim = { method: 'POST', path: '/things', key: `key-${(number += 1)}`, fingerprint: 'a' };
});
afterEach(() => void jest.restoreAllMocks());

const hold = async () => (await mutations.hold(scope, claim)) as ClaimedKey;
const complete = (held: ClaimedKey, by: string) =>
  bed.database.tx(scope, (tx) => held.complete(tx, reply(200, { by }), 'a'));
const answer = async () => {
  const stored = (await mutations.hold(scope, claim)) as StoredAnswer;
  return JSON.parse((stored.replay('a').body as RawJson).text);
};
const claimedUntil = async () => {
  const [row] = await bed.sql<{ until: string }>(
    'select claimed_until::text as until from idempotency_keys where key = $1',
    [claim.key],
  );
  return row!.until;
};

it('is renewed three times in a lease for as long as it is held', async () => {
  const held = await hold();
  for (const renewal of [1, 2, 3, 4]) {
    const before = await claimedUntil();
    jest.advanceTimersByTime(RENEWAL_MS);
    await until(`renewal ${renewal}`, async () => (await claimedUntil()) > before);
    await expect(hold()).rejects.toMatchObject({ code: 'idempotency_in_progress' });
  }
  await complete(held, 'its holder');
  const last = await claimedUntil();
  jest.advanceTimersByTime(RENEWAL_MS);
  expect(await answer()).toEqual({ by: 'its holder' });
  expect(await claimedUntil()).toBe(last);
});

it('is not lost when one renewal fails', async () => {
  const held = await hold();
  const away = jest.spyOn(bed.database, 'tx').mockRejectedValueOnce(new Error('Postgres is away'));
  jest.advanceTimersByTime(RENEWAL_MS);
  expect(away).toHaveBeenCalledTimes(1);
  await complete(held, 'its holder');
  expect(await answer()).toEqual({ by: 'its holder' });
});

it('is not renewed by a request whose claim another request has taken over', async () => {
  const dead = await hold();
  await bed.sql(`update idempotency_keys set claimed_until = now() - interval '1 second' where key = $1`, [claim.key]);
  jest.advanceTimersByTime(RENEWAL_MS / 2);
  const heir = await hold();
  // Only the renewal of the dead request is due.
  jest.advanceTimersByTime(RENEWAL_MS / 2);
  await expect(complete(dead, 'the dead one')).rejects.toMatchObject({ code: 'idempotency_in_progress' });
  await complete(heir, 'its heir');
  expect(await answer()).toEqual({ by: 'its heir' });
});

it('makes other requests retry soon, not at the end of the lease', async () => {
  const held = await hold();
  await expect(hold()).rejects.toMatchObject({ status: 409, headers: { 'retry-after': '5' } });
  await held.release();
});
