import { afterEach, expect, it } from '@jest/globals';
import { StandInHost, type Behaviour } from './stand-in-host.js';

// How starts under the built-in templates fail, and which processes engines leave when they end.

let host: StandInHost;
const standIn = async (engine: string, behaviour: Behaviour = {}): Promise<StandInHost> =>
  (host = await StandInHost.create(engine, behaviour));
afterEach(() => host.dispose());

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
  '%s reports the failure %s in its last lines, and leaves nothing running',
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
  '%s refuses the argument %s as the real engine does, and the reported cause is the argument',
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
  '%s: its remaining processes end after its leader is killed',
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

it('vllm that exits with code 0 has ended, and is not healthy', async () => {
  await standIn('vllm', { crash_after_ms: 200 });
  await host.driver().provision(host.spec());
  const { observed } = await host.until('exited');
  expect(observed.lastExit).toMatchObject({ code: 0 });
}, 60_000);
