import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  BUILT_IN_SETTINGS,
  OperatorConfigError,
  operatorSchema,
  parseOperatorConfig,
  type Schema,
} from '@slipway/platform-config';
import { Ajv } from 'ajv';
import { parse, stringify } from 'yaml';
import { TARGETS } from './targets.js';

const at = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
await Promise.all(TARGETS.map((kind) => kind.load?.()));
const schema = operatorSchema(TARGETS);
const validate = new Ajv({ allowUnionTypes: true }).compile(schema);
const BUILT_IN = { settings: BUILT_IN_SETTINGS, areOn: true };

const problemsOf = (text: string): string[] => {
  try {
    parseOperatorConfig(text, TARGETS, BUILT_IN);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};

it('the schema matches the committed one; `npm run config-schema` renews it', () => {
  expect(JSON.parse(at('libs/platform/config/slipway.config.schema.json'))).toEqual(JSON.parse(JSON.stringify(schema)));
});

const ENGINE = {
  command: ['serve', '--port', '{port}'],
  args: { n: '--n={}' },
  env_allow: ['A'],
  ready: { path: '/h', timeout_seconds: 5 },
};
/** Every key of the grammar. */
const TYPED = {
  command: [
    'serve',
    '--port={port}',
    ['--revision', '{model.revision}'],
    '--metrics-port={port.metrics}',
    '{model.uri}',
  ],
  args: {
    n: { arg: ['--n', '{}'], type: 'integer', min: 1, max: 9, at_least: 'm', default: 2, tune: [2, 4], reason: 'why' },
    m: { arg: '--m={}', type: 'number' },
    kind: { arg: '--kind={}', type: 'choice', choices: ['a', 1], quality: true },
    eager: { arg: '--eager', off: '--lazy', type: 'switch' },
    config: { arg: '--config={}', type: 'json', max_bytes: 100 },
  },
  env: { KEY: '{instance_key}' },
  secret_env: { HF_TOKEN: { secret: 'hub' } },
  path: ['/opt/bin'],
  cwd: '{instance.dir}',
  user: 'engine',
  limits: { nofile: 1024, nice: 5, memory_mb: 1024, core_mb: 0 },
  ports: ['metrics'],
  gpus: { min: 0, max: 2, share: 'fraction' },
  ready: { path: '/h', timeout_seconds: 5, while_starting: '503', log: 'up' },
  live: { path: '/l', interval_seconds: 1, timeout_seconds: 1, failure_threshold: 1 },
  stop: { signal: 'SIGINT', to: 'group', grace_seconds: 1, drain: 'engine', memory_free_within_seconds: 1 },
  serves: ['chat', 'rerank'],
  unknown_model: 'ignores',
  identity: ['models_list', { path: '/info', field: 'a.b', equals: '{model.uri}' }],
  cache_salt: true,
  metrics: { path: '/metrics', running: 'a', waiting: ['b', 'c'], kv_usage: 'd', preemptions: 'e' },
  model_sources: ['/srv/models/**', 'hf:Qwen/*'],
  prefetch: { command: ['hf', 'download', '{model.uri}'], env: { A: '' }, secret_env: {}, timeout_seconds: 9 },
};
const FULL = {
  defaults: true,
  targets: [
    { name: 'gpu', kind: 'process', max_instances: 2, tenants: ['acme'], engines: { vllm: ENGINE } },
    {
      name: 'typed',
      kind: 'process',
      engine_defaults: { env: { A: '1' }, stop: { grace_seconds: 9 } },
      devices: [{ index: 0, uuid: 'GPU-1', memory_mb: 81920 }],
      start_parallelism_per_device: 2,
      engines: {
        typed: TYPED,
        mine: {
          extends: 'llamacpp@1',
          program: '/opt/llama-server',
          args: { parallel: null, ctx_size: { default: 512 } },
        },
        vllm: { extends: 'builtin' },
      },
    },
    {
      name: 'far',
      kind: 'endpoint',
      max_instances: 2,
      tenants: ['*'],
      allow: [{ origin: 'https://*.example.com', tenants: ['acme'] }],
    },
    {
      name: 'cluster',
      kind: 'kubernetes',
      namespaces: { default: 'models', by_tenant: { acme: 'models-acme' } },
      engines: { vllm: { image: 'vllm:1', command: ['serve', '{port}'], port: 8000, env_allow: ['HF_TOKEN'] } },
    },
    { name: 'local', max_instances: 3, engines: { sim: { ready: { timeout_seconds: 9 } } } },
  ],
  secrets: {
    hub: { env: 'HUB', tenants: ['acme'], origins: ['https://hub.example.com'] },
    other: { file: '/run/x' },
    far: { kubernetes: { name: 'hf', key: 'token' }, tenants: ['acme'] },
  },
  outbound: { webhooks: ['http://hooks.internal:8080'], suppliers: [], sandboxes: [] },
  quotas: { webhooks: 1, tenants: { acme: { tokens: 2 } } },
  retention: { events_days: 7, operations_days: 7, tokens_days: 7, statistics_days: 3, usage_days: 400 },
  accelerators: { 'nvidia-l4': { price_per_hour: { amount: 0.8, currency: 'EUR' } } },
};

describe('accepts everything that the readers accept', () => {
  it.each<[string, string]>([
    ['a file with every section', stringify(FULL)],
    ['the Compose file', at('docker/slipway.config.yaml')],
    [
      'the Compose file with every quota',
      at('docker/slipway.config.yaml').replace(/^# (quotas:|  [a-z_]+: \d+)/gm, '$1'),
    ],
    ['the Compose file with its retention', at('docker/slipway.config.yaml').replace(/^# retention:/m, 'retention:')],
    [
      'the Compose file with its prices',
      at('docker/slipway.config.yaml').replace(/^# accelerators:/m, 'accelerators:'),
    ],
    ['what is built in', stringify(BUILT_IN_SETTINGS)],
    ...['configuration', 'guides/adoption', 'guides/engines', 'guides/gpus', 'guides/kubernetes']
      .map((name) => `docs/${name}.md`)
      .flatMap((page) =>
        [...at(page).matchAll(/^```yaml\n(targets:[^`]*)^```$/gm)].map((block, index): [string, string] => [
          `example ${index + 1} of ${page}`,
          block[1]!,
        ]),
      ),
    ['sections of which only the name is left', 'targets:\nsecrets:\noutbound:\nquotas:\nretention:\naccelerators:\n'],
    ['a built-in engine taken away', 'targets: [{name: local, engines: {sim: null, mine: {command: [x, "{port}"]}}}]'],
    [
      'an argument of the simulator',
      'targets: [{name: local, engines: {sim: {args: {seed: null, speed: "--speed={}"}}}}]',
    ],
    ['a built-in name of another kind', 'targets: [{name: local, kind: endpoint, allow: []}]'],
  ])('%s', (_what, text) => {
    expect(problemsOf(text)).toEqual([]);
    expect([validate(parse(text)), validate.errors]).toEqual([true, null]);
  });
});

describe('refuses everything that the readers refuse', () => {
  it.each<[string, string]>([
    ['an engine without {port}', 'targets: [{name: a, kind: process, engines: {e: {command: [x]}}}]'],
    ['an engine without a command', 'targets: [{name: a, kind: process, engines: {e: {}}}]'],
    ['a command that is a text', 'targets: [{name: a, kind: process, engines: {e: {command: "x {port}"}}}]'],
    [
      'an argument with a key too many',
      `targets: [{name: a, kind: process, engines: {e: {command: [x, "{port}"], args: {n: {arg: "-n {}", kind: switch}}}}}]`,
    ],
    ['a template that does not ship', 'targets: [{name: a, kind: process, engines: {e: {extends: builtin2}}}]'],
    ['a signal that ends nothing', 'targets: [{name: local, engines: {sim: {stop: {signal: SIGKILL}}}}]'],
    ['a device without its size', 'targets: [{name: local, devices: [{index: 0}]}]'],
    ['a target without engines', 'targets: [{name: a, kind: process, engines: {}}]'],
    ['a target without a kind', 'targets: [{name: a, allow: []}]'],
    ['a kind that there is not', 'targets: [{name: a, kind: slurm}]'],
    ['a cluster without namespaces', 'targets: [{name: a, kind: kubernetes, engines: {e: {}}}]'],
    ['a key of another kind', 'targets: [{name: a, kind: endpoint, allow: [], engines: {}}]'],
    ['a target without allow', 'targets: [{name: a, kind: endpoint}]'],
    ['a name in capitals', 'targets: [{name: A, kind: endpoint, allow: []}]'],
    ['no place', 'targets: [{name: local, max_instances: 0}]'],
    ['an argument without a blank', 'targets: [{name: local, engines: {sim: {args: {seed: "--seed"}}}}]'],
    ['a secret with two sources', 'secrets: {s: {env: A, file: /b}}'],
    ['a secret with none', 'secrets: {s: {}}'],
    ['a secret of a cluster without its key', 'secrets: {s: {kubernetes: {name: hf}}}'],
    [
      'a secret of a cluster that is sent somewhere',
      'secrets: {s: {kubernetes: {name: hf, key: t}, origins: ["https://h.example"]}}',
    ],
    ['an origin that is none', 'outbound: {webhooks: [hooks.internal]}'],
    ['a price below 0', 'accelerators: {l4: {price_per_hour: {amount: -1, currency: EUR}}}'],
    ['a price without a currency', 'accelerators: {l4: {price_per_hour: {amount: 1}}}'],
    ['an accelerator without a price', 'accelerators: {l4: {}}'],
    ['a quota below its least', 'quotas: {tokens: 0}'],
    ['defaults that are a text', 'defaults: "no"'],
  ])('%s', (_what, text) => {
    expect(problemsOf(text)).not.toEqual([]);
    expect(validate(parse(text))).toBe(false);
  });
});

it('the schema has exactly the keys that the readers know, everywhere', () => {
  const [ENGINE_SCHEMA] = dig(thenOf('process'), 'engines', '*')['anyOf'] as [Schema];
  const nodes: [path: string, schema: Schema][] = [
    ['', schema],
    ['targets[0]', thenOf('process')],
    ['targets[0].engines.vllm', ENGINE_SCHEMA],
    ['targets[0].engines.vllm.ready', dig(ENGINE_SCHEMA, 'ready')],
    ['targets[1].engine_defaults', dig(thenOf('process'), 'engine_defaults')],
    ...['limits', 'ready', 'live', 'stop', 'gpus', 'metrics', 'prefetch'].map((key): [string, Schema] => [
      `targets[1].engines.typed.${key}`,
      dig(ENGINE_SCHEMA, key),
    ]),
    ['targets[2]', thenOf('endpoint')],
    ['targets[2].allow[0]', (dig(thenOf('endpoint'), 'allow')['items'] as { anyOf: Schema[] }).anyOf[1] as Schema],
    ['targets[3]', thenOf('kubernetes')],
    ['targets[3].namespaces', dig(thenOf('kubernetes'), 'namespaces')],
    ['secrets.hub', dig(schema, 'secrets', '*')],
    ['secrets.far.kubernetes', dig(schema, 'secrets', '*', 'kubernetes')],
    ['outbound', dig(schema, 'outbound')],
    ['quotas', dig(schema, 'quotas')],
    ['quotas.tenants.acme', dig(schema, 'quotas', 'tenants', '*')],
    ['accelerators.nvidia-l4', dig(schema, 'accelerators', '*')],
    ['accelerators.nvidia-l4.price_per_hour', dig(schema, 'accelerators', '*', 'price_per_hour')],
  ];
  for (const [path, node] of nodes) {
    const file = structuredClone(FULL) as any;
    const steps = path.split(/[.[\]]+/).filter(Boolean);
    steps.reduce((bag, step) => bag[step], file)['zzzzzz'] = 1;
    const [problem = ''] = problemsOf(stringify(file));
    const known = /\(known here: (.*)\)$/.exec(problem)?.[1]?.split(', ') ?? [];
    expect([path, known.sort()]).toEqual([path, Object.keys(node['properties'] as object).sort()]);
    expect([path, validate(file)]).toEqual([path, false]);
  }
});

/** Finds a schema by the keys of mappings; `*` is any. */
function dig(node: Schema, ...keys: string[]): Schema {
  return keys.reduce<Schema>(
    (one, key) =>
      (key === '*' ? one['additionalProperties'] : (one['properties'] as Record<string, Schema>)[key]) as Schema,
    node,
  );
}

function thenOf(kind: string): Schema {
  const { allOf } = dig(schema, 'targets')['items'] as { allOf: { if?: any; then: Schema }[] };
  return allOf.find((one) => one.if?.properties.kind?.const === kind)?.then as Schema;
}
