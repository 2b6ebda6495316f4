import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { keysOf, parseOperatorConfig } from '@slipway/platform-config';
import type { InstanceSpec } from '@slipway/target-driver';
import { builtInNames } from './builtin/index.js';
import { PROCESS_ENGINE } from './engine-schema.js';
import { EngineTemplate } from './engine-template.js';
import type { ProcessTargetConfig } from '../process-driver.js';
import { processTarget } from '../process-target.js';

/** A built-in template as an operator uses it, with only its name or with further keys. */
function template(name: string, more = '', beside = ''): EngineTemplate {
  const engines = `engines: {${name}: {extends: builtin${more}}}`;
  const source = `{targets: [{name: host, kind: process, ${engines}${beside}}], secrets: {hf: {env: HF}}}`;
  const [target] = parseOperatorConfig(source, [processTarget]).targets as ProcessTargetConfig[];
  return new EngineTemplate(name, target!.engines[name]!, '/home/slipway');
}

const spec = (overrides: Partial<InstanceSpec> = {}): InstanceSpec => ({
  instanceId: 'i',
  generation: 1,
  model: { id: 'tiny', uri: '/home/slipway/models/a/tiny.gguf' },
  runtime: { args: {}, env: {} },
  probe: { intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 },
  devices: [
    { uuid: 'GPU-1', index: 2 },
    { uuid: 'GPU-0', index: 0 },
  ],
  instanceKey: 'K',
  ...overrides,
});
const allocation = { port: 1, ports: { metrics: 2, master: 3 }, folder: '/i' };

const COMMON = {
  SPT_NOENV: '1',
  PYTHONUNBUFFERED: '1',
  HF_HUB_OFFLINE: '1',
  HF_HOME: '/home/slipway/hf',
  DO_NOT_TRACK: '1',
  NO_COLOR: '1',
  CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  CUDA_VISIBLE_DEVICES: '2,0',
};
const MODEL = '/home/slipway/models/a/tiny.gguf';

describe.each<[name: string, command: string, env: Record<string, string>]>([
  [
    'vllm',
    `vllm serve ${MODEL} --host=127.0.0.1 --port=1 --served-model-name=tiny --tensor-parallel-size=2 --shutdown-timeout=50 --stream-interval=1 --disable-access-log-for-endpoints=/health,/metrics --gpu-memory-utilization=0.9 --allowed-media-domains=media.invalid`,
    {
      VLLM_NO_USAGE_STATS: '1',
      VLLM_CACHE_ROOT: '/home/slipway/vllm-cache',
      VLLM_API_KEY: 'K',
      VLLM_MEDIA_URL_ALLOW_REDIRECTS: '0',
    },
  ],
  [
    'sglang',
    `python -m sglang.launch_server --model-path=${MODEL} --host=127.0.0.1 --port=1 --served-model-name=tiny --tp-size=2 --enable-metrics --stream-interval=1 --api-key=K`,
    { SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION: '0' },
  ],
  [
    'llamacpp',
    `llama-server --model ${MODEL} --alias tiny --host 127.0.0.1 --port 1 --metrics --no-ui --offline --jinja --parallel 4 --ctx-size 8192 --n-gpu-layers 999`,
    { LLAMA_API_KEY: 'K' },
  ],
  [
    'tgi',
    `text-generation-launcher --model-id=${MODEL} --hostname=127.0.0.1 --port=1 --prometheus-port=2 --master-port=3 --shard-uds-path=/i/shard --num-shard=2 --graceful-termination-timeout=50 --json-output --max-concurrent-requests=128`,
    { API_KEY: 'K' },
  ],
  [
    'tei',
    `text-embeddings-router --model-id=${MODEL} --served-model-name=tiny --hostname=127.0.0.1 --port=1 --prometheus-port=2 --uds-path=/i/backend --json-output --max-batch-tokens=16384 --max-concurrent-requests=512 --max-client-batch-size=32`,
    { API_KEY: 'K' },
  ],
  [
    'lmdeploy',
    `lmdeploy serve api_server ${MODEL} --server-name=127.0.0.1 --server-port=1 --model-name=tiny --tp=2 --api-keys=K --cache-max-entry-count=0.8`,
    {},
  ],
  ['trtllm', `trtllm-serve ${MODEL} --host=127.0.0.1 --port=1 --tp_size=2 --kv_cache_free_gpu_memory_fraction=0.9`, {}],
])('the built-in template %s', (name, command, env) => {
  const engine = template(name);

  it('is valid, and starts exactly this command', () => {
    expect([engine.problems, engine.warnings, engine.check(spec())]).toEqual([[], [], []]);
    const launch = engine.launch(spec(), allocation);
    expect(launch.command).toEqual(command.split(' '));
    expect(launch.env).toEqual({ ...COMMON, ...env });
    expect(launch).toMatchObject({ cwd: '/i', limits: { nofile: 65_536, core_mb: 0 }, secretEnv: {} });
  });

  it('gives its engine enough time to stop, and proves its model', () => {
    const traits = engine.traits(spec());
    expect(engine.stop).toMatchObject({ signal: 'SIGTERM', to: 'leader', graceSeconds: name === 'llamacpp' ? 20 : 60 });
    expect(traits.isKeyed).toBe(name !== 'trtllm');
    expect(traits.identity).not.toEqual([]);
    expect(traits.readyTimeoutSeconds).toBeGreaterThanOrEqual(600);
    expect(engine.describe()).toMatchObject({ template: `${name}@1` });
  });

  it('accepts only models of its own folder until the operator names others', () => {
    for (const uri of ['/etc/passwd', '/home/slipway/models/../x.gguf', 'Qwen/Qwen3-8B', '/home/slipway/secret'])
      expect(engine.check(spec({ model: { id: 'tiny', uri } }))).toMatchObject([{ field: 'model.uri' }]);
  });
});

