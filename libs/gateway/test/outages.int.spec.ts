import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { routeFollowers } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { durationOf, limitFrom, median, shortestOf } from './durations.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { freePort, TcpProxy } from '@slipway/platform-database/testing';
import { TestUpstream } from './upstream.js';

const MAIN = fileURLToPath(new URL('../../../apps/gateway/dist/main.js', import.meta.url));

let installation: GatewayInstallation;
let proxy: TcpProxy;
let gateway: Gateway;
let token: TestToken;
let tenant: string;
let upstreams: [TestUpstream, TestUpstream];
const children: ChildProcess[] = [];
const homes: string[] = [];

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstreams = [await TestUpstream.start('one'), await TestUpstream.start('two')];
  const { hostname, port } = new URL(installation.database.gatewayUrl);
  proxy = await TcpProxy.start({ host: hostname, port: Number(port || 5432) });
  await installation.revision(tenant, 'chat', 'chat-1', [upstreams[0]]);
  await installation.revision(tenant, 'chat', 'chat-2', [upstreams[1]]);
  await installation.route(tenant, 'chat', { 'chat-1': 100 });
  gateway = await installation.gateway({}, { databaseUrl: proxy.through(installation.database.gatewayUrl) });
});
afterEach(async () => {
  // A process that still runs would write into its folder while that is removed.
  await Promise.all(
    children.splice(0).map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }),
  );
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});
afterAll(async () => {
  proxy.restore();
  await installation.destroy();
  await proxy.close();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});

const chat = (to: Gateway | number, as: TestToken | string | null = token) => ask(to, as, { body: { model: 'chat' } });

function freshHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), 'slipway-gateway-process-'));
  homes.push(home);
  return home;
}

it('refuses a revoked token within 100 ms', async () => {
  const delays: number[] = [];
  const roundTrips: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    const doomed = await installation.token(tenant);
    const roundTrip = async (): Promise<void> => {
      expect((await chat(gateway, doomed)).status).toBe(200);
      await installation.sql('select 1');
    };
    roundTrips.push(await durationOf(roundTrip));
    await installation.sql('update api_tokens set revoked_at = now() where id = $1', [doomed.id]);
    delays.push(
      await durationOf(() => untilPassing(async () => expect((await chat(gateway, doomed)).status).toBe(401))),
    );
  }
  expect(median(delays)).toBeLessThan(limitFrom(100, roundTrips));
});

it('accepts a token as soon as it is created, although it was unknown a moment before', async () => {
  const attempt = async (): Promise<number> => {
    const made = await installation.token(tenant);
    const [row] = await installation.sql('delete from api_tokens where id = $1 returning *', [made.id]);
    for (let round = 0; round < 3; round += 1) expect((await chat(gateway, made)).status).toBe(401);
    await installation.sql(
      'insert into api_tokens select * from jsonb_populate_record(null::api_tokens, $1) returning id',
      [JSON.stringify({ ...row, secret_sha256: `\\x${(row?.['secret_sha256'] as Buffer).toString('hex')}` })],
    );
    return durationOf(() => untilPassing(async () => expect((await chat(gateway, made)).status).toBe(200)));
  };
  // The second for which it is remembered as unknown ends later.
  expect(await shortestOf(800, attempt)).toBeLessThan(800);
});

it.each(['refused', 'silent'] as const)(
  'serves known tokens while Postgres is %s, answers 503 to others, and follows within 2 s of its return',
  async (how) => {
    expect(await shortestOf(2_000, () => outage(how))).toBeLessThan(2_000);
  },
  90_000,
);

