import { describe, expect, it } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
import fc from 'fast-check';
import type { EngineConfig } from './engine-config.js';
import { EngineTemplate } from './engine-template.js';

const template = new EngineTemplate(
  'sim',
  {
    command: ['node', 'sim.js', '--port', '{port}', '--model={model.id}@{model.uri}', '{"json": {}}', '{home}/x'],
    args: { ttft_ms: '--ttft-ms={}', verbose: '--verbose', label: '--label={}' },
    env_allow: ['API_KEY'],
  },
  '/srv/slipway',
);

type Overrides = { model?: InstanceSpec['model']; args?: Record<string, unknown>; env?: Record<string, unknown> };
const spec = ({ model = { id: 'tiny', uri: 'file:///m' }, args = {}, env = {} }: Overrides = {}) =>
  ({
    instanceId: 'i',
    generation: 1,
    model,
    runtime: { engine: 'sim', args, env },
    probe: {},
  }) as unknown as InstanceSpec;

const commandLine = (of: InstanceSpec, port: number) => template.launch(of, { port, folder: '/f' }).command;

describe('commandLine', () => {
  it('fills the placeholders of each element, and runs the node that runs the worker', () => {
    expect(template.problems).toEqual([]);
    expect(commandLine(spec(), 20_001)).toEqual([
      process.execPath,
      'sim.js',
      '--port',
      '20001',
      '--model=tiny@file:///m',
      '{"json": {}}',
      '/srv/slipway/x',
    ]);
  });
  it('appends arguments in the declared order, switches only if they are true', () => {
    const args = { label: 'a b', verbose: true, ttft_ms: 12.5 };
    expect(commandLine(spec({ args }), 1).slice(7)).toEqual(['--ttft-ms=12.5', '--verbose', '--label=a b']);
    expect(commandLine(spec({ args: { verbose: false } }), 1).slice(7)).toEqual([]);
  });
  it('uses values literally: no placeholder and no pattern in a value is filled', () => {
    const model = { id: '{model.uri} {port}', uri: '$&' };
    expect(commandLine(spec({ model, args: { label: "$& $1 $' {}" } }), 7).slice(4)).toEqual([
      '--model={model.uri} {port}@$&',
      '{"json": {}}',
      '/srv/slipway/x',
      "--label=$& $1 $' {}",
    ]);
  });
});

describe('check', () => {
  it.each<[string, Overrides, string, string]>([
    ['a missing model field that the command needs', { model: { id: 'tiny' } }, 'model.uri', 'required'],
    ['a model that looks like an option', { model: { id: '--help', uri: 'x' } }, 'model.id', 'invalid_value'],
    ['NUL', { model: { id: 'a\0b', uri: 'x' } }, 'model.id', 'invalid_value'],
    ['a line break', { args: { label: 'a\nb' } }, 'runtime.args.label', 'invalid_value'],
    ['no number', { args: { ttft_ms: NaN } }, 'runtime.args.ttft_ms', 'invalid_value'],
    ['an object', { args: { ttft_ms: {} } }, 'runtime.args.ttft_ms', 'invalid_value'],
    ['null', { args: { ttft_ms: null } }, 'runtime.args.ttft_ms', 'invalid_value'],
    ['a value for a switch', { args: { verbose: 'yes' } }, 'runtime.args.verbose', 'invalid_value'],
    ['a very long value', { args: { label: 'x'.repeat(9_000) } }, 'runtime.args.label', 'invalid_value'],
    ['an undeclared argument', { args: { port: 1 } }, 'runtime.args.port', 'not_declared'],
    ['an argument named like a method of objects', { args: { toString: 1 } }, 'runtime.args.toString', 'not_declared'],
    ['a variable that is not allowed', { env: { LD_PRELOAD: '/x' } }, 'runtime.env.LD_PRELOAD', 'not_allowed'],
    ['NUL in a variable', { env: { API_KEY: 'a\0B=c' } }, 'runtime.env.API_KEY', 'invalid_value'],
  ])('refuses %s', (_case, overrides, field, code) => {
    expect(template.check(spec(overrides))).toEqual([{ field, code, message: expect.any(String) }]);
  });
  it('accepts a value that begins with "-" if it cannot become an option', () => {
    expect(template.check(spec({ args: { ttft_ms: -1, label: '--help' } }))).toEqual([]);
  });
  it('accepts valid values', () => {
    expect(
      template.check(spec({ args: { ttft_ms: 0, verbose: false, label: 'a-b' }, env: { API_KEY: '-k' } })),
    ).toEqual([]);
  });
});

