import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { BodyOf, Slipway } from '@slipway/sdk';
import { Load, type LoadAnswer } from '@slipway/platform-testing/load';
import { ROOT, Stack, until } from '../harness/stack.js';

jest.setTimeout(120_000);

/** llama.cpp's own server, built by `node tools/llamacpp/build.mjs`; `.ci/nightly` sets it. */
const PROGRAM = process.env['SLIPWAY_TEST_LLAMA_SERVER'];
const REQUESTS_PER_SECOND = 20;
const SLUG = 'acme/tiny';
const PAGE = 'docs/get-started/first-model-server.md';

/**
 * The file on the documentation page, with a host for one instance and an
 * engine with an argument that it does not know.
 */
const config = (): string => {
  const [, file = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync(path.join(ROOT, PAGE), 'utf8')) ?? [];
  const engine = (rest: string) => `engines: {llamacpp: {extends: builtin, program: ${PROGRAM}${rest}}}`;
  return `${file.replace('/opt/llama.cpp/bin/llama-server', PROGRAM as string)}
  - {name: one-place, kind: process, max_instances: 1, ${engine('')}}
  - {name: mistaken, kind: process, ${engine(', args: {made_up: {arg: [--made-up, "{}"]}}')}}
`;
};

const soaking = (traffic_percent: number) => ({ traffic_percent, soak_seconds: 3 });
const lost = (answers: LoadAnswer[]) => answers.filter((one) => one.status !== 200 || one.isCut);
const revisionsOf = (answers: LoadAnswer[]) => new Set(answers.map((one) => one.revision));

