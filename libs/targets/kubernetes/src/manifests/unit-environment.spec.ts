import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { engineWith, readTarget, specOf, WRITER } from '../../test/target-fixture.js';
import type { EnvVar } from '../api/objects.js';
import { commandOf, environmentOf, isKeyed, literal, secretOf, workerCommandOf } from './unit-environment.js';

/**
 * The kubelet's result for a text: `$(NAME)` becomes the value of a known variable, `$$` becomes one `$`, and anything
 * else stays.
 */
function expanded(text: string, variables: Record<string, string>): string {
  let made = '';
  for (let at = 0; at < text.length; at += 1) {
    const [sign, next] = [text[at], text[at + 1]];
    const end = text.indexOf(')', at);
    if (sign !== '$' || next === undefined) made += sign;
    else if (next === '$') {
      made += '$';
      at += 1;
    } else if (next === '(' && end >= 0) {
      const name = text.slice(at + 2, end);
      made += Object.hasOwn(variables, name) ? variables[name] : `$(${name})`;
      at = end;
    } else made += sign;
  }
  return made;
}

const SECRETS = { HF_TOKEN: 'hf_stolen', SLIPWAY_INSTANCE_KEY: 'the-key', VLLM_API_KEY: 'the-key' };
const HOSTILE = [
  '$(HF_TOKEN)',
  '$$(HF_TOKEN)',
  '$$$(HF_TOKEN)',
  '(HF_TOKEN)',
  'HF_TOKEN)',
  '$',
  '$(',
  '$&',
  "$'",
  '$1',
  ';id',
  '`id`',
  '"',
  "'",
  '{port}',
  '{instance_key}',
  '{}',
  'a b\tc',
  '日本語 🚀',
  '\u202ereversed',
];
const anyValue = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc
    .array(fc.constantFrom('$', '(', ')', '{', '}', 'HF_TOKEN', '-', '\n', ' '), { maxLength: 12 })
    .map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
);

describe('a literal text', () => {
  it('is the original text after the kubelet has expanded it', () => {
    fc.assert(fc.property(anyValue, (text) => expect(expanded(literal(text), SECRETS)).toBe(text)));
  });

  it('is necessary, because a value would name a secret without it', () => {
    expect(expanded('--label=$(HF_TOKEN)', SECRETS)).toBe('--label=hf_stolen');
  });
});

const ECHO = readTarget(
  engineWith({
    command: [
      'serve',
      '--model={model.id}',
      'a{model.uri}b',
      '--port',
      '{port}',
      ['--revision={model.revision}'],
      '--home=$(HOME)',
    ],
    args: { label: '--label={}', pair: ['--pair', '{}'], text: { arg: '--json={}', type: 'json' }, quiet: '--quiet' },
    env: { MODEL: '<{model.id}>', KEY: '{instance_key}', AUTH: 'Bearer {instance_key}', HOME_TOO: '$(HOME)/x' },
    env_allow: ['HF_TOKEN', 'LEVEL'],
  }),
);
const engine = ECHO.engines['e']!;
const echo = (id: string, rest: Record<string, unknown> = {}, env: Record<string, string> = {}) =>
  specOf({ model: { id, uri: id, revision: '' }, runtime: { engine: 'e', args: rest as never, env }, resources: {} });
const valueIn = (env: EnvVar[], name: string) => env.find((one) => one.name === name);

describe('a command', () => {
  it('has each value literally, in the element that is declared for it', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { command, args } = commandOf(echo(value || 'x', { label: value, pair: value, quiet: true }), engine);
        const told = [...command, ...args].map((text) => expanded(text, { ...SECRETS, HOME: '/root' }));
        const model = value || 'x';
        expect(told).toEqual([
          ...['serve', `--model=${model}`, `a${model}b`, '--port', '80', '--home=/root'],
          ...[`--label=${value}`, '--pair', value, '--quiet'],
        ]);
      }),
    );
  });

  it('keeps the content of a JSON value', () => {
    fc.assert(
      fc.property(fc.dictionary(anyValue, anyValue), (value) => {
        const { args } = commandOf(echo('x', { text: JSON.stringify(value) }), engine);
        expect(JSON.parse(expanded(args[0]!, SECRETS).replace('--json=', ''))).toEqual(value);
      }),
    );
  });

  it('has the number of accelerators, and leaves out values that are not set', () => {
    const config = readTarget();
    const spec = specOf({ resources: { accelerator: 'h100', count: 4 } });
    expect(commandOf(spec, config.engines['vllm']!)).toEqual({
      command: [
        'vllm',
        'serve',
        'qwen',
        '--revision',
        'main',
        '--host',
        '0.0.0.0',
        '--port',
        '8000',
        '--shutdown-timeout',
        '120',
      ],
      args: ['--tensor-parallel-size=4'],
    });
    const off = specOf({ runtime: { engine: 'vllm', args: { prefix_caching: false }, env: {} } });
    expect(commandOf(off, config.engines['vllm']!).args).toEqual(['--tensor-parallel-size=1']);
  });

  it('of a group leaves "$@" to the shell, with the values after the script', () => {
    const group = readTarget().engines['vllm-multinode']!;
    const spec = specOf({ runtime: { engine: 'vllm-multinode', args: { max_model_len: 4_096 }, env: {} } });
    const { command, args } = commandOf(spec, group);
    expect(command.slice(0, 2)).toEqual(['sh', '-c']);
    expect(expanded(command[2]!, {})).toContain('--ray_cluster_size="$LWS_GROUP_SIZE" && exec vllm serve "$@"');
    expect([command[4], args]).toEqual(['qwen', ['--max-model-len=4096']]);
    expect(workerCommandOf(spec, group)).toEqual({ command: group.worker_command, args: [] });
  });
});

