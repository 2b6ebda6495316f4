import { describe, expect, it } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import { engineWith, readTarget, specOf } from '../../test/target-fixture.js';
import { kubernetesSpecIssues } from './spec-check.js';

const config = readTarget();
const runtime = (change: Partial<InstanceSpec['runtime']>) => ({
  runtime: { engine: 'vllm', args: {}, env: {}, ...change },
});

/** Specs that a revision may request. */
it.each<[string, Partial<InstanceSpec>]>([
  ['what it must', {}],
  ['declared arguments', runtime({ args: { max_model_len: -1, quantization: '--x', prefix_caching: true } })],
  ['allowed variables', runtime({ env: { VLLM_LOGGING_LEVEL: 'a\nb;id $(X)' } })],
  ['an allowed variable by reference', runtime({ envRefs: { HF_TOKEN: { secret: 'hf', key: 'token' } } })],
  ['accelerators within what is allowed', { resources: { accelerator: 'h100', count: 4 } }],
  ['all the memory that is allowed', { resources: { accelerator: 'l40s', memory_mb: 98_304 } }],
  ['all the replicas that are allowed', { scaling: { min_replicas: 8, max_replicas: 8 } }],
  ['a group of pods', { ...runtime({ engine: 'vllm-multinode' }), resources: { accelerator: 'h100' } }],
  ['a hostile model', { model: { id: '$(HF_TOKEN);id "\'日本`', revision: 'a' } }],
  [
    'a health path of its own',
    { probe: { path: '/v1/models?x=1', intervalSeconds: 1, timeoutSeconds: 1, failureThreshold: 1 } },
  ],
])('accepts %s', (_case, change) => expect(kubernetesSpecIssues(specOf(change), config)).toEqual([]));

it.each<[string, Partial<InstanceSpec>, string, string]>([
  ['an id that is a path', { instanceId: '../escape' }, 'instance_id', 'invalid_value'],
  ['no generation', { generation: 0 }, 'generation', 'invalid_value'],
  ['a generation without room in a name', { generation: 10_000_000 }, 'generation', 'invalid_value'],
  ['an endpoint', { endpoint: { baseUrl: 'http://x', healthPath: '/' } }, 'endpoint', 'not_applicable'],
  ['a health path with a space', { probe: { ...specOf().probe, path: '/a b' } }, 'probes.path', 'invalid_value'],
  ['no engine', runtime({ engine: undefined as never }), 'runtime.engine', 'required'],
  ['an unknown engine', runtime({ engine: 'toString' }), 'runtime.engine', 'unknown'],
  ['a model without what the command needs', { model: { id: 'x', revision: '' } }, 'model.revision', 'required'],
  ['a model that looks like an option', { model: { id: '--help', revision: 'x' } }, 'model.id', 'invalid_value'],
  ['a line break in a model', { model: { id: 'a\nb', revision: 'x' } }, 'model.id', 'invalid_value'],
  ['an undeclared argument', runtime({ args: { port: 1 } }), 'runtime.args.port', 'not_declared'],
  ['an argument named like a method', runtime({ args: { toString: 1 } }), 'runtime.args.toString', 'not_declared'],
  ['a text for a switch', runtime({ args: { prefix_caching: 'yes' } }), 'runtime.args.prefix_caching', 'invalid_value'],
  [
    'a line break in an argument',
    runtime({ args: { quantization: 'a\nb' } }),
    'runtime.args.quantization',
    'invalid_value',
  ],
  ['NUL in an argument', runtime({ args: { quantization: 'a\0b' } }), 'runtime.args.quantization', 'invalid_value'],
  ['a variable that is not allowed', runtime({ env: { LD_PRELOAD: '/x' } }), 'runtime.env.LD_PRELOAD', 'not_allowed'],
  ['the variable of the key', runtime({ env: { VLLM_API_KEY: 'mine' } }), 'runtime.env.VLLM_API_KEY', 'not_allowed'],
  ['NUL in a variable', runtime({ env: { HF_TOKEN: 'a\0b' } }), 'runtime.env.HF_TOKEN', 'invalid_value'],
  ['a very long variable', runtime({ env: { HF_TOKEN: 'x'.repeat(32_769) } }), 'runtime.env.HF_TOKEN', 'invalid_value'],
  [
    'a reference for a variable that is not allowed',
    runtime({ envRefs: { LD_PRELOAD: { secret: 'hf', key: 'token' } } }),
    'runtime.env.LD_PRELOAD',
    'not_allowed',
  ],
  [
    'a reference to no name',
    runtime({ envRefs: { HF_TOKEN: { secret: '../hf', key: 'token' } } }),
    'runtime.env.HF_TOKEN',
    'invalid_value',
  ],
  [
    'a reference to no key',
    runtime({ envRefs: { HF_TOKEN: { secret: 'hf', key: 'a/b' } } }),
    'runtime.env.HF_TOKEN',
    'invalid_value',
  ],
  ['no accelerator where there are two', { resources: {} }, 'resources.accelerator', 'required'],
  [
    'an accelerator that is not allowed',
    { resources: { accelerator: 'a100' } },
    'resources.accelerator',
    'not_allowed',
  ],
  [
    'more accelerators than are allowed',
    { resources: { accelerator: 'h100', count: 5 } },
    'resources.count',
    'invalid_value',
  ],
  ['no accelerators', { resources: { accelerator: 'l40s', count: 0 } }, 'resources.count', 'invalid_value'],
  ['half an accelerator', { resources: { accelerator: 'l40s', count: 0.5 } }, 'resources.count', 'invalid_value'],
  [
    'more memory than is allowed',
    { resources: { accelerator: 'l40s', memory_mb: 98_305 } },
    'resources.memory_mb',
    'invalid_value',
  ],
  ['no memory', { resources: { accelerator: 'l40s', memory_mb: 0 } }, 'resources.memory_mb', 'invalid_value'],
  [
    'more replicas than are allowed',
    { scaling: { min_replicas: 1, max_replicas: 9 } },
    'scaling.max_replicas',
    'invalid_value',
  ],
  ['an instance beyond them', { owner: { ...specOf().owner!, ordinal: 8 } }, 'scaling.max_replicas', 'invalid_value'],
  [
    'more replicas of a group than are allowed',
    { ...runtime({ engine: 'vllm-multinode' }), resources: {}, scaling: { min_replicas: 1, max_replicas: 3 } },
    'scaling.max_replicas',
    'invalid_value',
  ],
])('refuses %s', (_case, change, field, code) => {
  expect(kubernetesSpecIssues(specOf(change), config)).toEqual([{ field, code, message: expect.any(String) }]);
});

