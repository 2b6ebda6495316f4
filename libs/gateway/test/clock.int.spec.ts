import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Gateway, GatewaySettings } from '../src/index.js';
import { ask } from './client.js';
import { GatewayInstallation, untilPassing, type TestToken } from './installation.js';
import { TestUpstream } from './upstream.js';

const HOUR_MS = 3_600_000;

let installation: GatewayInstallation;
let tenant: string;
let token: TestToken;
let upstreams: [TestUpstream, TestUpstream];

beforeAll(async () => {
  installation = await GatewayInstallation.create();
  tenant = await installation.tenant('acme');
  token = await installation.token(tenant, '1 hour');
  upstreams = [await TestUpstream.start('one'), await TestUpstream.start('two')];
});
afterAll(async () => {
  await installation.destroy();
  await Promise.all(upstreams.map((upstream) => upstream.stop()));
});
afterEach(() => {
  jest.restoreAllMocks();
  for (const upstream of upstreams) upstream.behaviour = (request, response) => upstream.answer(request, response);
});

/** Sets the wall clock of this process, in which the gateways run. */
function setWallClock(wrongMs: number): void {
  jest.restoreAllMocks();
  const now = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => now() + wrongMs);
}

async function serving(name: string, instances: TestUpstream[], settings: Partial<GatewaySettings> = {}) {
  await installation.revision(tenant, name, `${name}-1`, instances);
  await installation.route(tenant, name, { [`${name}-1`]: 100 });
  const gateway = await installation.gateway(settings);
  const status = async (by = token): Promise<number> => (await ask(gateway, by, { body: { model: name } })).status;
  await untilPassing(async () => expect(await status()).toBe(200));
  return { gateway, status };
}

describe.each([
  ['ahead', 2 * HOUR_MS],
  ['behind', -2 * HOUR_MS],
])('a gateway whose wall clock is two hours %s', (direction, wrongMs) => {
  it('writes its statistics and usage at the time of Postgres, and says so', async () => {
    setWallClock(wrongMs);
    const { gateway, status } = await serving(`stats-${direction}`, [upstreams[0]]);
    expect(await status()).toBe(200);
    await gateway.close();
    for (const table of ['dataplane_request_stats', 'dataplane_request_usage'])
      expect(
        await installation.sql(
          `select sum(ok)::int > 1 as has_all, max(abs(extract(epoch from now() - window_start))) < 60 as is_near
           from ${table} where revision_id = $1`,
          [`rev_stats-${direction}-1`],
        ),
      ).toEqual([{ has_all: true, is_near: true }]);
  });

  it('reports the time up to which its statistics are complete by the clock of Postgres', async () => {
    setWallClock(wrongMs);
    const { gateway } = await serving(`until-${direction}`, [upstreams[0]]);
    await untilPassing(async () =>
      expect(
        await installation.sql(
          `select abs(extract(epoch from now() - stats_until)) < 10 as is_near from dataplane_gateways where gateway_id = $1`,
          [gateway.id],
        ),
      ).toEqual([{ is_near: true }]),
    );
  });

  it('refuses a token when it has expired by the clock of Postgres, and not before', async () => {
    setWallClock(wrongMs);
    const { status } = await serving(`tokens-${direction}`, [upstreams[0]]);
    const short = await installation.token(tenant, '2 seconds');
    const expired = await installation.token(tenant, '-1 second');
    expect(await status(expired)).toBe(401);
    const seen = new Set<string>();
    await untilPassing(async () => {
      const answered = await status(short);
      const [{ is_over: isOver }] = (await installation.sql<{ is_over: boolean }>(
        `select expires_at <= now() + interval '1 second' as is_over from api_tokens where id = $1`,
        [short.id],
      )) as [{ is_over: boolean }];
      seen.add(`${answered} ${isOver}`);
      expect([answered, isOver]).toEqual([401, true]);
    });
    expect(seen.has('401 false')).toBe(false);
    expect(await status()).toBe(200);
  });
});

describe('an ejected instance', () => {
  const failOne = (): void => {
    upstreams[0].behaviour = (_request, response) => void response.destroy();
  };

  async function untilEjected(gateway: Gateway, name: string, status: () => Promise<number>): Promise<void> {
    failOne();
    await untilPassing(async () => {
      await status();
      expect(gateway.metrics()).toMatch(new RegExp(`ejected_instances\\{[^}]*revision="${name}-1"\\} 1$`, 'm'));
    });
  }

  it('stays ejected when the wall clock is set ahead', async () => {
    const ejection = { failures: 1, baseMs: 600_000, mostMs: 600_000 };
    const { gateway, status } = await serving('ahead', upstreams, { ejection });
    await untilEjected(gateway, 'ahead', status);
    setWallClock(HOUR_MS);
    upstreams[0].seen.length = 0;
    for (let n = 0; n < 20; n += 1) expect(await status()).toBe(200);
    expect(upstreams[0].seen).toEqual([]);
  });

  it('comes back in time when the wall clock is set back', async () => {
    const ejection = { failures: 1, baseMs: 500, mostMs: 500 };
    const { gateway, status } = await serving('back', upstreams, { ejection });
    await untilEjected(gateway, 'back', status);
    setWallClock(-HOUR_MS);
    upstreams[0].behaviour = (request, response) => upstreams[0].answer(request, response);
    upstreams[0].seen.length = 0;
    await untilPassing(async () => {
      expect(await status()).toBe(200);
      expect(upstreams[0].seen).not.toEqual([]);
    });
  });
});
