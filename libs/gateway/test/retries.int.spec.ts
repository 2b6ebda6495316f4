import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { readMetric, publishBackend, routeFollowers, statsBetween, statsCompleteUntil } from '@slipway/dataplane';
import { freePort } from '@slipway/platform-database/testing';
import type { Gateway } from '../src/index.js';
import { ask, type TestAnswer } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

/** Never ejects, so that every test reaches every instance: backend.spec.ts tests ejection. */
const NEVER = { failures: 1_000_000, baseMs: 1, mostMs: 1 };

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let tenant: string;
let upstreams: TestUpstream[];

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstreams = await Promise.all(['one', 'two', 'three', 'four'].map((name) => TestUpstream.start(name)));
  gateway = await installation.gateway({ ejection: NEVER });
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});
afterEach(() => {
  for (const upstream of upstreams) upstream.behaviour = (request, response) => upstream.answer(request, response);
});

/** Publishes a separate deployment per test, because each revision has its own retry allowance. */
async function deployment(name: string, instances: number): Promise<void> {
  await installation.revision(tenant, name, `${name}-1`, upstreams.slice(0, instances));
  const generation = await installation.route(tenant, name, { [`${name}-1`]: 100 });
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, `dep_${name}`, generation)).toEqual({ gateways: 1, behind: 0 }),
  );
  for (const upstream of upstreams) upstream.seen.length = 0;
}

const chat = (model: string, more: Record<string, unknown> = {}): Promise<TestAnswer> =>
  ask(gateway, token, { body: { model, ...more } });
const everywhere = (behaviour: TestUpstream['behaviour']): void => {
  for (const upstream of upstreams) upstream.behaviour = behaviour;
};
const asked = (): number[] => upstreams.map((upstream) => upstream.seen.length);
const sum = (counts: number[]): number => counts.reduce((total, count) => total + count, 0);

it.each([502, 503])(
  'tries another instance after a %i, each at most once, and passes on the last answer',
  async (status) => {
    await deployment(`other-${status}`, 3);
    everywhere((_request, response) => respondJson(response, status, { error: { message: 'no capacity' } }));
    const answer = await chat(`other-${status}`);
    expect([answer.status, answer.body.error.message, asked()]).toEqual([status, 'no capacity', [1, 1, 1, 0]]);
  },
);

it('tries at most three instances', async () => {
  await deployment('three', 4);
  everywhere((_request, response) => respondJson(response, 503, {}));
  expect((await chat('three')).status).toBe(503);
  expect([sum(asked()), Math.max(...asked())]).toEqual([3, 1]);
});

it('tries another instance when one cannot be reached, or closes before it has answered', async () => {
  const nobody = `http://127.0.0.1:${await freePort()}`;
  const [one, two] = upstreams as [TestUpstream, TestUpstream];
  const publish = (urls: Record<string, string>): Promise<void> =>
    publishBackend(installation.db, {
      revisionId: 'rev_reach-1',
      revisionName: 'reach-1',
      tenantId: tenant,
      deploymentId: 'dep_reach',
      modelId: 'm',
      instances: Object.entries(urls).map(([id, url]) => ({ id, base_url: url, state: 'ready' })),
      credential: null,
      guard: null,
    });
  await deployment('reach', 0);
  await publish({ answers: two.url });
  await untilPassing(async () => expect((await chat('reach')).status).toBe(200));
  // One request stays there, so that the two that fail are idler and are tried first.
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  two.seen.length = 0;
  two.behaviour = async (request, response) => {
    await gate;
    two.answer(request, response);
  };
  const held = chat('reach');
  await untilPassing(() => expect(two.seen).toHaveLength(1));
  two.behaviour = (request, response) => two.answer(request, response);
  one.behaviour = (_request, response) => void response.socket?.destroy();
  await publish({ answers: two.url, 'hangs-up': one.url, nobody });
  await untilPassing(async () => {
    expect((await chat('reach')).status).toBe(200);
    expect(one.seen).toHaveLength(1);
  });
  expect(gateway.metrics()).toMatch(/attempts_total\{[^}]*revision="reach-1",class="connect_error"\} 2$/m);
  release();
  expect((await held).status).toBe(200);
});

it.each([400, 409, 500, 501, 504, 507])('passes a %i on at once: it may have been processed', async (status) => {
  await deployment(`once-${status}`, 3);
  everywhere((_request, response) => respondJson(response, status, { error: { message: 'as it is' } }));
  const answer = await chat(`once-${status}`);
  expect([answer.status, answer.body.error.message, sum(asked())]).toEqual([status, 'as it is', 1]);
});

