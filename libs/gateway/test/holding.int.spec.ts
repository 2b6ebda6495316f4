import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import {
  publishSlug,
  unpublishRoute,
  withdrawSlug,
  type PublishedBinding,
  type PublishedHold,
} from '@slipway/dataplane';
import { TcpProxy } from '@slipway/platform-database/testing';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer, type TestRequest } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

const MAIN = fileURLToPath(new URL('../../../apps/gateway/dist/main.js', import.meta.url));

/** Node's timers fire early by at most this much. */
const EARLY_MS = 2;

/** The behaviour that clients see while a deployment is being replaced. */
let installation: GatewayInstallation;
let proxy: TcpProxy;
let gateway: Gateway;
let tenant: string;
let token: TestToken;
let before: TestUpstream;
let after: TestUpstream;
let child: ChildProcess | undefined;

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  const { hostname, port } = new URL(installation.database.gatewayUrl);
  proxy = await TcpProxy.start({ host: hostname, port: Number(port || 5432) });
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  [before, after] = [await TestUpstream.start('before'), await TestUpstream.start('after')];
  gateway = await start();
});
afterAll(async () => {
  child?.kill('SIGKILL');
  await installation.destroy();
  await proxy.close();
  await Promise.all([before.stop(), after.stop()]);
});
beforeEach(async () => {
  await installation.revision(tenant, 'chat', 'chat-1', [before]);
  await installation.revision(tenant, 'chat', 'chat-2', [after]);
  await followed(await installation.route(tenant, 'chat', { 'chat-1': 100 }), [gateway]);
});
afterEach(() => {
  proxy.restore();
  for (const one of [before, after]) {
    one.behaviour = (request, response) => one.answer(request, response);
    one.seen.length = 0;
  }
});

const start = (settings = {}, home = installation.home): Promise<Gateway> =>
  installation.gateway(settings, {
    home,
    databaseUrl: proxy.through(installation.database.gatewayUrl),
    metricsToken: 'metrics',
  });
