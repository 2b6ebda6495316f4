import 'reflect-metadata';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { INestApplicationContext } from '@nestjs/common';
import { LOOK_UPS } from '@slipway/platform-bounds';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, migrations as databaseMigrations, newId } from '@slipway/platform-database';
import { createTestDatabase, type TestDatabase } from '@slipway/platform-database/testing';
import { hashSecret, OPERATOR_TENANT, type Owner } from '@slipway/contracts';
import type { Principal, Scope } from '../../src/index.js';
import { AuthModule, ensureBootstrap, migrations, TokenService, TokenUses } from '../../src/auth/index.js';

const OPERATOR: Owner = { type: 'person', id: 'operator' };
const BOB: Owner = { type: 'person', id: 'bob' };
const SECRET = 's'.repeat(32);

let testDatabase: TestDatabase;
let app: INestApplicationContext;
let database: Database;
let tokens: TokenService;
let tenant: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase([...databaseMigrations, ...migrations]);
  const config = {
    database: { url: testDatabase.url, migrateUrl: testDatabase.ownerUrl, embedded: false, poolSize: 4 },
    rateLimit: { readsPerMinute: 0, mutationsPerMinute: 0 },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    operator: { quotas: { reads_per_minute: 0, mutations_per_minute: 0 } },
  } as unknown as Config;
  @Module({ imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config), AuthModule] })
  class TestModule {}
  // The worker runs the same modules, also without HTTP.
  app = await NestFactory.createApplicationContext(TestModule, { logger: false });
  database = app.get(Database, { strict: false });
  tokens = app.get(TokenService, { strict: false });
  tenant = newId('ten');
  await sql('insert into tenants (id, name) values ($1, $2)', [tenant, 'acme']);
});
afterAll(async () => {
  await app?.close();
  await testDatabase?.drop();
});

const sql = <R = Record<string, any>>(text: string, values: unknown[] = []): Promise<R[]> =>
  database.tx('system', (tx) => tx.query<R>(text, values));
const make = (name: string, scopes: Scope[] = ['viewer'], expiresAt = new Date(Date.now() + 3_600_000)) =>
  database.tx({ tenantId: tenant }, (tx) =>
    tokens.create(tx, {
      tenantId: tenant,
      name,
      scopes,
      expiresAt,
      createdBy: 'token:maker',
      owner: BOB,
      minters: [OPERATOR],
    }),
  );
const revoke = (id: string, by: string) => database.tx({ tenantId: tenant }, (tx) => tokens.revoke(tx, tenant, id, by));
const bootstrap = (token?: string): Promise<void> => ensureBootstrap(database, { bootstrapToken: token });
const authenticate = (text: string): Promise<Principal | string> =>
  tokens.authenticate(text).catch((error: { code: string }) => error.code);

it('makes one operator tenant if many processes boot at once, and no token if none is configured', async () => {
  await Promise.all([1, 2, 3, 4].map(() => bootstrap()));
  await bootstrap();
  expect(await sql('select name from tenants where is_operator')).toEqual([{ name: OPERATOR_TENANT }]);
  expect(await sql('select 1 from api_tokens')).toEqual([]);
});

it('gives the configured token every scope and no expiry, and accepts a new secret for it', async () => {
  const text = `slw_first_${SECRET}`;
  await Promise.all([1, 2, 3, 4].map(() => bootstrap(text)));
  const principal = (await authenticate(text)) as Principal;
  expect([principal.tenantName, principal.isOperatorTenant, [...principal.scopes]]).toEqual([
    OPERATOR_TENANT,
    true,
    ['viewer', 'operator', 'admin'],
  ]);
  expect([principal.owner, principal.minters]).toEqual([OPERATOR, []]);
  const [row] = await sql(`select expires_at > now() + interval '1000 years' as is_endless from api_tokens`);
  expect(row).toEqual({ is_endless: true });
  const changed = `slw_first_${'t'.repeat(32)}`;
  await bootstrap(changed);
  expect([await authenticate(text), ((await authenticate(changed)) as Principal).actor.id]).toEqual([
    'unauthenticated',
    'tok_first',
  ]);
});

it('does not restore a revoked token at the next boot, under its secret or another', async () => {
  const text = `slw_revoked_${SECRET}`;
  await bootstrap(text);
  await sql(`update api_tokens set revoked_at = now() where id = 'tok_revoked'`);
  await bootstrap(text);
  expect(await authenticate(text)).toBe('unauthenticated');
  const changed = `slw_revoked_${'t'.repeat(32)}`;
  await bootstrap(changed);
  expect(await authenticate(changed)).toBe('unauthenticated');
});

