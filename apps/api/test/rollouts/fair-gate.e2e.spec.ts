import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Load } from '@slipway/platform-testing/load';
import { Stack, until } from '../harness/stack.js';

/*
 * Five concurrent canaries, each on an engine that slows down with more requests in flight, at about half of its
 * capacity. So the baseline's requests wait for each other and the candidate's hardly do: in the plain averages, a
 * slower candidate looks better than it is.
 * To run it with other numbers: SLIPWAY_TEST_CANARY='{"percent":5,"seconds":600,"stat":"p95","slower":1.3}'.
 */
const BY_HAND = JSON.parse(process.env['SLIPWAY_TEST_CANARY'] ?? '{}') as object;
const { percent, seconds, stat, per_second, ttft_ms, itl_ms, slower } = {
  percent: 15,
  seconds: 45,
  // With so few requests, a p95 would show the hiccups of a busy machine.
  stat: 'avg',
  per_second: 4.9,
  // Eight tokens, so an answer without concurrent ones takes 120 ms.
  ttft_ms: 78,
  itl_ms: 6,
  slower: 2,
  ...BY_HAND,
};
const LIMIT_PERCENT = 20;
const CANARIES = { 'same-1': 1, 'same-2': 1, 'same-3': 1, 'slower-1': slower, 'slower-2': slower };

jest.setTimeout(300_000 + seconds * 1_000);

let stack: Stack;
beforeAll(async () => {
  stack = await Stack.start({ gateway: true });
});
afterAll(() => stack?.stop());

const spec = (slowness: number, seed: number) => ({
  model: { id: 'tiny' },
  runtime: {
    target: 'local',
    engine: 'sim',
    args: { ttft_ms: ttft_ms * slowness, itl_ms: itl_ms * slowness, slowdown: 1, seed },
  },
});

async function rollOut(name: string, body: object): Promise<any> {
  return stack.operation(await stack.rollOut(name, body), undefined, (seconds + 90) * 1_000);
}

async function canary(name: string, slowness: number): Promise<any> {
  await stack.slipway().deployments.create({ name });
  const first = await rollOut(name, { spec: spec(1, 1), strategy: { type: 'immediate' } });
  expect(first).toMatchObject({ status: 'succeeded' });
  const load = new Load(stack.gatewayUrl, stack.token, name, per_second, { isRandom: true, streams: 1 });
  await until('the load is served', async () => load.answers.some(({ status }) => status === 200));
  const check = { check: 'regression', max_regression_percent: LIMIT_PERCENT, min_samples: 10 };
  const record = await rollOut(name, {
    // A different seed, because the same spec is the same revision.
    spec: spec(slowness, 2),
    strategy: {
      type: 'canary',
      steps: [
        { traffic_percent: percent, soak_seconds: seconds },
        { traffic_percent: 100, soak_seconds: 2 },
      ],
    },
    analysis: {
      // The second check sees the samples of the first, and the newer ones.
      metrics: [
        { name: 'e2e_latency_ms', stat, window_seconds: seconds, ...check },
        { name: 'ttft_ms', stat, window_seconds: seconds, ...check },
        { name: 'error_rate', window_seconds: seconds, ...check },
      ],
      on_inconclusive: 'rollback',
    },
  });
  const answers = await load.stop();
  expect(answers.filter(({ status, isCut }) => status !== 200 || isCut)).toEqual([]);
  return record;
}

it('promotes candidates that are as fast as the baseline and none that is slower, on engines that slow down under load', async () => {
  const names = Object.keys(CANARIES) as (keyof typeof CANARIES)[];
  const records = await Promise.all(names.map((name) => canary(name, CANARIES[name])));
  const seen = records.map(({ status, message, result }, index) => {
    // A breach may stop the soak.
    const { verdict, metrics = [] } = result?.analysis?.['soak:1'] ?? result?.analysis?.['analyze:1'] ?? {};
    return { canary: names[index], status, message, verdict, e2e: metrics[0] };
  });
  // The evidence of the decision, for manual runs.
  if (Object.keys(BY_HAND).length > 0) process.stderr.write(`${JSON.stringify(seen)}\n`);
  expect(seen).toEqual(
    seen.map(({ canary }) =>
      canary?.startsWith('same')
        ? expect.objectContaining({ canary, status: 'succeeded', verdict: 'pass' })
        : expect.objectContaining({
            canary,
            status: 'failed',
            // A busy machine may leave no load that both sides had.
            verdict: expect.stringMatching(/^(breached|inconclusive|not_comparable)$/),
          }),
    ),
  );
  for (const { status, e2e } of seen) {
    const { basis } = e2e.compared ?? {};
    // Latency does not fall when an instance gets more requests, so a candidate that is slower with less load, or at any
    // load, needs no correction.
    if (basis === 'less_traffic' || basis === 'any_load') expect(e2e.regression_percent).toBeGreaterThan(LIMIT_PERCENT);
    // A soak that its time to first token has stopped may have found no load that both carried.
    else if (basis || status === 'succeeded') {
      expect(e2e.compared).toMatchObject({ basis: 'equal_load' });
      const byAllPercent = 100 * (e2e.candidate.value / e2e.baseline.value - 1);
      expect(e2e.regression_percent).toBeGreaterThan(byAllPercent);
    }
  }
});