(PROGRAM ? describe : describe.skip)('llama.cpp', () => {
  let stack: Stack;
  let slipway: Slipway;
  /** Files of two models, which answer the same question differently. */
  let models: string[];

  beforeAll(async () => {
    stack = await Stack.start({ gateway: true, config });
    slipway = stack.slipway();
    models = [1, 2].map((seed) => {
      const file = path.join(stack.home, `models/tiny-${seed}.gguf`);
      execFileSync(process.execPath, [path.join(ROOT, 'tools/llamacpp/tiny-model.mjs'), file, String(seed)]);
      return file;
    });
  });
  afterAll(async () => {
    await stack?.kill('worker');
    for (const { pid } of engines()) process.kill(pid, 'SIGKILL');
    await stack?.stop();
  });

  /** The engines that this test runs. */
  const engines = (): { pid: number; model: string; port: number }[] =>
    execFileSync('ps', ['-axww', '-o', 'pid=,args='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes('llama-server ') && line.includes(stack.home))
      .map((line) => ({
        pid: Number.parseInt(line, 10),
        model: / --alias (\S+)/.exec(line)?.[1] as string,
        port: Number(/ --port (\d+)/.exec(line)?.[1]),
      }));

  /** One thread: several threads would spin while they wait for each other, and would starve a busy machine. */
  const spec = (id: string, model: 0 | 1, target = 'local', args: object = {}) => ({
    model: { id, uri: models[model] },
    runtime: { target, engine: 'llamacpp', args: { threads: 1, ...args } },
  });

  const rollOut = async (name: string, body: BodyOf<'createRollout'>) =>
    stack.operation(await stack.rollOut(name, body));
  const succeed = async (name: string, body: BodyOf<'createRollout'>) =>
    slipway.operations.wait(await stack.rollOut(name, body));
  const rollBack = async (name: string) =>
    slipway.operations.wait((await slipway.deployments.rollbacks.create(name)).operation.id);

  /** Makes a deployment whose first revision serves. */
  const deploy = async (name: string, target?: string) => {
    await slipway.deployments.create({ name });
    await succeed(name, { spec: spec(`${name}-a`, 0, target), strategy: { type: 'immediate' } });
  };
  /** Returns the result of the work, and the answers to requests during the work and right before it. */
  const underLoad = async <T>(name: string, work: (load: Load) => Promise<T>): Promise<[T, LoadAnswer[]]> => {
    const load = new Load(stack.gatewayUrl, stack.token, name, REQUESTS_PER_SECOND);
    try {
      await until('the load is served', async () => load.answers.length > REQUESTS_PER_SECOND);
      return [await work(load), load.answers];
    } finally {
      await load.stop();
    }
  };
  const ask = async (body: object) => {
    const answer = await fetch(`${stack.gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ max_tokens: 8, messages: [{ role: 'user', content: 'hello' }], ...body }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const activeOf = async (name: string) => (await slipway.deployments.get(name)).active_revision;

  it('its template is tried alone, and qualifies', () => {
    const trial = [path.join(ROOT, 'tools/engines/dist/main.js'), 'try', 'llamacpp', '--model', models[0] as string];
    const told = execFileSync(process.execPath, [...trial, '--program', PROGRAM as string], { encoding: 'utf8' });
    expect(told).toMatch(/unknown_model: ignores\n[^]*metric running: llamacpp:requests_processing\n[^]*\nqualified\n/);
  });

  describe('next to another that serves', () => {
    beforeAll(() => deploy('chat'));

    it('streams its tokens one by one with their usage, to clients of the gateway', async () => {
      const { status, text } = await ask({ model: 'chat', stream: true, stream_options: { include_usage: true } });
      const events = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, event]) => JSON.parse(event as string));
      expect([status, text.trimEnd().endsWith('data: [DONE]')]).toEqual([200, true]);
      expect(events.filter((event) => event.choices[0]?.delta.content)).toHaveLength(8);
      expect(events.at(-1)).toMatchObject({ model: 'chat', usage: { completion_tokens: 8 } });
      const [engine] = engines();
      const direct = await fetch(`http://127.0.0.1:${engine?.port}/v1/models`);
      expect(direct.status).toBe(401);
    });

    it('a canary under load loses no request', async () => {
      const [record, answers] = await underLoad('chat', () =>
        succeed('chat', {
          spec: spec('chat-b', 1),
          strategy: { type: 'canary', steps: [soaking(50), soaking(100)] },
          analysis: { metrics: [{ name: 'error_rate', check: 'threshold', threshold: 0.05, min_samples: 10 }] },
        }),
      );
      expect(record.result).toMatchObject({ outcome: 'promoted' });
      expect(lost(answers)).toEqual([]);
      expect(revisionsOf(answers)).toEqual(new Set(['chat-00001', 'chat-00002']));
    });

    it('a failing gate removes the candidate, and loses no request', async () => {
      const [record, answers] = await underLoad('chat', () =>
        rollOut('chat', {
          spec_patch: { model: { id: 'chat-c' } },
          strategy: { type: 'canary', steps: [soaking(50), soaking(100)] },
          analysis: {
            metrics: [{ name: 'ttft_ms', stat: 'p50', check: 'threshold', threshold: 0.001, min_samples: 5 }],
          },
        }),
      );
      expect(record).toMatchObject({
        status: 'failed',
        error_code: 'analysis_failed',
        result: { outcome: 'reverted' },
      });
      expect(lost(answers)).toEqual([]);
      expect(await activeOf('chat')).toBe('chat-00002');
    });

    it('a rollback under load loses no request', async () => {
      const [, answers] = await underLoad('chat', () => rollBack('chat'));
      expect(lost(answers)).toEqual([]);
      expect(await activeOf('chat')).toBe('chat-00001');
    });

    it('an engine that is killed under load is restarted, and then serves as before', async () => {
      const [servedAgain, answers] = await underLoad('chat', async (load) => {
        const killed = engines().find(({ model }) => model === 'chat-a')?.pid as number;
        process.kill(killed, 'SIGKILL');
        const isBack = () => engines().some(({ model, pid }) => model === 'chat-a' && pid !== killed);
        await until('it serves again', async () => isBack() && lost(load.answers.slice(-5)).length === 0);
        const count = load.answers.length;
        await until('it goes on serving', async () => load.answers.length > count + 2 * REQUESTS_PER_SECOND);
        return count;
      });
      expect(lost(answers.slice(servedAgain))).toEqual([]);
    });

    it('is bound, qualified and published under a slug', async () => {
      const { products, targetBindings, publications } = slipway.admin.modelApi;
      const { id: product_id } = await products.create({ slug: SLUG, display_name: 'Tiny' });
      const target = { deployment: 'chat', revision: 'chat-00001' };
      const { id: binding_id } = await targetBindings.create({ product_id, target });
      await slipway.operations.wait((await targetBindings.qualify(binding_id)).operation.id);
      await publications.create({ product_id, bindings: [{ binding_id, weight: 100, priority: 1 }] });
      await until('it is served', async () => (await ask({ model: SLUG })).status === 200);
    });

    it('an argument that it refuses ends the rollout within 15 seconds, with its own error message', async () => {
      const asked = Date.now();
      const record = await rollOut('chat', {
        spec: spec('chat-d', 0, 'mistaken', { made_up: 'x' }),
        strategy: { type: 'immediate' },
      });
      expect(Date.now() - asked).toBeLessThan(15_000);
      expect(record).toMatchObject({
        status: 'failed',
        error_code: 'target_not_ready',
        message: expect.stringContaining('error: invalid argument: --made-up'),
      });
      const step = record.steps.find(({ name }: { name: string }) => name === 'await_ready');
      expect(step.evidence).toMatchObject({ cause: 'bad_argument', exit_code: 1 });
    });

    it('its output is readable through the API, also the output before it was killed', async () => {
      const { list, logs } = slipway.deployments.instances;
      const { data } = await list('chat');
      const { id } = data.find(({ state, revision }) => state === 'ready' && revision === 'chat-00001')!;
      for (const previous of [false, true]) {
        const answer = await logs('chat', id, { tail: 10_000, previous });
        expect(await answer.text()).toMatch(/llama_server: listening on http:\/\/127\.0\.0\.1:\d+/);
      }
    });
  });

  describe('on a host with capacity for one instance', () => {
    beforeAll(() => deploy('single', 'one-place'));

    it('is recreated under load: requests wait and none is lost', async () => {
      const [record, answers] = await underLoad('single', () =>
        succeed('single', {
          spec: spec('single-b', 1, 'one-place'),
          strategy: { type: 'recreate', steps: [soaking(100)] },
        }),
      );
      expect(record.result).toMatchObject({ outcome: 'promoted', requests_cut: 0, gap_seconds: expect.any(Number) });
      expect(lost(answers)).toEqual([]);
      expect(revisionsOf(answers)).toEqual(new Set(['single-00001', 'single-00002']));
    });

    it('is rolled back under load on the same host, and none is lost', async () => {
      const [, answers] = await underLoad('single', () => rollBack('single'));
      expect(lost(answers)).toEqual([]);
      expect(await activeOf('single')).toBe('single-00001');
    });
  });
});
