import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { publishSlug, withdrawSlug, type BackendSleep } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer, type TestRequest } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

/** How clients see a revision that sleeps, and what the gateway reports about their requests. */
let installation: GatewayInstallation;
let gateway: Gateway;
let tenant: string;
let token: TestToken;
let engine: TestUpstream;
let other: TestUpstream;

const ASLEEP: BackendSleep = {
  max_seconds: 60,
  estimated_seconds: null,
  since: '2026-01-01T00:00:00Z',
  failures: 0,
  failure: null,
};

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  [engine, other] = [await TestUpstream.start('engine'), await TestUpstream.start('other')];
  gateway = await installation.gateway();
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all([engine.stop(), other.stop()]);
});
beforeEach(async () => {
  await installation.revision(tenant, 'chat', 'chat-1', [], undefined, ASLEEP);
  await routed();
});
afterEach(() => {
  for (const one of [engine, other]) {
    one.behaviour = (request, response) => one.answer(request, response);
    one.seen.length = 0;
  }
});

/**
 * Sends all traffic to the first revision. Once this route is followed, everything published earlier is followed too.
 */
const routed = async () => {
  const generation = await installation.route(tenant, 'chat', { 'chat-1': 100 });
  const followed = 'select generation::int from dataplane_followed_routes';
  await untilPassing(async () => expect(await installation.sql(followed)).toEqual([{ generation }]));
};
const chat = (asked: TestRequest = {}, model = 'chat'): Promise<TestAnswer> =>
  ask(gateway, token, { ...asked, body: { model, messages: [] } });
const told = async () =>
  (
    await installation.sql<{ in_flight: number; held: number; instances: object; used: number | null }>(
      'select in_flight, held, instances, extract(epoch from now() - used_at)::float8 as used from dataplane_inflight where revision_id = $1',
      ['rev_chat-1'],
    )
  )[0];
const held = (count: number) => untilPassing(async () => expect(await told()).toMatchObject({ held: count }));
const wakeUp = () => installation.revision(tenant, 'chat', 'chat-1', [engine]);

it('50 requests for a sleeping revision wait, are reported as one number, and all continue when an instance is ready', async () => {
  const asked = Array.from({ length: 50 }, () => chat());
  await held(50);
  expect((await told())?.used).toBeLessThan(10);
  expect(engine.seen).toEqual([]);
  await wakeUp();
  const answers = await Promise.all(asked);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(Number(answers[0]?.headers.get('x-slipway-held-ms'))).toBeGreaterThan(0);
  expect(engine.seen).toHaveLength(50);
  await held(0);
  expect((await chat()).headers.get('x-slipway-held-ms')).toBeNull();
});

it('all waiting requests get the cause once when a start fails, and the next request waits for the next start', async () => {
  const asked = Array.from({ length: 3 }, () => chat());
  await held(3);
  await installation.revision(tenant, 'chat', 'chat-1', [], undefined, {
    ...ASLEEP,
    failures: 1,
    failure: 'gpu_memory',
  });
  for (const answer of await Promise.all(asked)) {
    expect([answer.status, JSON.parse(answer.text).error]).toEqual([
      503,
      expect.objectContaining({
        code: 'start_failed',
        cause: 'gpu_memory',
        message: expect.stringContaining('gpu_memory'),
      }),
    ]);
    expect(answer.headers.get('retry-after')).toBe('1');
  }
  await held(0);
  const next = chat();
  await held(1);
  // Published again, as after a restart of the worker: no new failure.
  await installation.revision(tenant, 'chat', 'chat-1', [], undefined, {
    ...ASLEEP,
    failures: 1,
    failure: 'gpu_memory',
  });
  await routed();
  await wakeUp();
  expect((await next).status).toBe(200);
});

it('a request that started and ended between two reports is reported', async () => {
  await wakeUp();
  await untilPassing(async () => expect((await chat()).status).toBe(200));
  await untilPassing(async () => expect((await told())?.used).toBeLessThan(10));
  await installation.sql(`update dataplane_inflight set used_at = now() - interval '1 hour'`);
  await chat();
  await untilPassing(async () => expect(await told()).toMatchObject({ in_flight: 0, used: expect.any(Number) }));
  await untilPassing(async () => expect((await told())?.used).toBeLessThan(10));
});

