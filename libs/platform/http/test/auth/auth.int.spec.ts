import 'reflect-metadata';
import { request as httpRequest, type ClientRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Body, Controller, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ConfigModule, type Config } from '@slipway/platform-config';
import { Database, DatabaseModule, migrations as databaseMigrations } from '@slipway/platform-database';
import { CurrentPrincipal, HttpModule, Route, SlipwayHttpAdapter, type Principal } from '../../src/index.js';
import { createTestDatabase, holdIntervals, type TestDatabase, until } from '@slipway/platform-database/testing';
import {
  AuthModule,
  ensureBootstrap,
  migrations,
  RequestGuard,
  TokenService,
  TokenUses,
} from '../../src/auth/index.js';

const BOOTSTRAP = `slw_boot_${'s'.repeat(32)}`;

@Controller()
class WhoController {
  @Route({
    method: 'GET',
    path: '/who',
    scope: 'viewer',
    tag: 'Identity',
    operationId: 'who',
    summary: 'Who',
    ok: { 200: null },
  })
  who(@CurrentPrincipal() who: Principal): object {
    return { tenant: who.tenantName, scopes: [...who.scopes], actor: who.actor };
  }

  @Route({
    method: 'POST',
    path: '/act',
    scope: 'operator',
    tag: 'Identity',
    operationId: 'act',
    summary: 'Act',
    ok: { 200: null },
  })
  act(): object {
    return { done: true };
  }

  @Route({
    method: 'PUT',
    path: '/stream',
    scope: 'operator',
    tag: 'Identity',
    operationId: 'stream',
    summary: 'Stream',
    ok: { 200: null },
    streamBody: true,
  })
  async stream(@Body() body: Readable): Promise<object> {
    let bytes = 0;
    for await (const chunk of body.iterator({ destroyOnReturn: false })) bytes += (chunk as Buffer).length;
    return { bytes };
  }
}

@Module({ controllers: [WhoController] })
class WhoModule {}

let testDatabase: TestDatabase;
let app: NestFastifyApplication;
let database: Database;
let tokens: TokenService;
let operatorTenant: string;

beforeAll(async () => {
  testDatabase = await createTestDatabase([...databaseMigrations, ...migrations]);
  const config = {
    database: { url: testDatabase.url, migrateUrl: testDatabase.ownerUrl, embedded: false, poolSize: 4 },
    rateLimit: { readsPerMinute: 20, mutationsPerMinute: 5 },
    gateway: { limits: { requestsPerMinute: 0, maxConcurrencyPerToken: 0 } },
    operator: { quotas: { reads_per_minute: 0, mutations_per_minute: 0 } },
  } as unknown as Config;
  @Module({
    imports: [ConfigModule.forRoot(config), DatabaseModule.forRoot(config), HttpModule, AuthModule, WhoModule],
  })
  class TestModule {}
  app = await NestFactory.create<NestFastifyApplication>(TestModule, new SlipwayHttpAdapter(), { logger: false });
  await app.listen(0, '127.0.0.1');
  database = app.get(Database, { strict: false });
  tokens = app.get(TokenService, { strict: false });
  await ensureBootstrap(database, { bootstrapToken: BOOTSTRAP });
  operatorTenant = (await database.read<{ id: string }>('system', 'select id from tenants'))[0]!.id;
});

afterAll(async () => {
  await app?.close();
  await testDatabase?.drop();
});

let fresh: string;
let freshId: string;
beforeEach(async () => {
  ({ text: fresh, id: freshId } = await make(['viewer']));
});

async function make(
  scopes: ('viewer' | 'operator' | 'admin')[],
  expiresAt = new Date(Date.now() + 60_000),
): Promise<{ text: string; id: string }> {
  const made = await database.tx({ tenantId: operatorTenant }, (tx) =>
    tokens.create(tx, {
      tenantId: operatorTenant,
      name: 'n',
      scopes,
      expiresAt,
      createdBy: 'token:x',
      owner: { type: 'person', id: 'alice' },
      minters: [],
    }),
  );
  return { text: made.text!, id: made.row.id };
}

