import type { ServerResponse } from 'node:http';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Slipway } from '@slipway/sdk';
import { EngineServers } from '../harness/engine-servers.js';
import { Load } from '@slipway/platform-testing/load';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(300_000);

/* How soon a broken candidate is out of traffic: real simulators behind a real gateway, 20 requests a second. */

const SIMULATOR = path.join(ROOT, 'tools/inference-sim/dist/main.js');
const PER_SECOND = 20;
const SOAK_SECONDS = 180;
const PATIENCE_MS = 4_000;
/**
 * A prime number, so that every session has streams too, and enough of them for a share of 5 %: if fewer than three
 * sessions see a fault, the rollout pauses.
 */
const SESSIONS = 397;
/** Requests that the stable revision has answered before the candidate comes. */
const SETTLED = 200;
const CONFIG = { targets: [{ name: 'adopted', kind: 'endpoint', allow: ['http://127.0.0.1:*'] }] };

type Answer = (response: ServerResponse, count: number) => boolean;
const json = (response: ServerResponse, status: number, body: string) =>
  response.writeHead(status, { 'content-type': 'application/json' }).end(body);

/** Faults after the one request that shows that a candidate is ready; false leaves a request to the simulator. */
const FAULTS = {
  'fails every request': (response) => !!json(response, 500, '{"error":{"message":"broken"}}'),
  'fails one of ten requests': (response, count) =>
    count % 10 === 0 && !!json(response, 500, '{"error":{"message":"broken"}}'),
  'refuses the key': (response) => !!json(response, 401, '{"error":{"message":"Invalid API Key"}}'),
  'answers with cut JSON': (response) => !!json(response, 200, '{"id":"chat-1","choices":[{"mess'),
  hangs: () => true,
  'is twice as slow': () => false,
} satisfies Record<string, Answer>;

const TTFT = {
  metrics: [{ name: 'ttft_ms', stat: 'p50', check: 'regression', max_regression_percent: 50, min_samples: 20 }],
};

describe('a candidate', () => {
  let stack: Stack;
  let slipway: Slipway;
  let stableUrl: string;
  const servers = new EngineServers();

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true, config: () => JSON.stringify(CONFIG) });
    slipway = stack.slipway();
    stableUrl = await simulator(100);
  });
  afterAll(async () => {
    servers.stop();
    await stack?.stop();
  });

  async function simulator(ttftMs: number): Promise<string> {
    const flags = { model: 'm', 'ttft-ms': ttftMs, 'itl-ms': 2, tokens: 8 };
    const argv = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    return (await servers.start(process.execPath, (port) => [SIMULATOR, `--port=${port}`, ...argv])).url;
  }

  /** The first chat request shows that the candidate is ready, so it is always answered well. */
  const faulty = (url: string, answer: Answer): Promise<string> =>
    servers.proxyTo(url, (response, { count }) => count > 1 && answer(response, count));

  const specOf = (base_url: string) => ({ model: { id: 'm' }, runtime: { target: 'adopted' }, endpoint: { base_url } });

  it.each([
    ['fails every request', 20, 10, undefined],
    ['fails every request', 5, 30, undefined],
    ['fails one of ten requests', 50, 60, undefined],
    ['refuses the key', 50, 10, undefined],
    ['answers with cut JSON', 50, 10, undefined],
    ['hangs', 50, 60, undefined],
    ['is twice as slow', 50, 60, TTFT],
  ] as const)(
    'that %s with %d %% of the traffic is without traffic after at most %d s',
    async (fault, share, most, analysis) => {
      const name = `${fault.replaceAll(' ', '-').toLowerCase()}-${share}`;
      const url = await faulty(await simulator(fault === 'is twice as slow' ? 200 : 100), FAULTS[fault]);
      await slipway.deployments.create({ name });
      const first = { spec: specOf(stableUrl), strategy: { type: 'immediate' } };
      await slipway.operations.wait(await stack.rollOut(name, first));
      const load = new Load(stack.gatewayUrl, stack.token, name, PER_SECOND, {
        isRandom: true,
        patienceMs: PATIENCE_MS,
        members: (index) => ({ user: `session-${(index * 37) % SESSIONS}` }),
      });
      const hasTraffic = async () => {
        const { targets } = await slipway.deployments.route.get(name);
        return targets.some(({ revision, weight }) => revision === `${name}-00002` && weight > 0);
      };
      try {
        await until('the stable revision has served', async () => load.answers.length > SETTLED, 60_000);
        const steps = [
          { traffic_percent: share, soak_seconds: SOAK_SECONDS },
          { traffic_percent: 100, soak_seconds: 0 },
        ];
        const rollout = { spec: specOf(url), strategy: { type: 'canary', steps }, ...(analysis && { analysis }) };
        const id = await stack.rollOut(name, rollout);
        await until('the candidate has traffic', hasTraffic, 30_000);
        const begin = performance.now();
        await until('it has none', async () => !(await hasTraffic()), 2 * most * 1_000);
        const seconds = (performance.now() - begin) / 1_000;
        expect(await stack.operation(id)).toMatchObject({ status: 'failed', error_code: 'analysis_failed' });
        process.stdout.write(`${name}: ${seconds.toFixed(1)} s\n`);
        expect(seconds).toBeLessThanOrEqual(most);
      } finally {
        await load.stop();
      }
    },
  );
});
