import { afterEach, expect, it } from '@jest/globals';
import { checksOf, isQualified, runCheck } from '@slipway/target-driver/qualification';
import { Agent } from 'undici';
import { beginStream, StandInHost } from './stand-in-host.js';

// Built-in templates against programs that behave as the documentation of the engines says.

let host: StandInHost;
afterEach(() => host.dispose());

it.each([
  ['vllm', 'passed', 'whole'],
  ['sglang', 'not_applicable', 'whole'],
  ['llamacpp', 'not_applicable', 'cut'],
  ['tgi', 'not_applicable', 'whole'],
  ['lmdeploy', 'passed', 'cut'],
  ['trtllm', 'not_applicable', 'cut'],
] as const)(
  '%s starts, qualifies, finishes a request in its documented way, and leaves nothing running',
  async (engine, unknownModel, ending) => {
    host = await StandInHost.create(engine, {}, true);
    const driver = host.driver();
    // TGI has no name except that of the model.
    const spec = host.spec(engine === 'tgi' ? { model: { id: '/models/tiny', uri: '/models/tiny' } } : {});
    await driver.provision(spec);
    const loading = await host.until('starting', spec);
    await host.finishLoading();
    const { observed, states } = await host.until('ready', spec);
    const seen = new Set([...loading.states, ...states]);
    expect([...seen].filter((state) => state !== 'absent')).toEqual(['starting', 'ready']);
    const baseUrl = observed.baseUrl as string;
    await expectQualified(baseUrl, unknownModel);
    const { rest } = await beginStream(baseUrl, spec.model.id);
    await host.gone();
    expect(await rest).toBe(ending);
    // The template declares whether the engine or the gateway drains.
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
  'tei qualifies with a model for %j under a template that serves %j, and leaves nothing running',
  async (serves, declared) => {
    host = await StandInHost.create('tei', { serves });
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

it('sglang cuts requests in progress when its children get the signal, so the template signals only the leader', async () => {
  // Otherwise it would drain for longer than the test may take.
  host = await StandInHost.create('sglang', { chunks: 4_000, chunk_ms: 25 });
  await host.driver({ stop: { to: 'group' } }).provision(host.spec());
  const { observed } = await host.until('ready');
  const { rest } = await beginStream(observed.baseUrl as string, 'tiny');
  await host.gone();
  expect(await rest).toBe('cut');
}, 60_000);
