import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { KeyRing } from '@slipway/platform-config';
import { migrations as platform, prepared } from '@slipway/platform-database';
import { beside } from '@slipway/platform-database/testing';
import { DatabaseBed } from '@slipway/platform-database/testing/database-bed';
import { Mutations } from '@slipway/platform-durable/mutations';
import { accessOfSession } from '../src/sessions/console-session.query.js';
import { sessionIdOf } from '../src/sessions/console-cookies.js';
import { ConsoleSessions, type NewSession, SessionUpkeep } from '../src/sessions/console-sessions.js';
import { migrations } from '../src/index.js';

let bed: DatabaseBed;
let sessions: ConsoleSessions;

beforeAll(async () => {
  bed = await DatabaseBed.start({ migrations: [...platform, ...migrations] });
  sessions = new ConsoleSessions({ keyRing: new KeyRing(randomBytes(32)) }, bed.database);
});
afterAll(() => bed?.stop());
beforeEach(() => bed.sql('delete from console_sessions'));

const TOKEN: NewSession = { method: 'token', who: 'token:tok_1', credentials: { bearer: 'slw_1' } };
const hosted = (inSeconds: number, refresh?: string): NewSession => ({
  method: 'hosted',
  who: 'user:ada',
  credentials: { bearer: 'jwt', refresh, bearerEndsAt: Date.now() + inSeconds * 1_000 },
});
const secondsLeft = ({ expiresAt }: { expiresAt: Date }) => (expiresAt.getTime() - Date.now()) / 1_000;

it('a session is found only by its secret, of which nothing is stored', async () => {
  const { secret } = await sessions.open(TOKEN);
  expect(await sessions.find(secret)).toMatchObject({ method: 'token', credentials: { bearer: 'slw_1' } });
  const [row] = await bed.sql<{ id: string; sealed_credentials: string }>('select * from console_sessions');
  expect(JSON.stringify(row)).not.toContain(secret);
  expect(row!.sealed_credentials).not.toContain('slw_1');
  for (const other of [undefined, '', row!.id, secret.slice(1), `${secret}A`, randomBytes(32).toString('base64url')])
    expect(await sessions.find(other)).toBeUndefined();
});

it('a session opens the credentials of no other row', async () => {
  const [mine, theirs] = [
    await sessions.open(TOKEN),
    await sessions.open({ ...TOKEN, credentials: { bearer: 'slw_2' } }),
  ];
  const { id } = (await sessions.find(theirs.secret))!;
  await bed.sql(
    'update console_sessions set sealed_credentials = (select sealed_credentials from console_sessions where id = $1)',
    [id],
  );
  await expect(sessions.find(mine.secret)).rejects.toThrow();
  expect((await sessions.find(theirs.secret))?.credentials.bearer).toBe('slw_2');
});

it('a token keeps its newest twenty sessions', async () => {
  const opened = [];
  for (let n = 0; n < 22; n += 1) opened.push(await sessions.open(TOKEN));
  const other = await sessions.open(hosted(600));
  const found = await Promise.all(opened.map(async ({ secret }) => (await sessions.find(secret)) !== undefined));
  expect(found).toEqual([false, false, ...Array<boolean>(20).fill(true)]);
  expect(await sessions.find(other.secret)).toBeDefined();
});

it('a session ends by itself, and then its row is deleted', async () => {
  const { secret } = await sessions.open(TOKEN);
  const upkeep = new SessionUpkeep();
  const transact = bed.database.tx.bind(bed.database);
  await upkeep.run(transact);
  expect(await sessions.find(secret)).toBeDefined();
  await bed.sql(`update console_sessions set expires_at = now()`);
  expect(await sessions.find(secret)).toBeUndefined();
  await upkeep.run(transact);
  expect(await bed.sql('select id from console_sessions')).toEqual([]);
});

it('a session lasts half a day, or as long as a bearer that cannot be renewed', async () => {
  const half = 12 * 3_600;
  expect(Math.abs(secondsLeft(await sessions.open(TOKEN)) - half)).toBeLessThan(60);
  expect(Math.abs(secondsLeft(await sessions.open(hosted(600))) - 600)).toBeLessThan(60);
  expect(Math.abs(secondsLeft(await sessions.open(hosted(600, 'r'))) - half)).toBeLessThan(60);
});

