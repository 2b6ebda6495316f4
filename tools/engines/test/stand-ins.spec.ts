import { afterEach, expect, it } from '@jest/globals';
import { checksOf, isQualified, runCheck } from '@slipway/target-driver/qualification';
import { Agent } from 'undici';
import { beginStream, StandInHost, type Behaviour } from './stand-in-host.js';

// Built-in templates against programs that behave as the engines are documented to.

let host: StandInHost;
const standIn = async (engine: string, behaviour: Behaviour = {}): Promise<StandInHost> =>
  (host = await StandInHost.create(engine, behaviour));
afterEach(() => host.dispose());

const SLOW = { chunks: 40, chunk_ms: 25 };

it.each([
  ['vllm', 'passed', 'whole'],
  ['sglang', 'not_applicable', 'whole'],
  ['llamacpp', 'not_applicable', 'cut'],
  ['tgi', 'not_applicable', 'whole'],
  ['lmdeploy', 'passed', 'cut'],
  ['trtllm', 'not_applicable', 'cut'],
] as const)(
  '%s starts, qualifies, lets a request end as it is known to, and leaves nothing behind',
  async (engine, unknownModel, ending) => {
    await standIn(engine, { ...SLOW, load_ms: 300 });
    const driver = host.driver();
    // TGI has no name but the model's own.
    const spec = host.spec(engine === 'tgi' ? { model: { id: '/models/tiny', uri: '/models/tiny' } } : {});
    await driver.provision(spec);
    const { observed, states } = await host.until('ready', spec);
    expect(states.filter((state) => state !== 'absent')).toEqual(['starting', 'ready']);
    const baseUrl = observed.baseUrl as string;
    await expectQualified(baseUrl, unknownModel);
    const { rest } = await beginStream(baseUrl, spec.model.id);
    await host.gone();
    expect(await rest).toBe(ending);
    // Who drains stands in the template.
    expect(driver.traits(spec)?.drain).toBe(ending === 'whole' ? 'engine' : 'gateway');
    expect(await host.running()).toEqual([]);
  },
  60_000,
);

it.each([
  [['embeddings'], ['embeddings']],
  [['rerank'], ['rerank']],
  [['rerank'], ['embeddings', 'rerank']],
])(
  'tei qualifies with a model for %j under a template that serves %j, and leaves nothing behind',
  async (serves, declared) => {
    await standIn('tei', { serves });
    await host.driver({ serves: declared }).provision(host.spec());
    const { observed } = await host.until('ready');
    await expectQualified(observed.baseUrl as string, 'not_applicable');
    await host.gone();
    expect(await host.running()).toEqual([]);
  },
  60_000,
);

async function expectQualified(baseUrl: string, unknownModel: string): Promise<void> {
  const spec = host.spec();
  const traits = host.driver().traits(spec);
  const model = host.engine === 'tgi' ? spec.model.uri! : spec.model.id;
  const dispatcher = new Agent();
  const target = { baseUrl, model, credential: spec.instanceKey, dispatcher };
  const shown = [];
  for (const name of checksOf(traits))
    shown.push({ name, ...(await runCheck(name, { target, traits, signal: new AbortController().signal })) });
  await dispatcher.destroy();
  expect(shown.filter(({ result }) => result === 'failed')).toEqual([]);
  expect(isQualified(shown)).toBe(true);
  expect(shown.find(({ name }) => name === 'unknown_model')?.result).toBe(unknownModel);
}

it.each([
  ['vllm', 'gpu_memory'],
  ['vllm', 'kv_too_small'],
  ['vllm', 'model_access'],
  ['sglang', 'gpu_memory'],
  ['sglang', 'driver'],
  ['llamacpp', 'gpu_memory'],
  ['llamacpp', 'port_in_use'],
  ['tgi', 'gpu_memory'],
  ['tei', 'port_in_use'],
  ['lmdeploy', 'port_in_use'],
  ['trtllm', 'gpu_memory'],
])(
  '%s that fails with %s says so, in its last lines, and leaves nothing behind',
  async (engine, cause) => {
    await standIn(engine, { fail: cause });
    await host.driver().provision(host.spec());
    const { observed } = await host.until('exited');
    expect(observed.failure).toMatchObject({ cause, exit_code: 1 });
    expect(observed.failure!.log_tail.length).toBeGreaterThan(1);
    await host.gone();
    expect(await host.running()).toEqual([]);
  },
  60_000,
);

it.each([
  ['vllm', '--no-such-option={}', 2],
  ['llamacpp', '--ctx-size={}', 1],
  ['tgi', '--no-such-option={}', 2],
  ['trtllm', '--no-such-option={}', 2],
])(
  '%s refuses %s as it does, and the cause is the argument',
  async (engine, arg, code) => {
    await standIn(engine);
    const spec = host.spec();
    const driver = host.driver({ args: { odd: arg } });
    await driver.provision({ ...spec, runtime: { ...spec.runtime, args: { odd: 4_096 } } });
    const { observed } = await host.until('exited');
    expect(observed.failure).toMatchObject({ cause: 'bad_argument', exit_code: code });
  },
  60_000,
);

it.each(['vllm', 'tgi', 'tei', 'trtllm'])(
  '%s: what it leaves behind when its leader is killed ends too',
  async (engine) => {
    await standIn(engine);
    await host.driver().provision(host.spec());
    const { observed } = await host.until('ready');
    expect(await host.running()).toHaveLength(2);
    process.kill(Number(observed.incarnation), 'SIGKILL');
    await host.until('exited');
    await host.gone();
    expect(await host.running()).toEqual([]);
  },
  60_000,
);

it('vllm that dies with code 0 is over, not well', async () => {
  await standIn('vllm', { crash_after_ms: 200 });
  await host.driver().provision(host.spec());
  const { observed } = await host.until('exited');
  expect(observed.lastExit).toMatchObject({ code: 0 });
}, 60_000);

it('sglang cuts what is under way when its children get the signal, which is why the template signals the leader', async () => {
  await standIn('sglang', SLOW);
  await host.driver({ stop: { to: 'group' } }).provision(host.spec());
  const { observed } = await host.until('ready');
  const { rest } = await beginStream(observed.baseUrl as string, 'tiny');
  await host.gone();
  expect(await rest).toBe('cut');
}, 60_000);
