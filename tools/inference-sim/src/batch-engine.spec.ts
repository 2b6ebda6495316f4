import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterEach, expect, it } from '@jest/globals';
import { BatchEngine } from './batch-engine.js';
import type { SimulatorOptions } from './flags.js';
import { DEFAULT_ITERATION } from './iteration-settings.js';
import { startSimulator, type Simulator } from './simulator.js';

const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.stop()));
});

async function start(given: Partial<SimulatorOptions>): Promise<Simulator> {
  const simulator = await startSimulator({ port: 0, model: 'm', seed: 1, ...given });
  running.push(simulator);
  return simulator;
}

const post = (
  { url }: Simulator,
  body: object,
  { path = 'completions', signal }: { path?: string; signal?: AbortSignal } = {},
): Promise<Response> =>
  fetch(`${url}/v1/${path}`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', ...body }),
    ...(signal && { signal }),
  });

const metricsOf = async ({ url }: Simulator): Promise<string[]> =>
  (await (await fetch(`${url}/metrics`)).text()).split('\n');

async function eventually(simulator: Simulator, ...expected: string[]): Promise<void> {
  const deadline = Date.now() + 20_000;
  let lines: string[] = [];
  while (!expected.every((line) => lines.includes(line)) && Date.now() < deadline) lines = await metricsOf(simulator);
  expect(lines).toEqual(expect.arrayContaining(expected));
}

/** A request that stays in the batch until it is aborted. */
const endless = { prompt: 'x'.repeat(400), stream: true };

it('requests wait for a slot in the batch, and get it when the client of another leaves', async () => {
  const simulator = await start({ stepMs: 5, maxNumSeqs: 1, kvTokens: 100_200, tokens: 100_000 });
  await eventually(simulator, 'inference_sim_requests_running 0', 'inference_sim_preemptions_total 0');
  const abort = new AbortController();
  const first = (await post(simulator, endless, { signal: abort.signal })).body!.getReader();
  await first.read();

  const others = [
    post(simulator, { prompt: 'hello', max_tokens: 3 }),
    post(simulator, { prompt: 'hello', max_tokens: 3, stream: true }),
    post(simulator, { input: 'hello' }, { path: 'embeddings' }),
  ];
  await eventually(simulator, 'inference_sim_requests_running 1', 'inference_sim_requests_waiting 3');
  const usage = /^inference_sim_kv_cache_usage_ratio (.*)$/m.exec((await metricsOf(simulator)).join('\n'))![1];
  expect(Number(usage)).toBeGreaterThan(100 / 100_200);
  abort.abort();
  const [whole, stream, embedding] = await Promise.all(others);
  expect(((await whole!.json()) as { usage: object }).usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 3 });
  expect((await stream!.text()).match(/"finish_reason":null/g)).toHaveLength(3);
  expect(embedding!.status).toBe(200);
  await eventually(
    simulator,
    'inference_sim_requests_running 0',
    'inference_sim_requests_waiting 0',
    'inference_sim_kv_cache_usage_ratio 0',
    'inference_sim_requests_aborted_total 1',
  );
});

it('a waiting request whose client leaves never begins', async () => {
  const simulator = await start({ stepMs: 5, maxNumSeqs: 1, tokens: 100_000 });
  const [first, second] = [new AbortController(), new AbortController()];
  await (await post(simulator, endless, { signal: first.signal })).body!.getReader().read();
  const waiting = post(simulator, endless, { signal: second.signal });
  await eventually(simulator, 'inference_sim_requests_waiting 1');
  second.abort();
  await expect(waiting).rejects.toThrow();
  await eventually(simulator, 'inference_sim_requests_running 1', 'inference_sim_requests_waiting 0');
  first.abort();
  await eventually(simulator, 'inference_sim_requests_running 0');
});

it('ends the wait for a whole answer when its client leaves', async () => {
  const engine = new BatchEngine({ ...DEFAULT_ITERATION, stepMs: 60_000, seed: 1 });
  const response = new EventEmitter() as ServerResponse;
  const generated = engine.generate(response, { promptTokens: 1, tokens: 1 }, () => true);
  expect(engine.running).toBe(1);
  response.emit('close');
  await generated;
  expect(engine.running).toBe(0);
});

it('takes the time of its iterations, and no token comes early', async () => {
  const simulator = await start({ stepMs: 20, tokenUs: 1_000, tokens: 4 });
  const startedAt = performance.now();
  const response = await post(simulator, { prompt: 'x'.repeat(400), stream: true });
  const tookMs = (): number => performance.now() - startedAt;
  // The first requests since the start take three times as long, and iterations vary by 5 %.
  const least = (ms: number): number => 3 * 0.95 * ms;
  expect(tookMs()).toBeGreaterThanOrEqual(least(20 + 100));
  await response.text();
  expect(tookMs()).toBeGreaterThanOrEqual(least(20 + 100 + 3 * 21));
});

it('refuses a request that the cache can never hold, and counts none of its tokens', async () => {
  const simulator = await start({ kvTokens: 100, tokens: 16 });
  for (const [path, body] of [
    ['completions', { prompt: 'x'.repeat(400), stream: true }],
    ['embeddings', { input: 'x'.repeat(400) }],
  ] as const) {
    const response = await post(simulator, body, { path });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code: 'context_length_exceeded' } });
  }
  expect((await post(simulator, { prompt: 'x'.repeat(320) })).status).toBe(200);
  expect(await metricsOf(simulator)).toContain('inference_sim_prompt_tokens_total 80');
});

it('reports nothing of a batch or a cache that it does not have', async () => {
  const [plain, unlimited] = [await start({}), await start({ stepMs: 1 })];
  const names = async (simulator: Simulator): Promise<string> => (await metricsOf(simulator)).join('\n');
  expect(await names(plain)).not.toMatch(/_running|_waiting|_preemptions|_kv_/);
  expect(await names(unlimited)).toMatch(/inference_sim_requests_waiting 0/);
  expect(await names(unlimited)).not.toContain('kv_cache');
});