const typed = (config: Partial<EngineConfig> = {}) =>
  new EngineTemplate(
    'typed',
    {
      command: ['serve', '--port={port}', ['--revision', '{model.revision}'], '--m={port.metrics}'],
      ports: ['metrics'],
      args: {
        seqs: { arg: ['--seqs', '{}'], type: 'integer', min: -1, max: 64, default: 4 },
        tokens: { arg: '--tokens={}', type: 'integer', at_least: 'seqs' },
        share: { arg: '--share={}', type: 'number', min: 0.05, max: 0.97 },
        cache: { arg: ['--cache', '{}'], type: 'choice', choices: ['f16', 8] },
        caching: { arg: '--caching', off: '--no-caching', type: 'switch' },
        config: { arg: ['--config', '{}'], type: 'json', max_bytes: 40 },
        name: { arg: ['--name', '{}'] },
        ...config.args,
      },
      ...config,
    },
    '/srv/slipway',
  );
const allocation = { port: 1, ports: { metrics: 2 }, folder: '/i' };

describe('typed arguments', () => {
  it('become the declared elements, with defaults for unset values', () => {
    const args = { tokens: 4, share: 0.5, cache: 8, caching: false, config: ' {"a":\n-1}', name: 'x y' };
    expect(typed().check(spec({ args }))).toEqual([]);
    expect(typed().launch(spec({ args }), allocation).command.slice(3)).toEqual([
      ...['--seqs', '4', '--tokens=4', '--share=0.5', '--cache', '8', '--no-caching', '--config', '{"a":-1}'],
      ...['--name', 'x y'],
    ]);
    expect(
      typed()
        .launch(spec({ args: { seqs: -1, caching: true } }), allocation)
        .command.slice(3),
    ).toEqual([...['--seqs', '-1', '--caching']]);
  });

  it.each<[string, unknown, string]>([
    ['seqs', 65, 'must be a whole number, at least -1 and at most 64'],
    ['seqs', 1.5, 'must be a whole number, at least -1 and at most 64'],
    ['seqs', '4', 'must be a whole number, at least -1 and at most 64'],
    ['share', Infinity, 'must be a finite number, at least 0.05 and at most 0.97'],
    ['tokens', 2 ** 60, 'must be a whole number'],
    ['tokens', 3, 'would make tokens (3) less than seqs (4)'],
    ['cache', 'f32', 'must be one of f16, 8'],
    ['caching', 'true', 'must be true or false'],
    ['config', '"--help"', 'must be a JSON object or list as text'],
    ['config', '{', 'must be a JSON object or list as text'],
    ['config', `[${'1,'.repeat(40)}1]`, 'must be a JSON object or list as text, at most 40 bytes'],
    ['config', 7, 'must be a JSON object or list as text, at most 40 bytes'],
    ['name', '--help', 'may not begin with "-"'],
    ['name', -1, 'may not begin with "-"'],
  ])('%s refuses %j', (name, value, message) => {
    expect(typed().check(spec({ args: { [name]: value } }))).toEqual([
      { field: `runtime.args.${name}`, code: 'invalid_value', message },
    ]);
  });

  it('refuse a default that another argument makes too low, and name the field that was set', () => {
    expect(typed({ args: { ...low('seqs') } }).check(spec({ args: { seqs: 9 } }))).toMatchObject([
      { field: 'runtime.args.seqs', message: 'would make low (8) less than seqs (9)' },
    ]);
  });

  it('stay within their elements for any value of a client', () => {
    const engine = typed();
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('--help', '-1', '{}', '{port}', '$&', '[1]', 'f16', '{"a":"\\u0000"}', ' {"-x":1}'),
      fc.integer(),
      fc.double(),
      fc.boolean(),
    );
    const model = fc.record({ id: value, uri: value, revision: fc.option(value, { nil: undefined }) });
    const args = fc.dictionary(fc.constantFrom(...engine.describe().args), value, { maxKeys: 2 });
    let accepted = 0;
    const prove = (given: { model: unknown; args: Record<string, unknown> }) => {
      const one = spec(given as Overrides);
      if (engine.check(one).length > 0) return;
      accepted += 1;
      const { command } = engine.launch(one, allocation);
      const options = command.filter((element) => element.startsWith('-') && !/^-\d/.test(element));
      const known = /^--(port=1|m=2|revision|seqs|tokens=-?\d+|share=[\d.e-]+|cache|caching|no-caching|config|name)$/;
      expect(options.filter((option) => !known.test(option))).toEqual([]);
      expect(new Set(options).size).toBe(options.length);
      // One more element for each option that has two.
      const two = options.filter((option) => /^--(revision|seqs|cache|config|name)$/.test(option)).length;
      expect(command).toHaveLength(1 + options.length + two);
      expect(command.join('')).not.toMatch(/[\0\r\n]/);
    };
    fc.assert(fc.property(fc.record({ model, args }), prove), { numRuns: 1_000, seed: 12 });
    expect(accepted).toBeGreaterThan(100);
  });
});

