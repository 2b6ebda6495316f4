import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { routeFollowers } from '@slipway/dataplane';
import type { Gateway } from '../src/index.js';
import { ask } from './client.js';
import { untilPassing, GatewayInstallation, type TestToken } from './installation.js';
import { respondJson, TestUpstream } from './upstream.js';

let installation: GatewayInstallation;
let gateway: Gateway;
let token: TestToken;
let tenant: string;
let upstreams: [TestUpstream, TestUpstream];

beforeEach(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant);
  upstreams = [await TestUpstream.start('one'), await TestUpstream.start('two')];
  gateway = await installation.gateway({ ejection: { failures: 1_000_000, baseMs: 1, mostMs: 1 } });
});
afterEach(async () => {
  await installation.destroy();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});

async function deployment(name: string, instances: TestUpstream[]): Promise<void> {
  await installation.revision(tenant, name, `${name}-1`, instances);
  const generation = await installation.route(tenant, name, { [`${name}-1`]: 100 });
  await untilPassing(async () =>
    expect(await routeFollowers(installation.db, `dep_${name}`, generation)).toEqual({ gateways: 1, behind: 0 }),
  );
}

const COUNTS = ['ok', 'client_error', 'server_error', 'cancelled', 'upstream_faults', 'attempts'];

/** Returns all usage that a gateway wrote: it writes the open window when it ends. A test may take several windows. */
async function usage(): Promise<Record<string, any>[]> {
  await gateway.close();
  const of = 'tenant_id, token_id, owner_type, owner_id, revision_id, instance_id, slug';
  return installation.sql(
    `select ${of}, ${COUNTS.map((count) => `sum(${count})::int as ${count}`).join()}, sum(duration_ms) as duration_ms,
            sum(mean_in_flight * duration_ms) / sum(duration_ms) as mean_in_flight
       from dataplane_request_usage group by ${of} order by instance_id, slug`,
  );
}

it('a row has the owner and destination of requests, and a failure that a retry hid is only an upstream fault', async () => {
  await deployment('hidden', upstreams);
  upstreams[0].behaviour = (_request, response) => respondJson(response, 503, {});
  // Ties are broken at random.
  let sent = 0;
  await untilPassing(async () => {
    sent += 1;
    expect((await ask(gateway, token, { body: { model: 'hidden' } })).status).toBe(200);
    expect(upstreams[0].seen).toHaveLength(1);
  });
  expect(await usage()).toMatchObject([
    {
      tenant_id: tenant,
      token_id: token.id,
      owner_type: 'person',
      owner_id: 'test',
      revision_id: 'rev_hidden-1',
      instance_id: 'ins_two',
      slug: null,
      ok: sent,
      server_error: 0,
      upstream_faults: 1,
      attempts: sent + 1,
    },
  ]);
});

it('an outcome is what the client saw: refused, cut, or left', async () => {
  await deployment('ill', [upstreams[0]]);
  upstreams[0].behaviour = (_request, response) => respondJson(response, 400, { error: { message: 'no' } });
  await ask(gateway, token, { body: { model: 'ill' } });
  upstreams[0].behaviour = (_request, response) => void response.destroy();
  expect((await ask(gateway, token, { body: { model: 'ill' } })).status).toBeGreaterThanOrEqual(500);
  upstreams[0].cancelled = 0;
  const leaving = new AbortController();
  upstreams[0].behaviour = () => leaving.abort();
  await expect(ask(gateway, token, { body: { model: 'ill' }, signal: leaving.signal })).rejects.toThrow();
  await untilPassing(() => expect(upstreams[0].cancelled).toBe(1));
  expect(await usage()).toMatchObject([{ ok: 0, client_error: 1, server_error: 1, cancelled: 1 }]);
});

it('a latency has the number of requests that shared the instance meanwhile', async () => {
  await deployment('alone', [upstreams[0]]);
  await deployment('shared', [upstreams[1]]);
  const held: (() => void)[] = [];
  upstreams[1].behaviour = (_request, response) => void held.push(() => respondJson(response, 200, { choices: [] }));
  await ask(gateway, token, { body: { model: 'alone' } });
  const startedAt = performance.now();
  const together = Array.from({ length: 4 }, () => ask(gateway, token, { body: { model: 'shared' } }));
  await untilPassing(() => expect(held).toHaveLength(4));
  // Together for so long that their start times do not matter.
  const beginningsMs = performance.now() - startedAt;
  await new Promise((resolve) => setTimeout(resolve, Math.max(200, 5 * beginningsMs)));
  for (const answer of held) answer();
  await Promise.all(together);
  const [alone, shared] = await usage();
  expect(alone).toMatchObject({ instance_id: 'ins_one', ok: 1 });
  // In an answer of a few milliseconds, a pause of this process before or after it counts.
  expect(alone!['mean_in_flight']).toBeGreaterThan(0.5);
  expect(alone!['mean_in_flight']).toBeLessThan(1.5);
  expect(shared).toMatchObject({ instance_id: 'ins_two', ok: 4 });
  expect(shared!['mean_in_flight']).toBeGreaterThan(3);
  expect(shared!['mean_in_flight']).toBeLessThanOrEqual(4);
  expect(shared!['duration_ms']).toBeGreaterThan(4 * 200);
});
