import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import {
  boundPassports,
  declarePassport,
  deleteExpiredPassportsOf,
  deletePassportsExpiredFor,
  findPassport,
  liveBindings,
  passportCountOf,
  passportCounts,
  readEntries,
  readVersions,
  revokePassport,
  writeSightings,
  type PassportRow,
  type PassportSighting,
} from '../src/index.js';
import { DataplaneConnection } from './connection.js';

const connection = DataplaneConnection.ofSpec();
const { db } = connection;
afterEach(() => connection.sql('delete from dataplane_passports'));

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1_000).toISOString();
const sighting = (id: string, rest: Partial<PassportSighting> = {}): PassportSighting => ({
  id,
  tenant_id: 'ten',
  deployment_id: 'dep',
  deployment_name: 'chat',
  key_hash: 'hash',
  source: 'user',
  subject: 'tok',
  mode: 'soft',
  ttl_seconds: 600,
  revision_id: 'rev',
  revision_name: 'chat-1',
  instance_id: 'ins',
  bound_at: inSeconds(0),
  last_seen_at: inSeconds(0),
  expires_at: inSeconds(600),
  requests: 1,
  hits: 0,
  misses: 1,
  rebinds: 0,
  last_rebind_reason: null,
  ...rest,
});
const declare = (id: string, ttlSeconds: number, subject: string | null = null): Promise<PassportRow> =>
  declarePassport(db, {
    id,
    tenantId: 'ten',
    deploymentId: 'dep',
    deploymentName: 'chat',
    keyHash: 'hash',
    subject,
    mode: 'soft',
    ttlSeconds,
  });
const find = async (id: string): Promise<PassportRow> => (await findPassport(db, 'ten', id)) as PassportRow;
const revokedIds = async (): Promise<string[]> => {
  const versions = (await readVersions(db)).filter(({ kind }) => kind === 'passport').map(({ id }) => id);
  const asked = { routes: [], backends: [], slugs: [], passports: ['cp', 'cp_2'] };
  const read = (await readEntries(db, asked)).revokedPassports;
  expect([...read].sort()).toEqual(versions.sort());
  return versions;
};

it('does not let a late sighting of one gateway shorten what another one saw after it', async () => {
  const late = sighting('cp', { last_seen_at: inSeconds(60), expires_at: inSeconds(660) });
  const early = sighting('cp', { last_rebind_reason: 'capacity' });
  await writeSightings(db, [late]);
  await writeSightings(db, [early]);
  expect(await find('cp')).toMatchObject({
    last_seen_at: new Date(late.last_seen_at),
    expires_at: new Date(late.expires_at),
    requests: 2,
    last_rebind_reason: 'capacity',
  });
  // A sighting without a reason keeps the last one.
  await writeSightings(db, [sighting('cp')]);
  expect((await find('cp')).last_rebind_reason).toBe('capacity');
});

it('gives a starting gateway the valid bindings, the most recently used first, and at most the requested number', async () => {
  await writeSightings(db, [
    sighting('cp_short', { expires_at: inSeconds(100) }),
    sighting('cp_long', { expires_at: inSeconds(300) }),
    sighting('cp_middle', { expires_at: inSeconds(200) }),
    sighting('cp_over', { expires_at: inSeconds(-1) }),
    sighting('cp_nowhere', { instance_id: null }),
    sighting('cp_revoked', { expires_at: inSeconds(400) }),
  ]);
  await revokePassport(db, 'ten', 'cp_revoked');
  // Sightings of a revoked session may still be on their way.
  await writeSightings(db, [sighting('cp_revoked')]);
  await declare('cp_declared', 600);
  const ids = async (limit: number): Promise<string[]> => (await liveBindings(db, limit)).map(({ id }) => id);
  expect(await ids(10)).toEqual(['cp_long', 'cp_middle', 'cp_short']);
  expect(await ids(2)).toEqual(['cp_long', 'cp_middle']);
});

it('revokes once: the binding is removed, the first time is kept, and the gateways are notified', async () => {
  await writeSightings(db, [sighting('cp')]);
  let first: Date | null | undefined;
  const told = await connection.heard(DATAPLANE_CHANNEL, async () => {
    expect(await revokePassport(db, 'ten_other', 'cp')).toBeUndefined();
    first = (await revokePassport(db, 'ten', 'cp'))?.revoked_at;
  });
  expect(told).toEqual(['passport:cp']);
  expect(await find('cp')).toMatchObject({ instance_id: null, bound_at: null, revoked_at: first });
  expect((await revokePassport(db, 'ten', 'cp'))?.revoked_at).toEqual(first);
  expect(await revokedIds()).toEqual(['cp']);
});

it('lists revoked passports for gateways until they expire', async () => {
  await writeSightings(db, [sighting('cp'), sighting('cp_2')]);
  expect(await revokedIds()).toEqual([]);
  for (const id of ['cp', 'cp_2']) await revokePassport(db, 'ten', id);
  expect((await revokedIds()).sort()).toEqual(['cp', 'cp_2']);
  await connection.sql(`update dataplane_passports set expires_at = now() where id = 'cp_2'`);
  expect(await revokedIds()).toEqual(['cp']);
});

