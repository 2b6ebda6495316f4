import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  attemptFailures,
  emptyCounts,
  requestFailures,
  inFlight,
  mean,
  quantile,
  routeFollowers,
  statsBetween,
  statsCompleteUntil,
  type RequestStats,
} from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let tenant: string;
let upstream: TestUpstream;

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

async function deployment(name: string): Promise<void> {
  await installation.revision(tenant, name, `${name}-1`, [upstream]);
  const generation = await installation.route(tenant, name, { [`${name}-1`]: 100 });
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, `dep_${name}`, generation)).toMatchObject({ gateways: 1, behind: 0 }),
  );
}

/** Resolves with the statistics once everything up to now is stored. */
async function stored(name: string): Promise<RequestStats> {
  const now = new Date();
  await untilPassing(async () =>
    expect(((await statsCompleteUntil(installation.db)) ?? new Date(0)).getTime()).toBeGreaterThan(now.getTime()),
  );
  return statsBetween(
    installation.db,
    `rev_${name}-1`,
    new Date(now.getTime() - 60_000),
    new Date(now.getTime() + 1_000),
  );
}

it('measures first token, gaps and whole time of streams, and counts tokens', async () => {
  await deployment('streams');
  upstream.behaviour = (request, response) =>
    upstream.stream(request, response, { firstMs: 60, tokens: 10, gapMs: 15 });
  const startedAt = performance.now();
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => ask(gateway, token, { body: { model: 'streams', stream: true } })),
  );
  const elapsed = performance.now() - startedAt;
  expect(answers.map((answer) => answer.status)).toEqual(new Array(10).fill(200));
  const stats = await stored('streams');
  expect(stats.counts).toEqual({ ...emptyCounts(), ok: 10 });
  expect({
    streamed: stats.streamed,
    out: stats.tokens_out,
    n: [stats.ttft_ms.n, stats.e2e_latency_ms.n, stats.output_tokens_per_s.n],
    timed: [stats.itl_ms.n, stats.longest_gap_ms.n],
  }).toEqual({ streamed: 10, out: 100, n: [10, 10, 10], timed: [10, 10] });
  expect(quantile(stats.ttft_ms, 0.5) as number).toBeGreaterThan(54);
  expect(mean(stats.itl_ms) as number).toBeGreaterThan(13);
  expect(quantile(stats.e2e_latency_ms, 0.5) as number).toBeGreaterThan(190);
  // A busy machine makes all of it slower, but nothing takes longer than the whole did here.
  expect((mean(stats.ttft_ms) as number) + 9 * (mean(stats.itl_ms) as number)).toBeLessThan(elapsed);
  expect(mean(stats.e2e_latency_ms) as number).toBeLessThan(elapsed);
});

it('uses upstream’s usage if it is reported, and measures no first token of an answer that is no stream', async () => {
  await deployment('usage');
  upstream.behaviour = (request, response) => upstream.answer(request, response);
  for (let round = 0; round < 4; round += 1)
    expect((await ask(gateway, token, { body: { model: 'usage' } })).status).toBe(200);
  await ask(gateway, token, { path: '/v1/embeddings', body: { model: 'usage', input: 'x' } });
  const stats = await stored('usage');
  expect(stats.counts.ok).toBe(5);
  expect(stats).toMatchObject({ streamed: 0, tokens_in: 4 * 7 + 3, tokens_out: 4 * 5 });
  expect([stats.ttft_ms.n, stats.itl_ms.n, stats.e2e_latency_ms.n, stats.output_tokens_per_s.n]).toEqual([0, 0, 5, 4]);
});

it('counts attempts by class, retries, and requests that the client left', async () => {
  await deployment('classes');
  const statuses = [200, 400, 500, 503, 200];
  let answered = 0;
  upstream.behaviour = (_request, response) => {
    const status = statuses[answered++] as number;
    respondJson(response, status, status === 200 ? { choices: [] } : { error: { message: 'x' } });
  };
  const seen = [];
  for (let round = 0; round < 4; round += 1)
    seen.push((await ask(gateway, token, { body: { model: 'classes' } })).status);
  // The 503 was retried on the same instance, and the client saw only the 200.
  expect(seen).toEqual([200, 400, 500, 200]);
  upstream.behaviour = (_request, response) => void response.socket?.destroy();
  expect((await ask(gateway, token, { body: { model: 'classes' } })).status).toBe(503);
  upstream.behaviour = () => undefined;
  const abort = new AbortController();
  const left = ask(gateway, token, { body: { model: 'classes' }, signal: abort.signal });
  await untilPassing(async () => expect(await inFlight(installation.db, 'rev_classes-1')).toBe(1));
  abort.abort();
  await expect(left).rejects.toThrow();
  await untilPassing(async () => expect(await inFlight(installation.db, 'rev_classes-1')).toBe(0));
  const { counts } = await stored('classes');
  expect(counts).toEqual({
    ...emptyCounts(),
    ok: 2,
    client_error: 1,
    server_error: 2,
    connect_error: 3,
    cancelled: 1,
    retried: 3,
  });
  expect(attemptFailures(counts)).toEqual({ failed: 5, of: 8 });
  // Five requests: 200, 400, 500, 200, 503.
  expect(requestFailures(counts)).toEqual({ failed: 2, of: 5 });
});

it('repeats an unchanged count often enough to stay valid, and removes itself at the end', async () => {
  await deployment('held');
  upstream.behaviour = () => undefined;
  const leaving = await installation.gateway({ drainMs: 100 });
  const held = ask(leaving, token, { body: { model: 'held' } });
  await untilPassing(async () => expect(await inFlight(installation.db, 'rev_held-1')).toBe(1));
  await installation.sql(
    `update dataplane_inflight set updated_at = now() - interval '4 seconds' where revision_id = 'rev_held-1'`,
  );
  await untilPassing(async () => {
    const [row] = await installation.sql<{ age: number }>(
      `select extract(epoch from clock_timestamp() - updated_at)::float8 as age from dataplane_inflight where revision_id = 'rev_held-1'`,
    );
    expect(row?.age).toBeLessThan(2);
  });
  await Promise.all([expect(held).resolves.toMatchObject({ status: 503 }), leaving.close()]);
  expect(await installation.sql('select 1 from dataplane_gateways where gateway_id = $1', [leaving.id])).toEqual([]);
  expect(await inFlight(installation.db, 'rev_held-1')).toBe(0);
  expect(
    await installation.sql(
      `select sum(cancelled + abandoned)::int as left from dataplane_request_stats where revision_id = 'rev_held-1'`,
    ),
  ).toEqual([{ left: 1 }]);
});

it('notes that a token was used', async () => {
  const [row] = await untilPassing(async () => {
    const rows = await installation.sql<{ is_noted: boolean }>(
      'select last_used_at is not null as is_noted from api_tokens where id = $1',
      [token.id],
    );
    expect(rows[0]?.is_noted).toBe(true);
    return rows;
  }, 25_000);
  expect(row).toEqual({ is_noted: true });
});