async function ask(
  authorization: string | undefined,
  method: 'GET' | 'POST' = 'GET',
): Promise<{ status: number; headers: Record<string, unknown>; body: any }> {
  const answer = await app.inject({
    method,
    url: method === 'GET' ? '/api/v1/who' : '/api/v1/act',
    headers: authorization === undefined ? {} : { authorization },
  });
  return { status: answer.statusCode, headers: answer.headers, body: answer.json() };
}

it('accepts the bootstrap token after any number of boots, and a changed secret', async () => {
  await Promise.all([1, 2, 3].map(() => ensureBootstrap(database, { bootstrapToken: BOOTSTRAP })));
  expect((await ask(`Bearer ${BOOTSTRAP}`)).body).toEqual({
    tenant: 'default',
    scopes: ['viewer', 'operator', 'admin'],
    actor: { type: 'token', id: 'tok_boot', name: 'bootstrap' },
  });
  const changed = `slw_boot_${'t'.repeat(32)}`;
  await ensureBootstrap(database, { bootstrapToken: changed });
  expect((await ask(`Bearer ${BOOTSTRAP}`)).status).toBe(401);
  expect((await ask(`Bearer ${changed}`)).status).toBe(200);
});

it.each([
  undefined,
  '',
  'Bearer',
  'Bearer ',
  'Basic abc',
  'Bearer garbage',
  `Bearer slw_boot_${'x'.repeat(32)}`,
  `Bearer slw_none_${'x'.repeat(32)}`,
  'Bearer slw_a_b',
  'Bearer eyJhbGciOiJub25lIn0.e30.',
])('answers 401 to %j', async (authorization) => {
  const answer = await ask(authorization);
  expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthenticated']);
  expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
  expect(answer.headers['x-should-retry']).toBe('false');
});

it('refuses before it has read a byte of the body', async () => {
  const send = async (authorization?: string): Promise<[number, string]> => {
    const headers = { 'content-type': 'application/json', ...(authorization ? { authorization } : {}) };
    const answer = await app.inject({ method: 'POST', url: '/api/v1/act', headers, payload: '{ this is no JSON' });
    return [answer.statusCode, answer.json().error.code];
  };
  expect(await send()).toEqual([401, 'unauthenticated']);
  expect(await send(`Bearer ${fresh}`)).toEqual([403, 'scope_insufficient']);
  expect((await send(`Bearer ${(await make(['operator'])).text}`))[0]).toBe(400);
});

it('takes the scheme in any case', async () => {
  expect((await ask(`bearer ${fresh}`)).status).toBe(200);
});

it('refuses a revoked token at the very next request', async () => {
  expect((await ask(`Bearer ${fresh}`)).status).toBe(200);
  await database.tx({ tenantId: operatorTenant }, (tx) => tokens.revoke(tx, operatorTenant, freshId, 'token:x'));
  const answer = await ask(`Bearer ${fresh}`);
  expect([answer.status, answer.body.error.code]).toEqual([401, 'unauthenticated']);
});

it('answers token_expired for an expired token', async () => {
  const { text } = await make(['viewer'], new Date(Date.now() - 1_000));
  expect((await ask(`Bearer ${text}`)).body.error.code).toBe('token_expired');
});

it('requires the scope of the route', async () => {
  const answer = await ask(`Bearer ${fresh}`, 'POST');
  expect([answer.status, answer.body.error.code, answer.body.error.required_scope]).toEqual([
    403,
    'scope_insufficient',
    'operator',
  ]);
  const { text } = await make(['admin']);
  expect((await ask(`Bearer ${text}`, 'POST')).status).toBe(200);
});