it('refuses an ordinal that is too large for a name', () => {
  const issues = kubernetesSpecIssues(specOf({ owner: { ...specOf().owner!, ordinal: 10_000 } }), config);
  expect(issues).toContainEqual({ field: 'ordinal', code: 'invalid_value', message: expect.any(String) });
});

describe('an engine without accelerators', () => {
  const spec = (resources: InstanceSpec['resources']) =>
    specOf({ runtime: { engine: 'llama-cpp', args: {}, env: {} }, ...(resources && { resources }) });

  it.each([
    [{ accelerator: 'l40s' }, 'resources.accelerator', 'not_allowed'],
    [{ count: 1 }, 'resources.count', 'not_applicable'],
  ])('refuses %j', (resources, field, code) => {
    expect(kubernetesSpecIssues(spec(resources), config)).toEqual([{ field, code, message: expect.any(String) }]);
  });

  it('lets a revision choose its memory only if the engine allows it', () => {
    expect(kubernetesSpecIssues(spec({ memory_mb: 16_384 }), config)).toEqual([]);
    const without = readTarget(engineWith({}));
    const asked = specOf({ runtime: { engine: 'e', args: {}, env: {} }, resources: { memory_mb: 1 } });
    expect(kubernetesSpecIssues(asked, without)).toMatchObject([{ field: 'resources.memory_mb', code: 'not_allowed' }]);
  });
});

it('says which key of the file limits the memory, and how much a pod has without it', () => {
  const messageOf = (memory_mb: number, target = config, engine = 'vllm') =>
    kubernetesSpecIssues(
      specOf({
        runtime: { engine, args: {}, env: {} },
        resources: { ...(engine === 'vllm' && { accelerator: 'l40s' }), memory_mb },
      }),
      target,
    ).map(({ message }) => message);
  expect(messageOf(98_305)).toEqual([
    'must be a whole number of MiB from 1 to 98304, which is allow.memory_mb.max of engine "vllm"',
  ]);
  const limited = readTarget(engineWith({ resources: { limits: { memory: '8Gi' } } }));
  expect(messageOf(1, limited, 'e')).toEqual([
    'engine "e" has 8Gi of memory for each pod, and a revision may not change it: omit memory_mb, or set allow.memory_mb.max of the engine in the configuration of the target',
  ]);
  expect(messageOf(1, readTarget(engineWith({})), 'e')[0]).toContain('has no limit of memory for each pod');
});

describe('the number of accelerators', () => {
  const target = (gpus: object, allow: object) =>
    readTarget(
      engineWith(
        { gpus: { share: 'exclusive', ...gpus }, allow: { accelerators: ['a'], ...allow } },
        { accelerators: { a: { resource: 'gpu', max_count: 3 } } },
      ),
    );
  const codes = (config: ReturnType<typeof readTarget>, resources: object) =>
    kubernetesSpecIssues(specOf({ runtime: { engine: 'e', args: {}, env: {} }, resources }), config).map(
      ({ field }) => field,
    );

  it.each([
    [{ min: 1, max: 8 }, {}, { count: 3 }, []],
    [{ min: 1, max: 8 }, {}, { count: 4 }, ['resources.count']],
    [{ min: 1, max: 8 }, { count: { max: 2 } }, { count: 3 }, ['resources.count']],
    [{ min: 1, max: 2 }, { count: { max: 3 } }, { count: 3 }, ['resources.count']],
    [{ min: 2, max: 3 }, {}, { count: 1 }, ['resources.count']],
    [{ min: 2, max: 3 }, {}, {}, []],
    [{ min: 0, max: 3 }, {}, { count: 0 }, []],
    [{ min: 0, max: 3 }, {}, { accelerator: 'a', count: 0 }, ['resources.count']],
  ])('for an engine with %j and %j is %j', (gpus, allow, resources, expected) => {
    expect(codes(target(gpus, allow), resources)).toEqual(expected);
  });
});