const low = (other: string) => ({
  [other]: { arg: `--${other}={}`, type: 'integer' as const },
  low: { arg: '--low={}', type: 'integer' as const, default: 8, at_least: other },
});

describe('a start', () => {
  it('omits a group and a variable that have no value', () => {
    const engine = typed({
      env: { REV: '{model.revision}', GPUS: '[{gpu.indices}]' },
      secret_env: { T: { secret: 's' } },
    });
    const { command, env, secretEnv } = engine.launch(spec(), allocation);
    expect(command).toEqual(['serve', '--port=1', '--m=2', '--seqs', '4']);
    expect([env, secretEnv]).toEqual([{ SPT_NOENV: '1', GPUS: '[]' }, { T: 's' }]);
    const revision = { ...spec(), model: { id: 'tiny', revision: 'main' } };
    expect(engine.launch(revision, allocation)).toMatchObject({ env: { REV: 'main' } });
    expect(engine.launch(revision, allocation).command.slice(2, 4)).toEqual(['--revision', 'main']);
    expect(engine.check({ ...revision, model: { id: 'tiny', revision: '-x' } })).toMatchObject([
      { field: 'model.revision' },
    ]);
  });

  it('shows an engine its devices, and none if it gets none', () => {
    const engine = typed({ gpus: { min: 0, max: 2, share: 'exclusive' } });
    const devices = [{ uuid: 'GPU-1', index: 3 }];
    expect(engine.launch({ ...spec(), devices }, allocation).env).toMatchObject({ CUDA_VISIBLE_DEVICES: '3' });
    expect(engine.launch(spec(), allocation).env).toMatchObject({
      CUDA_VISIBLE_DEVICES: '',
      CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
    });
    expect(typed().launch(spec(), allocation).env).not.toHaveProperty('CUDA_VISIBLE_DEVICES');
    expect(engine.check({ ...spec(), resources: { count: 3 } })).toMatchObject([
      { field: 'resources.count', message: 'must be from 0 to 2 for engine "typed"' },
    ]);
  });

  it('fails without a key that the engine needs, or with fewer devices than it needs', () => {
    const keyed = typed({ env: { KEY: '{instance_key}' } });
    expect(keyed.traits(spec()).isKeyed).toBe(true);
    expect(() => keyed.launch(spec(), allocation)).toThrow('{instance_key}');
    expect(keyed.launch({ ...spec(), instanceKey: 'k' }, allocation).env).toMatchObject({ KEY: 'k' });
    const large = typed({ gpus: { min: 2, max: 2, share: 'exclusive' } });
    expect(() => large.launch(spec(), allocation)).toThrow('requires at least 2 devices, but got 0');
  });
});

