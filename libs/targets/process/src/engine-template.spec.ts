import { describe, expect, it } from '@jest/globals';
import type { InstanceSpec } from '@slipway/target-driver';
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

describe('commandLine', () => {
  it('fills the blanks of each element, and runs the node that runs the worker', () => {
    expect(template.problems).toEqual([]);
    expect(template.commandLine(spec(), 20_001)).toEqual([
      process.execPath,
      'sim.js',
      '--port',
      '20001',
      '--model=tiny@file:///m',
      '{"json": {}}',
      '/srv/slipway/x',
    ]);
  });
  it('appends arguments in the declared order, switches only when true', () => {
    const args = { label: 'a b', verbose: true, ttft_ms: 12.5 };
    expect(template.commandLine(spec({ args }), 1).slice(7)).toEqual(['--ttft-ms=12.5', '--verbose', '--label=a b']);
    expect(template.commandLine(spec({ args: { verbose: false } }), 1).slice(7)).toEqual([]);
  });
  it('takes values literally: no blank and no pattern in a value is filled', () => {
    const model = { id: '{model.uri} {port}', uri: '$&' };
    expect(template.commandLine(spec({ model, args: { label: "$& $1 $' {}" } }), 7).slice(4)).toEqual([
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
    ['a negative number', { args: { ttft_ms: -1 } }, 'runtime.args.ttft_ms', 'invalid_value'],
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
  it('accepts what it should', () => {
    expect(
      template.check(spec({ args: { ttft_ms: 0, verbose: false, label: 'a-b' }, env: { API_KEY: '-k' } })),
    ).toEqual([]);
  });
});