/** Resolves with the milliseconds from the end of the outage until the gateway follows. */
async function outage(how: 'refused' | 'silent'): Promise<number> {
  expect((await chat(gateway)).status).toBe(200);
  const unseen = await installation.token(tenant);
  if (how === 'refused') proxy.refuse();
  else proxy.silence();
  await untilPassing(async () =>
    expect((await ask(gateway, null, { path: '/readyz', method: 'GET' })).body.postgres).toBe('away'),
  );

  const next = (await chat(gateway)).headers.get('x-slipway-revision') === 'chat-1' ? 'chat-2' : 'chat-1';
  const generation = await installation.route(tenant, 'chat', { [next]: 100 });
  const answers = await Promise.all(Array.from({ length: 50 }, () => chat(gateway)));
  expect(answers.filter((answer) => answer.status !== 200)).toEqual([]);
  expect(answers[0]?.headers.get('x-slipway-revision')).not.toBe(next);
  const unknown = await chat(gateway, unseen);
  expect({
    status: unknown.status,
    code: unknown.body.error.code,
    retryAfter: unknown.headers.get('retry-after'),
  }).toEqual({ status: 503, code: 'unavailable', retryAfter: '1' });
  expect((await ask(gateway, `${token.text}x`, { body: { model: 'chat' } })).status).toBe(401);
  expect((await ask(gateway, null, { path: '/readyz', method: 'GET' })).status).toBe(200);

  proxy.restore();
  const returning = async () => expect((await chat(gateway)).headers.get('x-slipway-revision')).toBe(next);
  const elapsedMs = await durationOf(() => untilPassing(returning));
  expect((await chat(gateway, unseen)).status).toBe(200);
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, 'dep_chat', generation)).toEqual({ gateways: 1, behind: 0 }),
  );
  return elapsedMs;
}

it('survives connections that die in the middle of queries', async () => {
  for (let round = 0; round < 15; round += 1) {
    // Unknown tokens keep queries running at the moment of each cut.
    const asked = Promise.all(
      Array.from({ length: 20 }, (_, n) => chat(gateway, `slw_unknown${round}x${n}_${'x'.repeat(43)}`)),
    );
    proxy.restore();
    for (const { status } of await asked) expect([401, 503]).toContain(status);
  }
  expect((await chat(gateway)).status).toBe(200);
});

it('forgets a token that was revoked while no notification could arrive', async () => {
  const doomed = await installation.token(tenant);
  expect((await chat(gateway, doomed)).status).toBe(200);
  proxy.refuse();
  await installation.sql('update api_tokens set revoked_at = now() where id = $1', [doomed.id]);
  expect((await chat(gateway, doomed)).status).toBe(200);
  proxy.restore();
  await untilPassing(async () => expect((await chat(gateway, doomed)).status).toBe(401));
});

it('compares everything as soon as it listens again, and does not wait for its next round', async () => {
  const slow = await installation.gateway(
    { refreshMs: 3_600_000 },
    { databaseUrl: proxy.through(installation.database.gatewayUrl) },
  );
  const doomed = await installation.token(tenant);
  const before = (await chat(slow, doomed)).headers.get('x-slipway-revision');
  const next = before === 'chat-1' ? 'chat-2' : 'chat-1';
  proxy.refuse();
  await installation.route(tenant, 'chat', { [next]: 100 });
  await installation.sql('update api_tokens set revoked_at = now() where id = $1', [doomed.id]);
  expect((await chat(slow, doomed)).headers.get('x-slipway-revision')).toBe(before);
  proxy.restore();
  await untilPassing(async () => expect((await chat(slow, doomed)).status).toBe(401));
  await untilPassing(async () => expect((await chat(slow)).headers.get('x-slipway-revision')).toBe(next));
  await slow.close();
});

it('notices that the peer of its LISTEN connection has vanished silently, and connects again', async () => {
  const listens = (): number => installation.logged.filter((line) => line.startsWith('listening for')).length;
  const before = listens();
  const alone = await installation.gateway({}, { databaseUrl: proxy.through(installation.database.gatewayUrl) });
  await untilPassing(() => expect(listens()).toBe(before + 1));
  proxy.vanish();
  // Both gateways of this spec were connected, and neither connection was closed properly.
  await untilPassing(() => expect(listens()).toBe(before + 3));
  await alone.close();
});