it('one of many requests renews a session, with the credentials current at that moment', async () => {
  const early = await sessions.open(hosted(600, 'r'));
  expect((await sessions.find(early.secret))?.isRenewalDue).toBe(false);
  const { secret } = await sessions.open(hosted(30, 'r1'));
  const session = (await sessions.find(secret))!;
  expect(session.isRenewalDue).toBe(true);
  const claims = await Promise.all(Array.from({ length: 4 }, () => sessions.claimRenewal(session.id)));
  expect(claims.filter((claim) => claim !== undefined)).toEqual([expect.objectContaining({ refresh: 'r1' })]);
  await sessions.saveRenewal(session.id, { bearer: 'jwt2', refresh: 'r2', bearerEndsAt: Date.now() + 30_000 });
  expect(await sessions.claimRenewal(session.id)).toMatchObject({ bearer: 'jwt2', refresh: 'r2' });
});

it.each([-7_200_000, 7_200_000])(
  'a session lasts as long if the clock of the api is %i ms from that of Postgres',
  async (skewMs) => {
    const wall = Date.now.bind(Date);
    jest.spyOn(Date, 'now').mockImplementation(() => wall() + skewMs);
    const short = await sessions.open(hosted(600));
    const renewable = await sessions.open(hosted(600, 'r'));
    const due = await sessions.open(hosted(30, 'r'));
    await sessions.saveRenewal((await sessions.find(due.secret))!.id, hosted(600, 'r').credentials);
    jest.restoreAllMocks();
    expect(Math.abs(secondsLeft(short) - 600)).toBeLessThan(60);
    for (const { secret } of [renewable, due]) expect((await sessions.find(secret))?.isRenewalDue).toBe(false);
    const renewals = await bed.sql<{ seconds: number }>(
      'select extract(epoch from renew_at - now())::float8 as seconds from console_sessions where renew_at is not null',
    );
    for (const { seconds } of renewals) expect(Math.abs(seconds - 540)).toBeLessThan(60);
  },
);

it('a session that ends notifies the event streams of its owner', async () => {
  const { secret } = await sessions.open(TOKEN);
  let listening: Promise<unknown> | undefined;
  const heard = new Promise<string>((resolve) => {
    listening = bed.database.listen('slipway_tokens', resolve, () => undefined);
  });
  await listening;
  await sessions.end((await sessions.find(secret))!.id);
  expect(await heard).toBe('tok_1');
});

it('a mutation changes nothing if the session that it came through ends before it commits', async () => {
  await bed.asOwner(`create table effects (tenant_id text); select slipway_tenant_table('effects')`);
  const write = prepared('t-effect', 'insert into effects values ($1)');
  const mutations = new Mutations(
    {
      leaseSeconds: 30,
      operator: {},
      rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
      gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    },
    bed.database,
  );
  const mutate = (id: string, locksAccess: boolean, meanwhile: () => Promise<unknown>) =>
    mutations
      .run({ principal: { tenantId: 'ten_a', access: [accessOfSession(id)] }, locksAccess }, async (tx) => {
        await tx.query(write, ['ten_a']);
        await beside(meanwhile);
        return 'done';
      })
      .catch(({ code }: { code: string }) => code);
  const expire = (id: string) => bed.sql('update console_sessions set expires_at = now() where id = $1', [id]);
  for (const locksAccess of [false, true])
    for (const end of [(id: string) => sessions.end(id), expire]) {
      const id = sessionIdOf((await sessions.open(TOKEN)).secret)!;
      expect(await mutate(id, locksAccess, () => end(id))).toBe('unauthenticated');
    }
  expect(await bed.sql('select from effects')).toEqual([]);
  const id = sessionIdOf((await sessions.open(TOKEN)).secret)!;
  const renew = () => sessions.saveRenewal(id, { bearer: 'slw_2' });
  expect(await mutate(id, true, renew)).toBe('done');
  expect(await bed.sql('select from effects')).toHaveLength(1);
});
