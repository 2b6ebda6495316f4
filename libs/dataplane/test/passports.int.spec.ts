import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { DATAPLANE_CHANNEL } from '@slipway/contracts';
import {
  declarePassport,
  deletePassportsExpiredFor,
  findPassport,
  liveBindings,
  readEntries,
  readVersions,
  revokePassport,
  writeSightings,
  type PassportRow,
  type PassportSighting,
  type Queryable,
} from '../src/index.js';
import { Connection } from './connection.js';

let connection: Connection;
let db: Queryable;

beforeAll(async () => {
  connection = await Connection.open();
  ({ db } = connection);
});
afterAll(() => connection?.close());
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

it('lets what one gateway saw late shorten nothing that another saw after it', async () => {
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
  // A sighting without a reason says nothing about the last one.
  await writeSightings(db, [sighting('cp')]);
  expect((await find('cp')).last_rebind_reason).toBe('capacity');
});

it('gives a starting gateway the bindings that hold, those used last first, and no more than it asks for', async () => {
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

it('revokes once: the binding goes, the first time stays, and the gateways are told', async () => {
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

it('names the revoked to gateways for as long as somebody could still use them', async () => {
  await writeSightings(db, [sighting('cp'), sighting('cp_2')]);
  expect(await revokedIds()).toEqual([]);
  for (const id of ['cp', 'cp_2']) await revokePassport(db, 'ten', id);
  expect((await revokedIds()).sort()).toEqual(['cp', 'cp_2']);
  await connection.sql(`update dataplane_passports set expires_at = now() where id = 'cp_2'`);
  expect(await revokedIds()).toEqual(['cp']);
});

it('gives a session that is declared again a new life, with the longer time and the subject it had', async () => {
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