it('leaves a token of another tenant alone that has the configured id', async () => {
  await sql(
    `insert into api_tokens (id, tenant_id, name, scopes, secret_sha256, created_by, owner_type, owner_id, minters, expires_at)
     values ('tok_theirs', $1, 'n', '{viewer}', $2, 'token:x', 'person', 'bob', '[]', 'infinity')`,
    [tenant, hashSecret(SECRET)],
  );
  await bootstrap(`slw_theirs_${'t'.repeat(32)}`);
  expect(await authenticate(`slw_theirs_${SECRET}`)).toMatchObject({ tenantId: tenant });
  expect(await authenticate(`slw_theirs_${'t'.repeat(32)}`)).toBe('unauthenticated');
});

it('refuses to boot if the configured token is malformed or the operator’s name is taken', async () => {
  await bootstrap();
  for (const text of ['', 'secret', `slw_a_${'s'.repeat(31)}`])
    await expect(bootstrap(text)).rejects.toThrow('not of the form');
  await sql('update tenants set is_operator = false where is_operator');
  await expect(bootstrap()).rejects.toThrow('has the name default');
  await sql('update tenants set is_operator = true where name = $1', [OPERATOR_TENANT]);
});

it('shows a token once, stores its hash, and each scope once', async () => {
  const { row, text } = await make('new', ['viewer', 'admin', 'viewer']);
  expect(row).toMatchObject({
    name: 'new',
    scopes: ['viewer', 'admin'],
    created_by: 'token:maker',
    owner: BOB,
    minters: [OPERATOR],
    last_used_at: null,
    revoked_at: null,
    revoked_by: null,
    state: 'active',
  });
  const secret = (text as string).split('_').slice(2).join('_');
  const [stored] = await sql(`select k::text as text, secret_sha256 from api_tokens k where id = $1`, [row.id]);
  expect(stored?.['text']).not.toContain(secret);
  expect(stored?.['secret_sha256']).toEqual(hashSecret(secret));
  expect(await authenticate(text as string)).toMatchObject({
    tenantId: tenant,
    actor: { type: 'token', id: row.id, name: 'new' },
    owner: BOB,
    minters: [OPERATOR],
  });
});

it('keeps the first actor and time of a revocation', async () => {
  const { row, text } = await make('doomed');
  const first = await revoke(row.id, 'token:first');
  const again = await revoke(row.id, 'token:second');
  expect(first).toMatchObject({ revoked_by: 'token:first', state: 'revoked' });
  expect(again).toEqual(first);
  expect(await authenticate(text as string)).toBe('unauthenticated');
  const foreign = await database.tx({ tenantId: 'ten_other' }, (tx) => tokens.lock(tx, tenant, row.id));
  expect(foreign).toBeUndefined();
});

it('reports to its holder that a token has expired, from the moment of its expiry', async () => {
  const { row, text } = await make('brief');
  await sql('update api_tokens set expires_at = now() where id = $1', [row.id]);
  expect(await authenticate(text as string)).toBe('token_expired');
  await revoke(row.id, 'token:x');
  expect(await authenticate(text as string)).toBe('unauthenticated');
});

it('checks each secret of concurrent requests by itself, and refuses all requests after a revocation', async () => {
  const [one, other] = await Promise.all([make('one'), make('other')]);
  const texts = [one.text, `${one.text}x`, other.text, one.text, `slw_nobody_${SECRET}`];
  const holders = async () =>
    (await Promise.all(texts.map(authenticate))).map((who) => (typeof who === 'string' ? who : who.actor.id));
  const [mine, its] = [one.row.id, other.row.id];
  expect(await holders()).toEqual([mine, 'unauthenticated', its, mine, 'unauthenticated']);
  await revoke(mine, 'token:x');
  expect(await holders()).toEqual(['unauthenticated', 'unauthenticated', its, 'unauthenticated', 'unauthenticated']);
});