/** Starts a gateway that can be killed. */
async function startProcess(home: string): Promise<{ id: string; port: number }> {
  const env = {
    PATH: process.env['PATH'],
    SLIPWAY_HOME: home,
    SLIPWAY_GATEWAY_PORT: '0',
    SLIPWAY_METRICS_TOKEN: 'metrics',
    DATABASE_URL: proxy.through(installation.database.gatewayUrl),
    SLIPWAY_SECRET_KEY: installation.secretKey.toString('base64'),
  };
  child = spawn(process.execPath, [MAIN], { env, cwd: installation.home, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.on('data', (chunk) => (said += String(chunk)));
  const [, port, id] = await untilPassing(() => {
    const found = /"port":(\d+),"gateway_id":"(gw_\w+)"/.exec(said);
    if (!found) throw new Error(`it does not serve: ${said}`);
    return found;
  });
  return { id: id!, port: Number(port) };
}

const chat = (
  rest: object = {},
  asked: TestRequest = {},
  to: Gateway | number = gateway,
  as = token,
): Promise<TestAnswer> => ask(to, as, { ...asked, body: { model: 'chat', messages: [], ...rest } });

type Terms = Partial<Omit<PublishedHold, 'since'>>;

/** Resolves once the gateways follow the hold: otherwise the engine would still answer. */
async function hold(terms: Terms = {}, of: readonly Pick<Gateway, 'id'>[] = [gateway]): Promise<void> {
  const held = { max_seconds: 60, estimated_seconds: 10, ...terms };
  await followed(await installation.route(tenant, 'chat', { 'chat-1': 100 }, undefined, held), of);
}

const release = async (to = 'chat-2'): Promise<number> => installation.route(tenant, 'chat', { [to]: 100 });

async function followed(generation: number, of: readonly Pick<Gateway, 'id'>[]): Promise<void> {
  for (const { id } of of)
    await untilPassing(async () =>
      expect(
        await installation.sql(
          `select 1 as is_followed from dataplane_followed_routes where gateway_id = $1 and deployment_id = 'dep_chat' and generation = $2`,
          [id, generation],
        ),
      ).toHaveLength(1),
    );
}

/** Returns a value of /metrics; a line of a histogram or a counter by its name. */
async function metric(name: string, of: Gateway | number = gateway): Promise<number> {
  const { text } = await ask(of, 'metrics', { path: '/metrics', method: 'GET' });
  return Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${name} `))
      ?.split(' ')[1],
  );
}
const waiting = (count: number, of: Gateway | number = gateway): Promise<void> =>
  untilPassing(async () => expect(await metric('slipway_gateway_held_requests', of)).toBe(count));

it('200 held requests lose none: the new revision answers all, in the order of their arrival', async () => {
  await hold();
  after.behaviour = async (request, response) => {
    // The time that an answer takes.
    await new Promise((resolve) => setTimeout(resolve, 20));
    after.answer(request, response);
  };
  const asked: Promise<TestAnswer>[] = [];
  for (let n = 0; n < 200; n += 1) {
    asked.push(chat({ user: `u${n}`, stream: n % 2 === 0 }));
    // One after the other: arrival over many connections has no order otherwise.
    if (n % 20 === 0) await waiting(n + 1);
  }
  await waiting(200);
  expect([before.seen.length, after.seen.length]).toEqual([0, 0]);
  const heldFor = performance.now();
  const real = globalThis.setInterval;
  const timers = jest.spyOn(globalThis, 'setInterval');
  // Without the doubling every half second: requests that end release the others.
  timers.mockImplementation(((work: () => void, ms?: number) => real(work, ms === 500 ? 60_000 : ms)) as typeof real);
  await release();
  const answers = await Promise.all(asked).finally(() => timers.mockRestore());
  expect(performance.now() - heldFor).toBeLessThan(50_000);
  expect(new Set(answers.map(({ status, headers }) => `${status} ${headers.get('x-slipway-revision')}`))).toEqual(
    new Set(['200 chat-2']),
  );
  for (const [n, { text }] of answers.entries()) expect([n, text]).toEqual([n, expect.stringMatching(/after/)]);
  for (const { text } of answers.filter((_, n) => n % 2 === 0)) expect(text).toMatch(/data: \[DONE\]\n\n$/);
  expect(before.seen).toEqual([]);
  const arrivals = after.seen.map(({ body }) => Number(String(body['user']).slice(1)));
  expect([...arrivals].sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, n) => n));
  // Each block of twenty arrived before the first of the next block. Later, a new connection arrives after a reused
  // one.
  expect(arrivals.slice(0, 8).filter((n) => n >= 20)).toEqual([]);
  await waiting(0);
  expect(await metric('slipway_gateway_hold_seconds_count')).toBe(200);
});

it('the time of a hold is in a header, and in no measurement of an engine', async () => {
  await hold();
  const asked = chat({ stream: true });
  await waiting(1);
  const heldMs = 700;
  // The time that a start takes.
  await new Promise((resolve) => setTimeout(resolve, heldMs));
  await installation.revision(tenant, 'chat', 'chat-measured', [after]);
  await release('chat-measured');
  const { headers, status } = await asked;
  expect(status).toBe(200);
  expect(Number(headers.get('x-slipway-held-ms'))).toBeGreaterThanOrEqual(heldMs - EARLY_MS);
  const measured = await untilPassing(async () => {
    const found = await installation.sql<Record<'ttft_ms' | 'e2e_latency_ms', { n: number; sum: number }>>(
      `select histograms->'ttft_ms' as ttft_ms, histograms->'e2e_latency_ms' as e2e_latency_ms
       from dataplane_request_stats where revision_id = 'rev_chat-measured' and ok > 0`,
    );
    expect(found).toHaveLength(1);
    return found[0]!;
  });
  for (const { n, sum } of Object.values(measured)) expect([n, sum < heldMs]).toEqual([1, true]);
  expect((await chat()).headers.get('x-slipway-held-ms')).toBeNull();
});

it('refuses after the longest wait with a Retry-After, and at once if the estimate is longer', async () => {
  await hold({ max_seconds: 1, estimated_seconds: 1 });
  const startedAt = performance.now();
  const late = await chat();
  const took = performance.now() - startedAt;
  expect([took >= 1_000 - EARLY_MS, took < 5_000]).toEqual([true, true]);
  expect([late.status, late.body.error.code, late.headers.get('retry-after')]).toEqual([
    503,
    'deployment_restarting',
    '1',
  ]);
  expect(late.body.error.estimated_seconds).toBe(0);
  expect(Number(late.headers.get('x-slipway-held-ms'))).toBeGreaterThanOrEqual(1_000 - EARLY_MS);

  await hold({ max_seconds: 60, estimated_seconds: 300 });
  const early = await chat();
  expect([early.status, early.headers.get('retry-after')]).toEqual([503, '60']);
  expect(early.body.error.estimated_seconds).toBeGreaterThan(290);
  expect(Number(early.headers.get('x-slipway-held-ms'))).toBeLessThan(1_000);
  await release();
});

it('no engine gets the request of a client that has left, and requests under way continue', async () => {
  let finish: () => void = () => undefined;
  before.behaviour = async (request, response) => {
    await new Promise<void>((resolve) => (finish = resolve));
    before.answer(request, response);
  };
  const underWay = chat();
  await untilPassing(() => expect(before.seen).toHaveLength(1));
  await hold();
  const leaving = new AbortController();
  const gone = chat({}, { signal: leaving.signal });
  const stays = chat();
  await waiting(2);
  leaving.abort();
  await expect(gone).rejects.toThrow();
  await waiting(1);
  finish();
  expect((await underWay).headers.get('x-slipway-revision')).toBe('chat-1');
  await release();
  expect((await stays).status).toBe(200);
  expect(after.seen).toHaveLength(1);
});

it('a request that waited gets the usual error if the generation after the hold cannot serve it', async () => {
  const asked = async (): Promise<TestAnswer> => {
    await hold();
    return chat();
  };
  const away = asked();
  await waiting(1);
  await installation.revision(tenant, 'chat', 'chat-3', []);
  await release('chat-3');
  expect([(await away).status, (await away).body.error.code]).toEqual([503, 'unavailable']);
  const deleted = asked();
  await waiting(1);
  await unpublishRoute(installation.db, 'dep_chat');
  expect([(await deleted).status, (await deleted).body.error.code]).toEqual([404, 'model_not_found']);
});

it('bounds what waits, and leaves capacity to the owner of a deployment, whatever its guests send', async () => {
  const small = await start({ hold: { maxRequests: 4, maxBytes: 100_000 } }, `${installation.home}/small`);
  const guest = await installation.token(await installation.tenant('guest'));
  await slug([toRoute('bnd_1')], [guest.tenantId]);
  await hold({}, [small]);
  const seen: Record<string, number> = {};
  const note = (whose: string) => (answer: TestAnswer) => {
    const key = `${whose} ${answer.status} ${answer.body?.error?.code ?? ''}`;
    seen[key] = (seen[key] ?? 0) + 1;
  };
  const guests = Array.from({ length: 20 }, () => chat({ model: 'acme/chat' }, {}, small, guest).then(note('guest')));
  await untilPassing(() => expect(seen).toEqual({ 'guest 503 deployment_restarting': 18 }));
  const large = await chat({ user: 'x'.repeat(7_000), messages: ['y'.repeat(100_000)] }, {}, small);
  expect(large.body.error.code).toBe('deployment_restarting');
  const owners = Array.from({ length: 20 }, () => chat({}, {}, small).then(note('owner')));
  await untilPassing(() => expect(seen['owner 503 deployment_restarting']).toBe(18));
  await waiting(4, small);
  expect(await metric('slipway_gateway_hold_refused_total{reason="full"}', small)).toBe(37);
  await release();
  await Promise.all([...guests, ...owners]);
  expect(seen).toMatchObject({ 'guest 200 ': 2, 'owner 200 ': 2 });
  await small.close();
  await withdrawSlug(installation.db, 'acme/chat');
});

it('a product waits for its deployment or for a revision of it, and for neither if another binding serves', async () => {
  const supplier: PublishedBinding = {
    binding_id: 'bnd_supplier',
    weight: 1,
    priority: 1,
    upstream: {
      kind: 'supplier',
      base_url: before.url,
      model: 'm',
      credential: null,
      guard: { allow: ['http://127.0.0.1:*'] },
    },
  };
  for (const binding of [toRoute('bnd_route'), toRoute('bnd_revision', 'rev_chat-2')]) {
    await slug([binding]);
    await hold();
    const asked = chat({ model: 'acme/chat' });
    await waiting(1);
    await release();
    expect((await asked).body.choices[0].message.content).toBe('answer of after');
  }
  await slug([toRoute('bnd_route'), supplier]);
  await hold();
  await untilPassing(async () =>
    expect((await chat({ model: 'acme/chat' })).body.choices[0].message.content).toBe('answer of before'),
  );
  await withdrawSlug(installation.db, 'acme/chat');
  await release();
});

it('limits count a waiting request once, when it arrives', async () => {
  const limited = await start({ requestsPerMinute: 60 }, `${installation.home}/limited`);
  await slug([{ ...toRoute('bnd_limited'), limits: { max_rps: 3, max_concurrency: 3 } }]);
  await hold({}, [limited]);
  const asked = Array.from({ length: 4 }, () => chat({ model: 'acme/chat' }, {}, limited));
  const refused = await Promise.race(asked);
  expect([refused.status, refused.body.error.code]).toEqual([429, 'quota_exceeded']);
  const others = Array.from({ length: 6 }, () => chat({}, {}, limited));
  await waiting(9, limited);
  expect((await chat({}, {}, limited)).body.error.code).toBe('rate_limit_exceeded');
  await release();
  const answers = await Promise.all([...asked, ...others]);
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array<number>(9).fill(200), 429]);
  // None of the three is still counted.
  await untilPassing(async () => expect((await chat({ model: 'acme/chat' }, {}, limited)).status).toBe(200));
  await limited.close();
  await withdrawSlug(installation.db, 'acme/chat');
});

it('holds without Postgres, bounds the wait then, and still holds after a kill -9', async () => {
  const home = `${installation.home}/lonely`;
  const first = await startProcess(home);
  expect((await chat({}, {}, first.port)).status).toBe(200);
  await hold({ max_seconds: 5, estimated_seconds: null }, [first]);
  await untilPassing(() =>
    expect(readFileSync(path.join(home, 'gateway', 'snapshot.json'), 'utf8')).toContain('"max_seconds":5'),
  );
  proxy.refuse();
  const waits = chat({}, {}, first.port);
  await waiting(1, first.port);
  child?.kill('SIGKILL');
  await expect(waits).rejects.toThrow();
  const second = await start({}, home);
  const startedAt = performance.now();
  const answer = await chat({}, {}, second);
  expect([answer.status, answer.body.error.code, answer.headers.get('retry-after')]).toEqual([
    503,
    'deployment_restarting',
    '5',
  ]);
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(5_000 - EARLY_MS);
  const released = chat({}, {}, second);
  await waiting(1, second);
  proxy.restore();
  await release();
  expect((await released).headers.get('x-slipway-revision')).toBe('chat-2');
  await second.close();
});

it('answers waiting requests with a retryable error when it ends', async () => {
  const ending = await start({ drainMs: 300 }, `${installation.home}/ending`);
  await hold({}, [ending]);
  const waits = [chat({}, {}, ending), chat({ stream: true }, {}, ending)];
  await waiting(2, ending);
  await ending.close();
  for (const { status, body } of await Promise.all(waits))
    expect([status, body.error.code]).toEqual([503, 'deployment_restarting']);
  await release();
});

it('keeps no connection that an engine in Python would close during a request', async () => {
  const brief = await start({ idleTimeoutMs: 200 }, `${installation.home}/brief`);
  let open = 0;
  before.behaviour = (_request, response) => {
    open += 1;
    response.socket?.once('close', () => (open -= 1));
    respondJson(response, 200, { choices: [] }, { connection: 'keep-alive', 'keep-alive': '' });
  };
  await followed(await release('chat-1'), [brief]);
  expect((await chat({}, {}, brief)).status).toBe(200);
  // Sooner than by default, and than the engine would.
  await untilPassing(() => expect(open).toBe(0), 3_000);
  await brief.close();
});

const toRoute = (id: string, revisionId: string | null = null): PublishedBinding => ({
  binding_id: id,
  weight: 1,
  priority: 0,
  upstream: { kind: 'revision', deployment_id: 'dep_chat', revision_id: revisionId },
});

async function slug(bindings: PublishedBinding[], tenants: string[] = []): Promise<void> {
  await publishSlug(installation.db, {
    slug: 'acme/chat',
    tenantId: tenant,
    productId: 'prd_chat',
    bindings,
    audience: { visibility: 'tenant', tenants },
  });
}