describe('the environment', () => {
  it('has each value literally, and leaves the operator’s references to the kubelet', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const { env } = environmentOf(echo(value || 'x', {}, { LEVEL: value }), ECHO);
        expect(expanded(valueIn(env, 'MODEL')!.value!, SECRETS)).toBe(`<${value || 'x'}>`);
        expect(expanded(valueIn(env, 'LEVEL')!.value!, SECRETS)).toBe(value);
        expect(valueIn(env, 'HOME_TOO')).toEqual({ name: 'HOME_TOO', value: '$(HOME)/x' });
      }),
    );
  });

  it('has secrets by reference', () => {
    const envRefs = { HF_TOKEN: { secret: 'hf', key: 'token' } };
    const spec = specOf({ runtime: { engine: 'e', args: {}, env: { HF_TOKEN: 'old' }, envRefs } });
    const { env, secret } = environmentOf(spec, ECHO);
    expect(env.filter(({ name }) => name === 'HF_TOKEN')).toEqual([
      { name: 'HF_TOKEN', valueFrom: { secretKeyRef: { name: 'hf', key: 'token' } } },
    ]);
    expect(Object.values(secret)).toEqual(['key-of-this-generation']);
  });

  it('has a variable of the revision once, instead of the engine’s', () => {
    const config = readTarget(engineWith({ env: { LEVEL: 'info' }, env_allow: ['LEVEL'] }));
    const spec = specOf({ runtime: { engine: 'e', args: {}, env: { LEVEL: 'debug' } } });
    expect(environmentOf(spec, config).env).toEqual([{ name: 'LEVEL', value: 'debug' }]);
  });
});

describe('secrets of a unit', () => {
  const spec = echo('x', {}, { HF_TOKEN: 'hf_$(X)' });
  const key = { secretKeyRef: { name: 'slw-chat-00007-0-6789abcd-g1', key: 'instance-key' } };

  it('are in its Secret, and the key comes first among the variables, for texts that use it', () => {
    const { env } = environmentOf(spec, ECHO);
    expect(env[0]).toEqual({ name: 'SLIPWAY_INSTANCE_KEY', valueFrom: key });
    expect(valueIn(env, 'KEY')).toEqual({ name: 'KEY', valueFrom: key });
    expect(expanded(valueIn(env, 'AUTH')!.value!, SECRETS)).toBe('Bearer the-key');
  });

  it('are only the key if Slipway does not manage values', () => {
    const made = secretOf(spec, ECHO, WRITER);
    expect(made).toMatchObject({
      apiVersion: 'v1',
      kind: 'Secret',
      immutable: true,
      type: 'Opaque',
      metadata: {
        name: 'slw-chat-00007-0-6789abcd-g1',
        namespace: 'models',
        labels: { 'slipway.dev/generation': '1' },
      },
    });
    expect(decoded(made?.data)).toEqual({ 'instance-key': 'key-of-this-generation' });
  });

  it('are also all values of a revision if Slipway manages secrets, byte for byte', () => {
    const managed = { ...ECHO, secrets: 'managed' as const };
    fc.assert(
      fc.property(anyValue, (value) => {
        const given = echo('x', {}, { HF_TOKEN: value });
        expect(decoded(secretOf(given, managed, WRITER)?.data)['env.HF_TOKEN']).toBe(value);
        const hidden = { secretKeyRef: { name: 'slw-chat-00007-0-6789abcd-g1', key: 'env.HF_TOKEN' } };
        expect(valueIn(environmentOf(given, managed).env, 'HF_TOKEN')).toEqual({ name: 'HF_TOKEN', valueFrom: hidden });
      }),
    );
  });

  it('do not exist for an engine without a key', () => {
    const config = readTarget(engineWith({}));
    expect(isKeyed(config.engines['e']!)).toBe(false);
    expect(secretOf(specOf({ runtime: { engine: 'e', args: {}, env: {} } }), config, WRITER)).toBeUndefined();
  });

  it('are required, so an engine with a key does not start without one', () => {
    const { instanceKey: _none, ...without } = spec;
    expect(() => environmentOf(without, ECHO)).toThrow(/requires \{instance_key\}, but no key was given/);
  });
});

function decoded(data: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(data).map(([entry, text]) => [entry, Buffer.from(text, 'base64').toString()]),
  );
}