it('limits reads and mutations separately, per token', async () => {
  const { text } = await make(['operator']);
  const statuses: number[] = [];
  for (let i = 0; i < 6; i += 1) statuses.push((await ask(`Bearer ${text}`, 'POST')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  const refused = await ask(`Bearer ${text}`, 'POST');
  expect(refused.body.error).toMatchObject({ code: 'rate_limited', retryable: true });
  expect(refused.headers['retry-after']).toBe('12');
  expect((await ask(`Bearer ${text}`)).headers).toMatchObject({ 'ratelimit-limit': '20', 'ratelimit-remaining': '19' });
  expect((await ask(`Bearer ${fresh}`)).status).toBe(200);
});

it('stores the last use outside of the request, at most once a minute', async () => {
  const lastUse = async (): Promise<string | null> =>
    (await tokens.list(operatorTenant, 200)).rows.find((row) => row.id === freshId)!.last_used_at;
  const uses = app.get(TokenUses, { strict: false });
  await ask(`Bearer ${fresh}`);
  expect(await lastUse()).toBeNull();
  await uses.flush();
  const first = await lastUse();
  expect(first).toMatch(/^20/);
  await ask(`Bearer ${fresh}`);
  uses.note(freshId);
  await uses.flush();
  expect(await lastUse()).toBe(first);
});

it('separates tenants, and notifies gateways of a revocation', async () => {
  let tell: (id: string) => void;
  const heard = new Promise<string>((resolve) => (tell = resolve));
  const stop = await database.listen('slipway_tokens', (id) => tell(id));
  const foreign = await database.tx({ tenantId: 'ten_other' }, (tx) =>
    tokens.revoke(tx, operatorTenant, freshId, 'token:x'),
  );
  expect(foreign).toBeUndefined();
  expect(await tokens.list('ten_other', 10)).toEqual({ rows: [], hasMore: false });
  await database.tx({ tenantId: operatorTenant }, (tx) => tokens.revoke(tx, operatorTenant, freshId, 'token:x'));
  expect(await heard).toBe(freshId);
  await stop();
});

it('answers 503 while Postgres is away, not 401', async () => {
  const real = database.read.bind(database);
  database.read = () => Promise.reject(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  try {
    const answer = await ask(`Bearer ${fresh}`);
    expect([answer.status, answer.body.error.code, answer.body.error.retryable]).toEqual([503, 'unavailable', true]);
  } finally {
    database.read = real as never;
  }
});

it('accepts new tokens during and after a flood of guesses from the same address', async () => {
  const from = async (text: string) => {
    const headers = { authorization: `Bearer ${text}` };
    return app.inject({ method: 'GET', url: '/api/v1/who', headers, remoteAddress: '192.0.2.9' });
  };
  const flood = (size: number) =>
    Promise.all(Array.from({ length: size }, (_, n) => from(`slw_guess${n}-${size}_${'x'.repeat(43)}`)));
  const [during, after] = [await make(['viewer']), await make(['viewer'])];
  let asked = 0;
  const real = database.read.bind(database);
  database.read = ((...given: Parameters<typeof real>) => {
    asked += 1;
    return real(...given);
  }) as never;
  try {
    const flooding = flood(1_500);
    expect((await from(during.text)).statusCode).toBe(200);
    expect(new Set((await flooding).map(({ statusCode }) => statusCode))).toEqual(new Set([401, 429]));
  } finally {
    database.read = real as never;
  }
  // Guesses are looked up in groups: at most a hundred, and twenty more a second.
  expect(asked).toBeLessThan(400);
  expect((await from(after.text)).statusCode).toBe(200);
  // More than may be looked up after a pause of any length.
  const refused = (await flood(300)).find(({ statusCode }) => statusCode === 429);
  expect([refused?.json().error.code, refused?.headers['retry-after']]).toEqual(['rate_limited', '1']);
});

it('accepts the right secret of a token while others guess it', async () => {
  const { text } = await make(['viewer']);
  const wrong = (n: number) => text.slice(0, text.lastIndexOf('_') + 1) + String(n).padStart(43, 'x');
  const from = async (credential: string, n = 0) =>
    app.inject({
      method: 'GET',
      url: '/api/v1/who',
      headers: { authorization: `Bearer ${credential}` },
      remoteAddress: `192.0.3.${n % 250}`,
    });
  const guesses = Promise.all(Array.from({ length: 200 }, (_, n) => from(wrong(n), n)));
  expect((await from(text)).statusCode).toBe(200);
  expect(new Set((await guesses).map(({ statusCode }) => statusCode))).toEqual(new Set([401, 429]));
});

it('accepts a token as soon as it is made, even if it has just been refused', async () => {
  const { text, id } = await make(['viewer']);
  const [row] = await database.read<object>(
    'system',
    `with gone as (delete from api_tokens where id = $1 returning *) select to_jsonb(gone) as row from gone`,
    [id],
  );
  expect((await ask(`Bearer ${text}`)).status).toBe(401);
  await database.read(
    'system',
    `insert into api_tokens select * from jsonb_populate_record(null::api_tokens, $1) returning id`,
    [(row as { row: object }).row],
  );
  const madeAt = Date.now();
  while ((await ask(`Bearer ${text}`)).status !== 200) {
    // The refusal is remembered for one second, which has not yet passed.
    expect(Date.now() - madeAt).toBeLessThan(800);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});

describe('a body under way', () => {
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  const FORMS = [
    ['JSON', 'POST', '/api/v1/act', 'application/json', '{"a": [', ']}'],
    ['raw', 'PUT', '/api/v1/stream', 'application/octet-stream', 'x'.repeat(100_000), 'yy'],
  ] as const;

  /** Sends the first part of a body, and resolves once the caller was let in. */
  async function begin(text: string, [, method, path, type, first]: (typeof FORMS)[number]) {
    const guard = app.get(RequestGuard, { strict: false });
    const check = jest.spyOn(guard, 'check');
    const headers = { authorization: `Bearer ${text}`, 'content-type': type };
    const { port } = app.getHttpServer().address() as AddressInfo;
    const request: ClientRequest = httpRequest({ port, host: '127.0.0.1', method, path, headers, agent: false });
    const answer = new Promise<{ status?: number; body: any }>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        let body = '';
        response.on('data', (chunk) => (body += String(chunk)));
        response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(body) }));
      });
    });
    request.write(first);
    await until('the caller was let in', () => check.mock.results.length > 0);
    await check.mock.results[0]!.value;
    return { request, answer };
  }

  it.each(FORMS)('ends with its token: %s', async (...form) => {
    const { text, id } = await make(['operator']);
    const { request, answer } = await begin(text, form);
    await database.tx({ tenantId: operatorTenant }, (tx) => tokens.revoke(tx, operatorTenant, id, 'token:x'));
    const { status, body } = await answer;
    expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
    request.destroy();
  });

  it.each(FORMS)('ends when its token expires: %s', async (...form) => {
    holdIntervals();
    const { text, id } = await make(['operator'], new Date(Date.now() + 1_000));
    const { request, answer } = await begin(text, form);
    const expired = `select 1 from api_tokens where id = $1 and expires_at <= now()`;
    await until('the token has expired', async () => (await database.read('system', expired, [id])).length > 0);
    jest.advanceTimersByTime(5_000);
    const { status, body } = await answer;
    expect([status, body.error.code]).toEqual([401, 'token_expired']);
    request.destroy();
  });

  it.each(FORMS)('is read to its end if its token lasts: %s', async (...form) => {
    const { text } = await make(['operator']);
    const { id } = await make(['operator']);
    const { request, answer } = await begin(text, form);
    await database.tx({ tenantId: operatorTenant }, (tx) => tokens.revoke(tx, operatorTenant, id, 'token:x'));
    request.end(form[5]);
    const { status, body } = await answer;
    expect([status, body]).toEqual([200, form[0] === 'raw' ? { bytes: 100_002 } : { done: true }]);
  });
});