it.each<[string, InstanceSpec['runtime']['args'], number | undefined]>([
  ['llamacpp', {}, 2_048],
  ['llamacpp', { ctx_size: 8_192, parallel: 1 }, 8_192],
  ['llamacpp', { ctx_size: 100, parallel: 3 }, 33],
  ['vllm', { max_model_len: 4_096 }, 4_096],
  ['vllm', {}, undefined],
])('says how many tokens a request to %s with %j gets', (name, args, tokens) => {
  expect(template(name).traits(spec({ runtime: { args, env: {} } })).contextLength).toBe(tokens);
});

it('promises cache_salt only of the engines that honour it, until the operator says otherwise', () => {
  const names = builtInNames().filter((name) => !name.includes('@'));
  const salted = names.filter((name) => template(name).traits(spec()).hasCacheSalt);
  expect(salted.sort()).toEqual(['sglang', 'vllm']);
  expect(template('vllm', ', cache_salt: false').traits(spec()).hasCacheSalt).toBe(false);
  expect(template('vllm', ', cache_salt: null').traits(spec()).hasCacheSalt).toBe(false);
  expect(template('trtllm', ', cache_salt: true').traits(spec()).hasCacheSalt).toBe(true);
});

it('lets vLLM fetch media from no host until the operator names some, and from those only', () => {
  const launched = (keys: string, args = {}): string[] =>
    template('vllm', keys)
      .launch(spec({ runtime: { args, env: {} } }), allocation)
      .command.filter((word) => /media|example/.test(word));
  const domain = (value: string) => ({ runtime: { args: { allowed_media_domains: value }, env: {} } });
  expect(launched('')).toEqual(['--allowed-media-domains=media.invalid']);
  expect(template('vllm').check(spec(domain('evil.example')))).toHaveLength(1);
  const own = ', args: {allowed_media_domains: {choices: [a.example, b.example], default: a.example}}';
  expect(launched(own)).toEqual(['--allowed-media-domains=a.example']);
  expect(launched(own, { allowed_media_domains: 'b.example' })).toEqual(['--allowed-media-domains=b.example']);
  expect(template('vllm', own).check(spec(domain('evil.example')))).toHaveLength(1);
  expect(launched(', args: {allowed_media_domains: null}')).toEqual([]);
  const warned = expect.stringContaining('engine "vllm" fetches media from every host');
  const open = [': null', ': {default: null}', ': "--allowed-media-domains={}"'];
  for (const opened of open)
    expect(template('vllm', `, args: {allowed_media_domains${opened}}`).warnings).toEqual([warned]);
  const words = ', command: [vllm, "--port={port}", --allowed-media-domains, a.example]';
  for (const limited of ['', own, `${words}, args: {allowed_media_domains: null}`])
    expect(template('vllm', limited).warnings).toEqual([]);
});

