import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { publishSlug, routeFollowers, type BackendSleep } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask, type TestRequest } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

/** The counts of requests when they come, and of those that no instance could serve. */
let installation: GatewayInstallation;
let gateway: Gateway;
let tenant: string;
let token: TestToken;
let upstream: TestUpstream;

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
  upstream = await TestUpstream.start('one');
  gateway = await installation.gateway();
});
afterAll(async () => {
  await installation.destroy();
  await upstream.stop();
});

async function deployment(name: string, upstreams: readonly TestUpstream[], asleep?: BackendSleep): Promise<void> {
  upstream.behaviour = (request, response) => upstream.answer(request, response);
  await installation.revision(tenant, name, `${name}-1`, upstreams, undefined, asleep);
  await routed(name);
}

async function routed(name: string, hold?: { max_seconds: number; estimated_seconds: number }): Promise<void> {
  const generation = await installation.route(tenant, name, { [`${name}-1`]: 100 }, undefined, hold);
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, `dep_${name}`, generation)).toMatchObject({ behind: 0 }),
  );
}

const chat = (model: string, request: TestRequest = {}, to = gateway) =>
  ask(to, token, { ...request, body: { model, messages: [] } });

/** The sums of what is stored of a revision (or binding). */
const countsOf = async (id: string) => {
  const [sums] = await installation.sql(
    `select coalesce(sum(arrivals), 0)::int as arrivals, coalesce(sum(session_arrivals), 0)::int as sessions,
       coalesce(sum(refused), 0)::int as refused, coalesce(sum((held ->> 'n')::int), 0)::int as held, coalesce(sum(ok), 0)::int as ok
     from dataplane_request_stats where revision_id = $1`,
    [id],
  );
  return sums;
};
const counted = (id: string, expected: Partial<Record<'arrivals' | 'sessions' | 'refused' | 'held' | 'ok', number>>) =>
  untilPassing(async () =>
    expect(await countsOf(id)).toEqual({ arrivals: 0, sessions: 0, refused: 0, held: 0, ok: 0, ...expected }),
  );

it('counts each request once when it comes, however often it is tried, and those that a session binds', async () => {
  await deployment('often', [upstream]);
  let answered = 0;
  upstream.behaviour = (request, response) => {
    if ((answered += 1) === 1) respondJson(response, 503, { error: { message: 'not now' } });
    else upstream.answer(request, response);
  };
  expect((await chat('often')).status).toBe(200);
  expect(answered).toBe(2);
  for (let n = 0; n < 3; n += 1) await chat('often', { headers: { 'x-session-id': 'one' } });
  // The first request of the session was bound by nothing.
  await counted('rev_often-1', { arrivals: 4, sessions: 2, ok: 4 });
});

it('stores an arrival before the request ends', async () => {
  await deployment('slow', [upstream]);
  upstream.behaviour = () => undefined;
  const abort = new AbortController();
  const left = chat('slow', { signal: abort.signal }).catch(() => undefined);
  await counted('rev_slow-1', { arrivals: 1 });
  abort.abort();
  await left;
});

it('counts requests that no instance could serve, also if nothing is published of the revision', async () => {
  await deployment('bare', []);
  expect((await chat('bare')).status).toBe(503);
  await counted('rev_bare-1', { arrivals: 1, refused: 1 });
  await routed('unknown');
  expect((await chat('unknown')).status).toBe(503);
  await counted('rev_unknown-1', { arrivals: 1, refused: 1 });
});

it('counts held requests when they come, and how long they were held when they continue', async () => {
  await deployment('sleepy', [], ASLEEP);
  const answers = [chat('sleepy'), chat('sleepy')];
  await counted('rev_sleepy-1', { arrivals: 2 });
  await installation.revision(tenant, 'sleepy', 'sleepy-1', [upstream]);
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200]);
  await counted('rev_sleepy-1', { arrivals: 2, held: 2, ok: 2 });
});

it('counts requests that were held in vain as refused, but not those whose client left', async () => {
  await deployment('failing', [], ASLEEP);
  const abort = new AbortController();
  const left = chat('failing', { signal: abort.signal }).catch(() => undefined);
  const refused = chat('failing');
  await counted('rev_failing-1', { arrivals: 2 });
  abort.abort();
  await left;
  await installation.revision(tenant, 'failing', 'failing-1', [], undefined, {
    ...ASLEEP,
    failures: 1,
    failure: 'gpu_memory',
  });
  expect((await refused).status).toBe(503);
  await counted('rev_failing-1', { arrivals: 2, refused: 1, held: 2 });
});

it('counts a request that a held route refuses at once, without holding it', async () => {
  await deployment('replaced', [upstream]);
  await routed('replaced', { max_seconds: 60, estimated_seconds: 300 });
  expect((await chat('replaced')).status).toBe(503);
  await counted('rev_replaced-1', { arrivals: 1, refused: 1 });
});

it('counts the requests of a product for its binding and for its revision', async () => {
  await deployment('owned', []);
  await publishSlug(installation.db, {
    slug: 'acme/owned',
    tenantId: tenant,
    productId: 'prd_1',
    bindings: [
      {
        binding_id: 'bnd_1',
        weight: 1,
        priority: 0,
        upstream: { kind: 'revision', deployment_id: 'dep_owned', revision_id: null },
      },
    ],
    audience: { visibility: 'tenant', tenants: [] },
  });
  await untilPassing(async () => expect((await chat('acme/owned')).status).toBe(503));
  await counted('bnd_1', { arrivals: 1, refused: 1 });
  await counted('rev_owned-1', { arrivals: 1, refused: 1 });
  await installation.revision(tenant, 'owned', 'owned-1', [upstream]);
  await untilPassing(async () => expect((await chat('owned')).status).toBe(200));
  const before = await countsOf('bnd_1');
  expect((await chat('acme/owned')).status).toBe(200);
  await counted('bnd_1', { ...(before as object), arrivals: 2, ok: 1 });
});

it('has the requests of an instance that has just become usable apart, unless the gateway found it running', async () => {
  await deployment('young', [upstream]);
  await chat('young');
  const later = await installation.gateway({}, { home: `${installation.home}/later` });
  await chat('young', {}, later);
  const starting = (gatewayId: string) =>
    installation.sql<{ all: number; starting: number | null }>(
      `select (loads #>> '{histograms,e2e_latency_ms,0,n}')::int as all, (starting #>> '{histograms,e2e_latency_ms,0,n}')::int as starting
       from dataplane_request_stats where revision_id = 'rev_young-1' and gateway_id = $1 and ok > 0`,
      [gatewayId],
    );
  await untilPassing(async () => expect(await starting(gateway.id)).toEqual([{ all: 1, starting: 1 }]));
  await untilPassing(async () => expect(await starting(later.id)).toEqual([{ all: 1, starting: null }]));
});