function startProcess(
  home: string,
  port: number,
  more: Record<string, string> = {},
): { child: ChildProcess; ready: Promise<unknown> } {
  if (!existsSync(MAIN)) throw new Error(`${MAIN} is missing: build the gateway first`);
  const env = {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    SLIPWAY_HOME: home,
    SLIPWAY_GATEWAY_PORT: String(port),
    DATABASE_URL: proxy.through(installation.database.gatewayUrl),
    SLIPWAY_SECRET_KEY: installation.secretKey.toString('base64'),
    SLIPWAY_LOG_LEVEL: 'error',
    ...more,
  };
  const child = spawn(process.execPath, [MAIN], { env, cwd: home, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  children.push(child);
  return { child, ready: new Promise((resolve) => child.once('message', resolve)) };
}

it('its metrics port requires the metrics token if one is configured, and only for /metrics', async () => {
  const home = freshHome();
  const secret = 'metrics-token-of-the-operator';
  for (const [metricsToken, expected] of [
    [secret, [401, 401, 401, 401, 200]],
    [undefined, [200, 200, 200, 200, 200]],
  ] as const) {
    const metricsPort = await freePort();
    const more = {
      SLIPWAY_METRICS_PORT: String(metricsPort),
      ...(metricsToken && { SLIPWAY_METRICS_TOKEN: metricsToken }),
    };
    expect(await startProcess(home, await freePort(), more).ready).toBe('slipway:ready');
    const get = (as: TestToken | string | null, to = '/metrics') => ask(metricsPort, as, { path: to, method: 'GET' });
    const statuses: number[] = [];
    for (const as of [null, token, `${secret}x`, secret.slice(1), secret]) statuses.push((await get(as)).status);
    expect([metricsToken, statuses]).toEqual([metricsToken, expected]);
    expect((await get(secret)).text).toContain('slipway_gateway_');
    expect([(await get(null, '/healthz')).status, (await get(null, '/readyz')).status]).toEqual([200, 200]);
  }
});

it('serves from its snapshot after kill -9 and a restart without Postgres', async () => {
  const home = freshHome();
  const port = await freePort();
  const first = startProcess(home, port);
  expect(await first.ready).toBe('slipway:ready');
  const before = await chat(port);
  expect(before.status).toBe(200);
  const file = path.join(home, 'gateway', 'snapshot.json');
  await untilPassing(() => expect(readFileSync(file, 'utf8')).toContain(token.id));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const secret = token.text.split('_').slice(2).join('_');
  expect(readFileSync(file, 'utf8')).not.toContain(secret);

  const died = new Promise((resolve) => first.child.once('exit', resolve));
  first.child.kill('SIGKILL');
  await died;
  proxy.refuse();
  const second = startProcess(home, port);
  expect(await second.ready).toBe('slipway:ready');
  const answer = await chat(port);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('x-slipway-revision')).toBe(before.headers.get('x-slipway-revision'));
  expect((await ask(port, null, { path: '/readyz', method: 'GET' })).body).toMatchObject({
    status: 'ready',
    postgres: 'away',
  });

  proxy.restore();
  await untilPassing(async () =>
    expect((await ask(port, null, { path: '/readyz', method: 'GET' })).body.postgres).toBe('up'),
  );
});

it('finishes requests in flight on SIGTERM, and when its launcher is gone, then exits with 0', async () => {
  for (const stop of [(child: ChildProcess) => child.kill('SIGTERM'), (child: ChildProcess) => child.disconnect()]) {
    const home = freshHome();
    const port = await freePort();
    const { child, ready } = startProcess(home, port);
    await ready;
    for (const upstream of upstreams)
      upstream.behaviour = (request, response) => upstream.stream(request, response, { tokens: 30, gapMs: 10 });
    const streams = Promise.all(
      Array.from({ length: 5 }, () => ask(port, token, { body: { model: 'chat', stream: true } })),
    );
    const count = (): number => upstreams[0].seen.length + upstreams[1].seen.length;
    const target = count() + 5;
    await untilPassing(() => expect(count()).toBe(target));
    const exited = new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
    stop(child);
    for (const { status, text } of await streams)
      expect({ status, isWhole: text.endsWith('data: [DONE]\n\n') }).toEqual({ status: 200, isWhole: true });
    expect(await exited).toEqual({ code: 0, signal: null });
    await expect(chat(port)).rejects.toThrow();
  }
  for (const upstream of upstreams) upstream.behaviour = (request, response) => upstream.answer(request, response);
});

it('waits, not ready, if there is neither Postgres nor a snapshot, and ignores a snapshot that it cannot read', async () => {
  const home = freshHome();
  proxy.refuse();
  const port = await freePort();
  const { ready } = startProcess(home, port);
  await untilPassing(async () => {
    const answer = await ask(port, null, { path: '/readyz', method: 'GET' });
    expect({ status: answer.status, is: answer.body.status }).toEqual({ status: 503, is: 'starting' });
  });
  expect((await chat(port)).body.error.code).toBe('unavailable');
  writeFileSync(path.join(home, 'gateway', 'snapshot.json'), '{"format":1,"routes"');
  proxy.restore();
  expect(await ready).toBe('slipway:ready');
  expect((await chat(port)).status).toBe(200);
});