it('makes a session valid again when it is declared again, with the longer time and its previous subject', async () => {
  await writeSightings(db, [sighting('cp')]);
  const before = await find('cp');
  await revokePassport(db, 'ten', 'cp');
  let row: PassportRow | undefined;
  const told = await connection.heard(DATAPLANE_CHANNEL, async () => {
    row = await declare('cp', 60);
  });
  expect(told).toEqual(['passport:cp']);
  expect(row).toMatchObject({ revoked_at: null, subject: 'tok', ttl_seconds: 60, expires_at: before.expires_at });
  expect(await revokedIds()).toEqual([]);
  const longer = await declare('cp', 6_000, 'tok_2');
  expect(longer.subject).toBe('tok_2');
  expect(longer.expires_at.getTime()).toBeGreaterThan(before.expires_at.getTime() + 5_000_000);
});

it('forgets passports some time after they expired', async () => {
  await writeSightings(db, [
    sighting('cp', { expires_at: inSeconds(-110) }),
    sighting('cp_2', { expires_at: inSeconds(-90) }),
  ]);
  await deletePassportsExpiredFor(db, 100);
  expect([await findPassport(db, 'ten', 'cp'), (await findPassport(db, 'ten', 'cp_2'))?.id]).toEqual([
    undefined,
    'cp_2',
  ]);
});

describe('the limit of passports of a tenant', () => {
  const MOST = 5;
  const some = (count: number, rest: Partial<PassportSighting> = {}, first = 0) =>
    Array.from({ length: count }, (_, n) => sighting(`cp_${first + n}`, rest));
  const idsOf = async (tenant = 'ten'): Promise<string[]> => {
    const rows = await connection.sql<{ id: string }>(
      `select id from dataplane_passports where tenant_id = '${tenant}' order by id`,
    );
    return rows.map(({ id }) => id);
  };

  beforeEach(() => boundPassports(db, 'ten', MOST));
  afterEach(() => connection.sql('update dataplane_passport_counts set max_passports = null'));

  it('is compared with a count of the rows that any process writes or deletes', async () => {
    await writeSightings(db, [...some(2), sighting('other_1', { tenant_id: 'other' })]);
    await writeSightings(db, some(3));
    await declare('declared', 600);
    await declare('declared', 600);
    const counts = async () =>
      Object.fromEntries((await passportCounts(db)).map(({ tenant_id, passports }) => [tenant_id, passports]));
    expect(await counts()).toMatchObject({ ten: 4, other: 1 });
    expect([await passportCountOf(db, 'ten'), await passportCountOf(db, 'nobody')]).toEqual([4, 0]);
    await connection.sql(`delete from dataplane_passports where id in ('cp_1', 'other_1')`);
    expect(await counts()).toMatchObject({ ten: 3, other: 0 });
  });

  it('bounds new sessions, within a batch and over several; known sessions and other tenants continue', async () => {
    await writeSightings(db, some(3));
    await writeSightings(db, [...some(6), sighting('other_1', { tenant_id: 'other' })]);
    expect(await idsOf()).toEqual(['cp_0', 'cp_1', 'cp_2', 'cp_3', 'cp_4']);
    expect(await idsOf('other')).toEqual(['other_1']);
    expect(await find('cp_2')).toMatchObject({ requests: 2 });
    await writeSightings(db, some(10));
    expect(await idsOf()).toHaveLength(MOST);
    expect(await find('cp_4')).toMatchObject({ requests: 2 });
    await connection.sql(`delete from dataplane_passports where id = 'cp_1'`);
    await writeSightings(db, some(2, {}, 8));
    expect(await idsOf()).toEqual(['cp_0', 'cp_2', 'cp_3', 'cp_4', 'cp_8']);
  });

  it('is not enforced before it is set', async () => {
    await connection.sql('update dataplane_passport_counts set max_passports = null');
    await writeSightings(db, some(9));
    expect(await idsOf()).toHaveLength(9);
  });

  it('is exceeded by at most one batch of each gateway that writes at the same moment', async () => {
    const gateways = await Promise.all(Array.from({ length: 6 }, () => connection.another()));
    try {
      await Promise.all(gateways.map((gateway, n) => writeSightings(gateway.db, some(3, {}, n * 10))));
      expect((await idsOf()).length).toBeLessThanOrEqual(MOST + 6 * 3);
      const after = await idsOf();
      await Promise.all(gateways.map((gateway, n) => writeSightings(gateway.db, some(3, {}, 100 + n * 10))));
      expect(await idsOf()).toEqual(after);
      expect(await passportCountOf(db, 'ten')).toBe(after.length);
    } finally {
      await Promise.all(gateways.map((gateway) => gateway.close()));
    }
  });

  it('frees the capacity of expired passports, a bounded number at a time and only of this tenant', async () => {
    await writeSightings(db, [
      ...some(3, { expires_at: inSeconds(-10) }),
      ...some(2, { expires_at: inSeconds(10) }, 3),
      sighting('other_1', { tenant_id: 'other', expires_at: inSeconds(-10) }),
    ]);
    await deleteExpiredPassportsOf(db, 'ten', 2);
    expect(await idsOf()).toHaveLength(3);
    await deleteExpiredPassportsOf(db, 'ten', 100);
    expect([await idsOf(), await idsOf('other')]).toEqual([['cp_3', 'cp_4'], ['other_1']]);
  });
});