it('an instance that leaves gets no new request, and its remaining requests are reported', async () => {
  await installation.revision(tenant, 'chat', 'chat-1', [engine]);
  await untilPassing(async () => expect((await chat()).status).toBe(200));
  let finish = (): void => undefined;
  engine.behaviour = (_request, response) => {
    finish = () => respondJson(response, 200, { object: 'chat.completion', model: 'm', choices: [] });
  };
  engine.seen.length = 0;
  const slow = chat();
  await untilPassing(() => expect(engine.seen).toHaveLength(1));
  await installation.revision(tenant, 'chat', 'chat-1', [other]);
  await untilPassing(async () => expect(await told()).toMatchObject({ in_flight: 1, instances: { ins_engine: 1 } }));
  expect((await chat()).text).toMatch(/other/);
  // Reported again after it was forgotten.
  const forget = `update dataplane_inflight set updated_at = now() - interval '1 hour' where revision_id = 'rev_chat-1'`;
  await installation.sql(forget);
  const isNews = `select instances from dataplane_inflight where revision_id = 'rev_chat-1' and updated_at > now() - interval '1 minute'`;
  await untilPassing(async () => expect(await installation.sql(isNews)).toEqual([{ instances: { ins_engine: 1 } }]));
  finish();
  expect((await slow).status).toBe(200);
  await untilPassing(async () => expect(await told()).toMatchObject({ in_flight: 0, instances: {} }));
});

const binding = (id: string, name: string | null, priority = 0) => ({
  binding_id: id,
  weight: 1,
  priority,
  upstream: { kind: 'revision' as const, deployment_id: 'dep_chat', revision_id: name && `rev_${name}` },
});
const publish = async (slug: string, bindings: ReturnType<typeof binding>[]) => {
  await publishSlug(installation.db, {
    slug,
    tenantId: tenant,
    productId: 'prd_1',
    bindings,
    audience: { visibility: 'tenant', tenants: [] },
  });
  await untilPassing(async () =>
    expect((await ask(gateway, token, { path: '/v1/models', method: 'GET' })).text).toContain(slug),
  );
};
/** Returns each answer's status, and whether its request has waited. */
const many = async (slug: string, count = 40) =>
  (
    await Promise.all(Array.from({ length: count }, (_, n) => chat({ headers: { 'x-session-id': `s-${n}` } }, slug)))
  ).map(({ status, headers }) => [status, headers.get('x-slipway-held-ms') !== null]);

it('a published product waits for a sleeping revision only if none of its bindings is awake', async () => {
  await installation.revision(tenant, 'chat', 'chat-2', [other]);
  await publish('acme/both', [binding('bnd_1', 'chat-1'), binding('bnd_2', 'chat-2', 1)]);
  await untilPassing(async () => expect((await chat({}, 'acme/both')).status).toBe(200));
  await publish('acme/equal', [binding('bnd_1', 'chat-1'), binding('bnd_2', 'chat-2')]);
  for (const slug of ['acme/both', 'acme/equal'])
    expect(new Set((await many(slug)).map(String))).toEqual(new Set(['200,false']));
  await publish('acme/alone', [binding('bnd_1', 'chat-1')]);
  const answer = chat({}, 'acme/alone');
  await held(1);
  await wakeUp();
  expect((await answer).status).toBe(200);
  for (const slug of ['acme/both', 'acme/equal', 'acme/alone']) await withdrawSlug(installation.db, slug);
});

it('a product with a route is served by any awake revision; if all sleep, it waits and wakes one', async () => {
  await installation.revision(tenant, 'chat', 'chat-2', [other]);
  await installation.route(tenant, 'chat', { 'chat-1': 70, 'chat-2': 30 });
  await publish('acme/routed', [binding('bnd_3', null)]);
  expect(new Set((await many('acme/routed')).map(String))).toEqual(new Set(['200,false']));
  expect([engine.seen.length, other.seen.length]).toEqual([0, 40]);

  await installation.revision(tenant, 'chat', 'chat-2', [], undefined, ASLEEP);
  // The gateway follows in this order.
  await publish('acme/after', [binding('bnd_4', 'chat-2')]);
  const all = many('acme/routed');
  await held(40);
  await wakeUp();
  // The other one stays asleep, and no request that has waited is sent to it.
  expect(new Set((await all).map(String))).toEqual(new Set(['200,true']));
  expect(engine.seen).toHaveLength(40);
  for (const slug of ['acme/routed', 'acme/after']) await withdrawSlug(installation.db, slug);
});