it('checks a group of guesses in one statement', async () => {
  const { text } = await make('honest');
  const sent: string[] = [];
  const real = database.read.bind(database);
  database.read = ((scope, statement, values) => {
    sent.push(typeof statement === 'string' ? statement : statement.name);
    return real(scope, statement, values);
  }) as typeof database.read;
  try {
    const guesses = Array.from({ length: LOOK_UPS.groupSize - 1 }, (_, n) => `slw_guess${n}_${SECRET}`);
    const answers = await Promise.all([...guesses, text].map(authenticate));
    expect(answers.filter((answer) => answer !== 'unauthenticated')).toEqual([
      expect.objectContaining({ tenantId: tenant }),
    ]);
  } finally {
    database.read = real;
  }
  expect(sent).toEqual(['auth-token-look-up']);
});

it('lists the tokens of a tenant, newest first, page by page, with their states', async () => {
  await sql('delete from api_tokens where tenant_id = $1', [tenant]);
  const names = ['a', 'b', 'c', 'd'];
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = (await make(name)).row.id;
  await revoke(ids['a'] as string, 'token:x');
  await sql('update api_tokens set expires_at = now() where id = any($1)', [[ids['a'], ids['b']]]);
  const list = async (limit: number, past?: string, more: object = {}) =>
    (await tokens.list(tenant, limit, { past, ...more })).rows.map(({ name, state }) => `${name} ${state}`);
  expect(await list(10)).toEqual(['d active', 'c active', 'b expired', 'a revoked']);
  expect(await list(2)).toEqual(['d active', 'c active']);
  expect(await list(10, ids['c'])).toEqual(['b expired', 'a revoked']);
  expect(await list(10, ids['a'], { order: 'asc' })).toEqual(['b expired', 'c active', 'd active']);
  expect(await list(1, undefined, { state: 'expired' })).toEqual(['b expired']);
  const [{ at } = { at: '' }] = await sql<{ at: string }>(
    'select slipway_rfc3339(created_at) as at from api_tokens where id = $1',
    [ids['b']],
  );
  expect(await list(10, undefined, { since: at })).toEqual(['d active', 'c active', 'b expired']);
  expect(await list(10, undefined, { until: at })).toEqual(['a revoked']);
  expect(await tokens.list('ten_other', 10)).toEqual({ rows: [], hasMore: false });
});

it('notifies gateways of each change that matters to them, but not of uses', async () => {
  const { row, text } = await make('watched');
  const heard: string[] = [];
  let hasEnded: () => void;
  const end = new Promise<void>((resolve) => (hasEnded = resolve));
  const stop = await database.listen('slipway_tokens', (id) => {
    if (id === 'end') hasEnded();
    else heard.push(id);
  });
  await authenticate(text as string);
  await app.get(TokenUses, { strict: false }).flush();
  await sql(`update api_tokens set name = 'other' where id = $1`, [row.id]);
  for (const change of [
    `expires_at = expires_at + interval '1 hour'`,
    `scopes = '{operator}'`,
    `secret_sha256 = '\\x00'`,
    'revoked_at = now()',
  ])
    await sql(`update api_tokens set ${change} where id = $1`, [row.id]);
  await sql(`select pg_notify('slipway_tokens', 'end')`);
  await end;
  expect(heard).toEqual(new Array(4).fill(row.id));
  await stop();
});

it('stores a use at the earliest a minute after the last one, and fails no request if that fails', async () => {
  const { row, text } = await make('used');
  const uses = app.get(TokenUses, { strict: false });
  const use = async (): Promise<number> => {
    await authenticate(text as string);
    await uses.flush();
    const [found] = await sql(
      'select extract(epoch from now() - last_used_at)::float8 as ago from api_tokens where id = $1',
      [row.id],
    );
    return found?.['ago'] as number;
  };
  expect(await use()).toBeLessThan(30);
  await sql(`update api_tokens set last_used_at = now() - interval '40 seconds' where id = $1`, [row.id]);
  expect(await use()).toBeGreaterThanOrEqual(40);
  await sql(`update api_tokens set last_used_at = now() - interval '61 seconds' where id = $1`, [row.id]);
  expect(await use()).toBeLessThan(30);
  await sql(`update api_tokens set last_used_at = null where id = $1`, [row.id]);
  const real = database.read.bind(database);
  database.read = ((scope, statement, values) =>
    typeof statement !== 'string' && statement.name === 'auth-token-note-uses'
      ? Promise.reject(new Error('Postgres is away'))
      : real(scope, statement, values)) as typeof database.read;
  try {
    expect(await use()).toBeNull();
  } finally {
    database.read = real;
  }
});