it('gives up on a silent instance, and tries no other, because the first may still work on the request', async () => {
  await deployment('silent', 3);
  const impatient = await installation.gateway({ headTimeoutMs: 100 });
  everywhere(() => undefined);
  const answer = await ask(impatient, token, { body: { model: 'silent' } });
  expect([answer.status, answer.body.error.code, sum(asked())]).toEqual([504, 'upstream_timeout', 1]);
  await impatient.close();
});

it.each([408, 425, 429])('tries each other instance after a %i, and passes on the last answer', async (status) => {
  await deployment(`busy-${status}`, 2);
  let requests = 0;
  everywhere((_request, response) =>
    respondJson(response, status, { error: { message: `busy ${(requests += 1)}` } }, { 'retry-after': '7' }),
  );
  const answer = await chat(`busy-${status}`);
  expect([answer.status, answer.body.error.message, asked()]).toEqual([status, 'busy 2', [1, 1, 0, 0]]);
  expect(answer.headers.get('retry-after')).toBe('7');
});

it('does not repeat a request on the only instance while that is overloaded', async () => {
  await deployment('busy-alone', 1);
  everywhere((_request, response) => respondJson(response, 429, {}));
  expect([(await chat('busy-alone')).status, sum(asked())]).toEqual([429, 1]);
});

it.each([
  ['is empty', ''],
  ['is no JSON', '<html>'],
  ['ends too early', '{"choices":['],
])('tries another instance after an answer that %s, because none of it has reached the client', async (what, text) => {
  const name = what.replaceAll(' ', '-');
  await deployment(name, 2);
  const [bad, good] = upstreams as [TestUpstream, TestUpstream];
  bad.behaviour = (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(text);
  };
  await untilPassing(async () => {
    const answer = await chat(name);
    expect([answer.status, answer.body.choices[0].message.content]).toEqual([200, 'answer of two']);
    expect(bad.seen.length).toBeGreaterThan(0);
  });
  bad.behaviour = (request, response) => bad.answer(request, response);
  good.behaviour = bad.behaviour;
});

it('tries no other instance if the connection breaks in the middle of an answer: the first may still work on it', async () => {
  await deployment('cut-early', 3);
  everywhere((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"choices":[', () => response.destroy());
  });
  const answer = await chat('cut-early');
  expect([answer.status, answer.body.error.code, sum(asked())]).toEqual([502, 'upstream_error', 1]);
});

it.each([
  ['a stream', 'text/event-stream', 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'],
  ['a whole answer', 'application/json', `{"choices":["${'x'.repeat(20_000)}`],
])('tries no other instance once the first byte of %s is here', async (_what, type, beginning) => {
  const name = type.includes('json') ? 'cut-json' : 'cut-stream';
  await deployment(name, 3);
  everywhere((_request, response) => {
    response.writeHead(200, { 'content-type': type });
    response.write(beginning, () => response.destroy());
  });
  // Broken off, so that no client takes it for complete.
  await expect(chat(name, { stream: type !== 'application/json' })).rejects.toThrow();
  expect(sum(asked())).toBe(1);
});

it('waits a little before it tries the only instance again', async () => {
  await deployment('only', 1);
  let requests = 0;
  everywhere((request, response) => {
    requests += 1;
    if (requests < 3) respondJson(response, 503, {});
    else upstreams[0]!.answer(request, response);
  });
  const startedAt = performance.now();
  expect((await chat('only')).status).toBe(200);
  // 50 ms, then 100 ms.
  expect(performance.now() - startedAt).toBeGreaterThanOrEqual(145);
  expect(requests).toBe(3);
});

it('stops retrying when everything fails: at most 30 % more attempts, and ten at first', async () => {
  await deployment('budget', 4);
  everywhere((_request, response) => respondJson(response, 503, {}));
  for (let round = 0; round < 100; round += 1) expect((await chat('budget')).status).toBe(503);
  const attempts = sum(asked());
  expect(attempts).toBeGreaterThanOrEqual(135);
  expect(attempts).toBeLessThanOrEqual(140);
});

it('loses no request without an answer when one of two instances dies under load', async () => {
  const dying = await TestUpstream.start('dying');
  const [living] = upstreams as [TestUpstream];
  await installation.revision(tenant, 'death', 'death-1', [living, dying]);
  const generation = await installation.route(tenant, 'death', { 'death-1': 100 });
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, 'dep_death', generation)).toEqual({ gateways: 1, behind: 0 }),
  );
  living.seen.length = 0;
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  for (const upstream of [living, dying])
    upstream.behaviour = async (request, response) => {
      await gate;
      upstream.answer(request, response);
    };
  // Many more than the retries that a revision saves up.
  const held = Array.from({ length: 240 }, () => chat('death'));
  await untilPassing(() => expect([living.seen.length, dying.seen.length]).toEqual([120, 120]));
  await dying.stop();
  const after = Array.from({ length: 60 }, () => chat('death'));
  await untilPassing(() => expect(living.seen).toHaveLength(300));
  release();
  const statuses = (await Promise.all([...held, ...after])).map(({ status }) => status);
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
});

