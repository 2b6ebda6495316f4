import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, it } from '@jest/globals';
import { StandInHost, untilTrue } from '../test/stand-in-host.js';
import { assertModelExists, chooseEngine, located } from './engine-choice.js';
import { tryEngine } from './engine-trial.js';
import { readCommand, UsageError, type TryOptions } from './options.js';

let host: StandInHost;
afterEach(() => host?.dispose());

const optionsOf = (...argv: string[]): TryOptions => {
  const command = readCommand(['try', ...argv, '--program', host.program]);
  if (command.name !== 'try') throw new Error('is no trial');
  return command.options;
};

async function attempt(options: TryOptions, signal = new AbortController().signal, heard = (_line: string) => {}) {
  const lines: string[] = [];
  const say = (line: string): void => {
    lines.push(line);
    heard(line);
  };
  const isGood = await tryEngine(await chooseEngine(options), options, { home: host.home, say, signal });
  return { isGood, said: lines.join('\n') };
}

it('reports what an engine does from its start to its stop', async () => {
  host = await StandInHost.create('llamacpp', {}, true);
  const { isGood, said } = await attempt(
    optionsOf('llamacpp', '--model', '/models/tiny.gguf', '--arg', 'ctx_size=512'),
    new AbortController().signal,
    (line) => {
      if (/s {2}loading/.test(line)) void host.finishLoading();
    },
  );
  expect(isGood).toBe(true);
  for (const line of [/s {2}started/, /s {2}loading/, /s {2}ready/, /^qualified$/m, /^stopped after/m])
    expect(said).toMatch(line);
  expect(said).toContain('unknown_model: ignores\nmodels: tiny\n');
  expect(said).toContain('metric running: llamacpp:requests_processing');
  expect(await host.running()).toEqual([]);
}, 60_000);

it("tries the operator's file with the models of its installation, wherever the command is typed", async () => {
  host = await StandInHost.create('llamacpp');
  const models = path.join(host.home, '.slipway/models');
  mkdirSync(models, { recursive: true });
  writeFileSync(path.join(models, 'tiny.gguf'), '');
  const sources = '["{home}/models/**/*.gguf", "/srv/models/**/*.gguf"]';
  const engine = `{extends: builtin, program: ${JSON.stringify(host.program)}, model_sources: ${sources}}`;
  const file = `targets: [{name: local, kind: process, engines: {llamacpp: ${engine}}}]`;
  writeFileSync(path.join(host.home, 'slipway.config.yaml'), file);
  const typed = (...argv: string[]) => optionsOf('llamacpp', '--config', 'slipway.config.yaml', ...argv);
  const here = { cwd: host.home };
  const relative = located(typed('--model', '.slipway/models/tiny.gguf'), here);
  expect(relative.model.uri).toBe(path.join(models, 'tiny.gguf'));
  expect((await attempt(relative)).isGood).toBe(true);
  const elsewhere = located(typed('--model', path.join(models, 'tiny.gguf')), { ...here, home: '/srv/other' });
  expect((await attempt(elsewhere)).said).toContain('refused: model.uri is outside the model sources');
  // The name of a hub is no path.
  expect(located(typed('--model', 'Qwen/Qwen3-0.6B'), here).model.uri).toBe('Qwen/Qwen3-0.6B');
}, 60_000);

it('reports differences between an engine and its template', async () => {
  host = await StandInHost.create('llamacpp');
  const options = optionsOf('llamacpp', '--model', '/models/tiny.gguf');
  const { target } = await chooseEngine(options);
  target.engines['llamacpp']!.unknown_model = 'rejects';
  const lines: string[] = [];
  const signal = new AbortController().signal;
  const isGood = await tryEngine({ target }, options, {
    home: host.home,
    say: (line) => void lines.push(line),
    signal,
  });
  expect(isGood).toBe(false);
  expect(lines).toEqual(expect.arrayContaining(['unknown_model: ignores (declared: rejects)', 'not qualified']));
}, 60_000);

it('reports why a start failed, with the last lines', async () => {
  host = await StandInHost.create('llamacpp', { fail: 'gpu_memory' });
  const { isGood, said } = await attempt(optionsOf('llamacpp', '--model', '/models/tiny.gguf'));
  expect(isGood).toBe(false);
  expect(said).toContain('cause: gpu_memory\n');
  expect(said).toContain('  main: exiting due to model loading error');
}, 60_000);

it('leaves nothing running when it is stopped while the engine loads', async () => {
  host = await StandInHost.create('vllm', { load_ms: 60_000 });
  const ended = new AbortController();
  const trial = attempt(optionsOf('vllm', '--model', '/models/tiny', '--gpus', '0'), ended.signal);
  await untilTrue('the engine and its child run', async () => (await host.running()).length === 2);
  ended.abort();
  expect((await trial).isGood).toBe(false);
  expect(await host.running()).toEqual([]);
}, 60_000);

it('refuses what would fail later: too few devices, an undeclared argument', async () => {
  host = await StandInHost.create('vllm');
  const { said } = await attempt(optionsOf('vllm', '--model', '/models/tiny', '--arg', 'nope=1'));
  expect(said).toContain('refused: runtime.args.nope');
  expect(said).toContain('refused: --gpus must name at least 1');
  expect(await host.running()).toEqual([]);
});

it.each([[['try']], [['try', 'vllm']], [['try', 'vllm', '--model', 'm', '--gpus', 'a']], [['trie']], [[]], [['--x']]])(
  'does not guess what %j means',
  (argv) => {
    expect(() => readCommand(argv)).toThrow(UsageError);
  },
);

it('refuses a file of the operator and a model that are not there, in one line', async () => {
  host = await StandInHost.create('llamacpp');
  const here = { cwd: host.home };
  const typed = (...argv: string[]) => located(optionsOf('llamacpp', ...argv), here);
  for (const config of ['gone.yaml', '.'])
    await expect(chooseEngine(typed('--model', 'a/b', '--config', config))).rejects.toThrow(
      new RegExp(`^--config ${path.join(host.home, config)} cannot be read: E[^\\n]+$`),
    );
  writeFileSync(path.join(host.home, 'tiny.gguf'), '');
  for (const model of ['tiny.gguf', path.join(host.home, 'tiny.gguf'), host.home, 'Qwen/Qwen3-0.6B'])
    expect(() => assertModelExists(typed('--model', model))).not.toThrow();
  for (const model of ['gone.gguf', '/gone/model'])
    expect(() => assertModelExists(typed('--model', model))).toThrow(UsageError);
});