it('has a row for each template in this spec, and one for each template and key in the guide', () => {
  expect(builtInNames().filter((name) => !name.includes('@'))).toHaveLength(7);
  const page = readFileSync(new URL('../../../../../docs/guides/engines.md', import.meta.url), 'utf8');
  const rows = [...builtInNames().filter((name) => name.includes('@')), ...keysOf(PROCESS_ENGINE)];
  expect(rows.filter((row) => !page.includes(`\`${row}\``) && !page.includes(`\`${row}: `))).toEqual([]);
});

it('fetches models from a hub, online and with their token, and never a file', () => {
  const sources = 'model_sources: ["hf:Qwen/*", "{home}/models/**"]';
  const engine = template('vllm', `, ${sources}, prefetch: {secret_env: {HF_TOKEN: {secret: hf}}}`);
  const model = { id: 'q', uri: 'Qwen/Qwen3-8B', revision: 'main' };
  expect(engine.check(spec({ model }))).toEqual([]);
  const { command, env, secretEnv, timeoutSeconds } = engine.prefetch(spec({ model }), allocation)!;
  expect(command).toEqual(['hf', 'download', 'Qwen/Qwen3-8B', '--revision=main']);
  expect([env['HF_HUB_OFFLINE'], secretEnv, timeoutSeconds]).toEqual(['0', { HF_TOKEN: 'hf' }, 7_200]);
  expect(engine.launch(spec({ model }), allocation)).toMatchObject({ env: { HF_HUB_OFFLINE: '1' }, secretEnv: {} });
  expect(engine.prefetch(spec(), allocation)).toBeUndefined();
});

it('prefers the defaults of a target to the common ones, and the keys of an engine to both', () => {
  const defaults = ', engine_defaults: {env: {HF_HOME: /mnt/hf, A: b}, stop: {grace_seconds: 30, drain: gateway}}';
  const engine = template('llamacpp', '', defaults);
  expect(engine.launch(spec(), allocation).env).toMatchObject({ HF_HOME: '/mnt/hf', A: 'b', HF_HUB_OFFLINE: '1' });
  expect(engine.stop).toMatchObject({ graceSeconds: 20 });
  expect(template('vllm', '', defaults).stop).toMatchObject({ graceSeconds: 30, drain: 'gateway' });
});

it('is changed key by key: another program, an argument removed, a variable changed or removed', () => {
  const engine = template(
    'llamacpp',
    ', program: /usr/local/bin/llama-server, args: {parallel: null, ctx_size: {default: 512}, seed: {arg: [--seed, "{}"], type: integer}}, env: {LLAMA_API_KEY: null, HF_HOME: /hf}, stop: {grace_seconds: 9}',
  );
  const launch = engine.launch(
    spec({ devices: [], instanceKey: undefined, runtime: { args: { seed: -1 }, env: {} } }),
    allocation,
  );
  expect(launch.command.slice(0, 2)).toEqual(['/usr/local/bin/llama-server', '--model']);
  expect(launch.command.slice(13)).toEqual(['--ctx-size', '512', '--n-gpu-layers', '999', '--seed', '-1']);
  expect(launch.env).toMatchObject({ CUDA_VISIBLE_DEVICES: '', HF_HOME: '/hf' });
  expect(launch.env).not.toHaveProperty('LLAMA_API_KEY');
  expect(engine.stop).toMatchObject({ graceSeconds: 9, drain: 'gateway' });
});