describe('a script on the command line', () => {
  const problemsOf = (command: EngineConfig['command']) =>
    new EngineTemplate('e', { command }, '/srv/slipway').problems;

  it.each<[EngineConfig['command'], number]>([
    [['sh', '-c', 'exec serve --port {port} --model {model.uri}'], 2],
    [['perl', '-E', 'say q({model.uri}), {port}'], 2],
    [['node', '--print', '{port} + "{model.uri}"'], 2],
    [['python3', '-cprint("{model.uri}", {port})'], 1],
    [['node', '--eval={port} + "{model.uri}"'], 1],
    [['/bin/bash', '--norc', '-euo', 'pipefail', '-c', 'exec serve {port} {model.id}'], 5],
    [['env', 'HF_HUB_OFFLINE=1', 'bash', '-lc', 'serve {port} "{model.id}"'], 4],
    [['tini', '--', ['/usr/bin/dash', '-ec', "serve {port} '{model.revision}'"]], 2],
    [['python3.12', '-W', 'ignore', '-c', 'serve({port}, "{model.id}")'], 4],
    [['node', '--eval', 'serve({port}, `{model.id}`)'], 2],
  ])('must not contain a value of a client: %j', (command, index) => {
    expect(problemsOf(command)).toContain(
      `engine "e": command[${index}] must not contain a placeholder of the model, because a shell would interpret its value: end the script with "$@" and put the placeholder after it`,
    );
  });

  it.each<[EngineConfig['command']]>([
    [['sh', '-c', 'exec serve --port {port} "$@"', 'serve', '{model.uri}']],
    [['bash', '-e', '/srv/start.sh', '{port}', '{model.id}']],
    [['llama-server', '-c', '4096', '--port', '{port}', '--model', '{model.uri}']],
    [['node', 'sim.js', '--port={port}', '-e', '{model.id}']],
    [['python', '-m', 'serve', '-c', '{model.id}', '{port}']],
  ])('may read values as its arguments: %j', (command) => expect(problemsOf(command)).toEqual([]));

  it('is checked in a step that fetches the model, too', () => {
    const prefetch = { command: ['bash', '-c', 'hf download {model.uri}'], timeout_seconds: 1 };
    expect(new EngineTemplate('e', { command: ['serve', '{port}'], prefetch }, '/srv').problems).toEqual([
      expect.stringContaining('prefetch.command[2] must not contain a placeholder of the model'),
    ]);
  });
});

it('by default an engine serves chat, rejects unknown models and needs nothing else', () => {
  expect(template.traits(spec())).toEqual({
    serves: ['chat'],
    unknownModel: 'rejects',
    identity: [],
    hasCacheSalt: false,
    readyTimeoutSeconds: 60,
    isKeyed: false,
    drain: 'gateway',
  });
});

it('describes its arguments, but not how they are passed to the engine', () => {
  expect(typed().describe().declared?.slice(0, 5)).toEqual([
    { name: 'seqs', type: 'integer', min: -1, max: 64, default: 4 },
    { name: 'tokens', type: 'integer', at_least: 'seqs' },
    { name: 'share', type: 'number', min: 0.05, max: 0.97 },
    { name: 'cache', type: 'choice', choices: ['f16', 8] },
    { name: 'caching', type: 'boolean' },
  ]);
});

it('warns of a template in which a client may name any file', () => {
  expect(template.warnings).toEqual([expect.stringContaining('engine "sim" has no model_sources')]);
  expect(typed().warnings).toEqual([]);
});