it('counts lost requests against the retry allowance if every instance loses them', async () => {
  await deployment('lost', 4);
  everywhere((_request, response) => void response.socket?.destroy());
  for (let round = 0; round < 100; round += 1) expect((await chat('lost')).status).toBe(503);
  // Each was sound until its first loss.
  expect(sum(asked())).toBeLessThanOrEqual(100 + 40 + 4);
});

it('stays with the drawn revision, even if another one is healthier', async () => {
  await installation.revision(tenant, 'drawn', 'drawn-1', upstreams.slice(0, 2));
  await installation.revision(tenant, 'drawn', 'drawn-2', upstreams.slice(2));
  const generation = await installation.route(tenant, 'drawn', { 'drawn-1': 50, 'drawn-2': 50 });
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, 'dep_drawn', generation)).toEqual({ gateways: 1, behind: 0 }),
  );
  for (const upstream of upstreams.slice(0, 2))
    upstream.behaviour = (_request, response) => respondJson(response, 503, {});
  const seen = new Set<string>();
  for (let session = 0; session < 40; session += 1) {
    const answer = await ask(gateway, token, { body: { model: 'drawn' }, headers: { 'x-session-id': `s${session}` } });
    seen.add(`${answer.headers.get('x-slipway-revision')} ${answer.status}`);
  }
  expect([...seen].sort()).toEqual(['drawn-1 503', 'drawn-2 200']);
});

it('counts a failure that a retry hid against the revision in a separate metric, and as no error of a client', async () => {
  await deployment('hidden', 2);
  upstreams[0]!.behaviour = (_request, response) => respondJson(response, 503, {});
  // Ties are broken at random: one of the two is tried first until the failing one was.
  await untilPassing(async () => {
    expect((await chat('hidden')).status).toBe(200);
    expect(asked()[0]).toBe(1);
  });
  const now = Date.now();
  await untilPassing(async () =>
    expect(((await statsCompleteUntil(installation.db)) ?? new Date(0)).getTime()).toBeGreaterThan(now),
  );
  const stats = await statsBetween(installation.db, 'rev_hidden-1', new Date(now - 60_000), new Date(now + 1_000));
  const answered = asked()[1] as number;
  expect(stats.counts).toMatchObject({ ok: answered, server_error: 1, retried: 1, connect_error: 0 });
  expect(readMetric('error_rate', 'rate', stats)).toEqual({ value: 0, samples: answered });
  expect(readMetric('upstream_fault_rate', 'rate', stats)).toEqual({
    value: 1 / (answered + 1),
    samples: answered + 1,
  });
});

it('counts failures in a row against an instance, and no answer, client error or disconnect', async () => {
  await deployment('health', 1);
  const strict = await installation.gateway({ ejection: { failures: 3, baseMs: 3_600_000, mostMs: 3_600_000 } });
  const only = upstreams[0] as TestUpstream;
  const ejected = (): string => {
    const line = /^slipway_gateway_ejected_instances\{[^}]*revision="health-1"\} (\d)$/m.exec(strict.metrics());
    return line?.[1] as string;
  };
  const answers = async (...statuses: number[]): Promise<void> => {
    for (const status of statuses) {
      only.behaviour = (_request, response) => respondJson(response, status, status === 200 ? { choices: [] } : {});
      expect((await ask(strict, token, { body: { model: 'health' } })).status).toBe(status);
    }
  };
  await answers(500, 500, 200, 500, 500, 400, 500, 500, 405, 429, 422, 400);
  expect(ejected()).toBe('0');
  for (let round = 0; round < 4; round += 1) {
    only.behaviour = () => undefined;
    only.seen.length = only.cancelled = 0;
    const abort = new AbortController();
    const left = ask(strict, token, { body: { model: 'health' }, signal: abort.signal });
    await untilPassing(() => expect(only.seen).toHaveLength(1));
    abort.abort();
    await expect(left).rejects.toThrow();
    await untilPassing(() => expect(only.cancelled).toBe(1));
  }
  expect(ejected()).toBe('0');
  await answers(500, 500);
  expect(ejected()).toBe('0');
  await answers(500);
  expect(ejected()).toBe('1');
  // It is the only instance, so it is tried anyway, and its answer shows that it is healthy.
  await answers(200);
  expect(ejected()).toBe('0');
  await strict.close();
});
