import { expect, it } from '@jest/globals';
import { OperatorConfigError, parseOperatorConfig } from '@slipway/platform-config';
import { processTarget } from './process-target.js';

const read = (source: string) => parseOperatorConfig(source, [processTarget]);
const problemsOf = (source: string): string[] => {
  try {
    read(source);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};

it('reads an engine and fills in its optional keys', () => {
  expect(
    read('targets: [{name: gpu, kind: process, engines: {llamacpp: {command: [llama-server, "--port", "{port}"]}}}]')
      .targets,
  ).toEqual([
    {
      name: 'gpu',
      kind: 'process',
      max_instances: 16,
      engines: {
        llamacpp: {
          command: ['llama-server', '--port', '{port}'],
          args: {},
          env_allow: [],
          ready: { path: '/health', timeout_seconds: 60 },
        },
      },
    },
  ]);
});

it('names each unknown key by its path', () => {
  const problems = problemsOf(
    'targets: [{name: a, kind: process, max: 1, engines: {e: {command: [x, "{port}"], redy: {}, ready: {route: /}}}}]',
  );
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'targets[0].max',
    'targets[0].engines.e.redy',
    'targets[0].engines.e.ready.route',
  ]);
});

it.each([
  ['engines: {}', /^targets\[0\]\.engines must name at least one/],
  [
    'engines: {e: {command: ["{shell}"]}}',
    /^targets\[0\]\.engines\.e\.command\[0\] uses the unknown placeholder \{shell\}/,
  ],
  [
    'engines: {e: {command: [serve, "--port", "{prot}"]}}',
    /^targets\[0\]\.engines\.e\.command\[2\] uses the unknown placeholder \{prot\}; did you mean \{port\}\?/,
  ],
  [
    'engines: {e: {command: [serve, "{ port }"]}}',
    /command\[1\] uses the unknown placeholder \{ port \}.*did you mean \{port\}\?/,
  ],
  [
    'engines: {e: {command: [serve]}}',
    /^targets\[0\]\.engines\.e\.command must pass \{port\} to the engine, as in \["--port", "\{port\}"\]$/,
  ],
  ['engines: {e: {command: "serve --port {port}"}}', /engines\.e\.command must be a list with one word per element/],
  ['engines: {e: {args: {}}}', /engines\.e\.command must name a program/],
  ['engines: {e: {comand: [serve, "{port}"]}}', /engines\.e\.comand is not a known key; did you mean command\?/],
  ['engines: {e: {command: [serve, "{port}"], env_allow: [SLIPWAY_HOME]}}', /env_allow\[0\] must not be SLIPWAY_HOME/],
  ['engines: {e: {command: ["{model.id}", "{port}"]}}', /command\[0\] must name its program without placeholders/],
  ['engines: {e: {command: []}}', /^targets\[0\]\.engines\.e\.command must name a program/],
  ['engines: {E_: {command: [x]}}', /^targets\[0\]\.engines\.E_ is not a valid engine name/],
  ['engines: {e: {command: [x], args: {n: "--n"}}}', /^targets\[0\]\.engines\.e\.args\.n must contain \{\}/],
  ['engines: {e: {command: [x], env_allow: ["A B"]}}', /^targets\[0\]\.engines\.e\.env_allow\[0\] must match/],
  ['engines: {e: {command: [x], ready: {path: health}}}', /^targets\[0\]\.engines\.e\.ready\.path must match/],
  ['max_instances: 0, engines: {e: {command: [x]}}', /^targets\[0\]\.max_instances/],
])('refuses %s', (entry, expected) => {
  const problems = problemsOf(`targets: [{name: a, kind: process, ${entry}}]`);
  expect(problems.some((problem) => expected.test(problem))).toBe(true);
});

/** An engine with these keys, on a target with those. */
const engineWith = (keys: string, target = '') =>
  problemsOf(`targets: [{name: a, kind: process${target}, engines: {e: {command: [serve, "{port}"], ${keys}}}}]`);

it.each([
  ['args: {n: {arg: "--n={}", typ: integer}}', 'args.n.typ is not a known key; did you mean type?'],
  ['args: {n: {type: integer}}', 'args.n.arg is required'],
  ['args: {n: {arg: --n, type: integer}}', 'args.n must contain {} once, where the value goes'],
  ['args: {n: {arg: [--n, "{}", "{}"]}}', 'args.n.arg must not have more than 2 entries'],
  ['args: {n: {arg: "--n={}", type: switch}}', 'args.n is a switch, so it must not contain {}'],
  [
    'args: {n: {arg: "--n={}", type: text}}',
    'args.n.type must be string or integer or number or choice or switch or json',
  ],
  ['args: {n: {arg: "--n={}", min: 1}}', 'args.n.min is only valid for type integer or number'],
  ['args: {n: {arg: "--n={}", type: number, min: 2, max: 1}}', 'args.n.min must not be above max'],
  [
    'args: {n: {arg: "--n={}", type: integer, at_least: m}}',
    'args.n.at_least must name another numeric argument of this engine',
  ],
  ['args: {n: {arg: "--n={}", type: choice}}', 'args.n.choices is required for type choice and only valid with it'],
  [
    'args: {n: {arg: "--n={}", type: integer, max: 4, default: 5}}',
    'args.n.default has 5, which must be a whole number',
  ],
  ['args: {n: {arg: "--n={}", type: integer, tune: [1, a]}}', 'args.n.tune has "a", which must be a whole number'],
  [
    'args: {n: --n}',
    'args.n must contain {} once, where the value goes; an argument without a value is {arg: "--x", type: switch}',
  ],
  ['args: {r: {arg: --trust-remote-code, type: switch}}', 'args.r must not have --trust-remote-code: it runs the code'],
  ['args: {r: "--trust_remote_code={}"}', 'args.r must not have --trust-remote-code'],
  ['env: {A: "{instance.key}"}', 'env.A uses the unknown placeholder {instance.key}; did you mean {instance_key}?'],
  ['env: {A: 1}', 'env.A must be text: put it in quotes, as in "1"'],
  ['env: {SLIPWAY_HOME: x}', 'env.SLIPWAY_HOME must not be SLIPWAY_HOME, which belongs to Slipway'],
  ['env: {PATH: x}', 'env.PATH must not be set: use path to put folders before it'],
  ['env: {TRUST_REMOTE_CODE: "true"}', 'env.TRUST_REMOTE_CODE must not be TRUST_REMOTE_CODE: it runs the code'],
  ['secret_env: {T: {secret: hub}}', 'secret_env.T.secret refers to a secret that the file does not define: "hub"'],
  ['path: [bin]', 'path[0] must be an absolute path'],
  ['cwd: "{model.uri}"', 'cwd uses the unknown placeholder {model.uri} (known: {home} {instance.dir})'],
  ['user: "root;"', 'user must match'],
  ['limits: {nofile: 1}', 'limits.nofile must be a whole number from 64 to 1048576'],
  ['gpus: {min: 2, max: 1, share: exclusive}', 'gpus.min must not be above max'],
  ['gpus: {min: 1, max: 1}', 'gpus.share is required'],
  ['ready: {while_starting: 404}', 'ready.while_starting must be refused or 503 or either'],
  ['live: {path: health}', 'live.path must match'],
  ['stop: {signal: SIGKILL}', 'stop.signal must be SIGTERM or SIGINT or SIGQUIT, not "SIGKILL"'],
  ['serves: []', 'serves must not be empty'],
  [
    'unknown_model: echoes',
    'identity must state how the engine proves which model it has, because unknown_model is echoes',
  ],
  ['identity: [model_list]', 'identity[0] must be models_list or response_model or a mapping'],
  ['identity: [{path: /i, field: m, equals: "{port}"}]', 'identity[0].equals uses the unknown placeholder {port}'],
  ['model_sources: [models]', 'model_sources[0] must be an absolute path such as /srv/models/**'],
  ['model_sources: ["/srv/../etc/**"]', 'model_sources[0] must have no ".."'],
  ['model_sources: ["/srv/**.gguf"]', 'model_sources[0] must have ** only as a whole folder name'],
  ['model_sources: ["hf:Qwen"]', 'model_sources[0] must be hf: with an organisation and a name'],
  ['prefetch: {command: ["{model.uri}"], timeout_seconds: 1}', 'prefetch.command[0] must name its program without'],
  ['prefetch: {command: [hf]}', 'prefetch.timeout_seconds is required'],
  ['metrics: {path: metrics}', 'metrics.path must match'],
  ['program: other', 'program is only valid for an engine that extends a template; put the program first in command'],
  ['extends: lamacpp', 'extends must be a built-in template, not lamacpp; did you mean llamacpp?'],
  ['extends: builtin', 'extends must be a built-in template, not e (known: vllm'],
  ['extends: llamacpp@2', 'extends must be a built-in template, not llamacpp@2'],
])('refuses %s by its key path', (keys, problem) => {
  expect(engineWith(keys).map((one) => one.slice(0, problem.length + 'targets[0].engines.e.'.length))).toContain(
    `targets[0].engines.e.${problem}`,
  );
});

it.each([
  [', devices: all', 'targets[0].devices must be auto or none or a list'],
  [', devices: [{index: 0}]', 'targets[0].devices[0].memory_mb is required'],
  [', start_parallelism_per_device: 0', 'targets[0].start_parallelism_per_device must be a whole number from 1 to 16'],
  [', engine_defaults: {args: {}}', 'targets[0].engine_defaults.args is not a known key'],
  [', engine_defaults: {env: {A: 1}}', 'targets[0].engine_defaults.env.A must be text'],
])('reports only once: %s', (target, problem) => {
  const problems = engineWith('env_allow: []', target);
  expect(problems).toEqual([expect.stringContaining(problem)]);
});

it('refuses a port without a name and a device count that may be missing, in a command', () => {
  const told = (command: string, keys = '') =>
    problemsOf(`targets: [{name: a, kind: process, engines: {e: {command: [serve, "{port}", ${command}]${keys}}}}]`);
  expect(told('"{port.metrics}"')).toEqual([
    expect.stringContaining('command[2] uses the unknown placeholder {port.metrics}'),
  ]);
  expect(told('"{port.metrics}"', ', ports: [metrics]')).toEqual([]);
  expect(told('"--tp={gpu.count}"')).toEqual([
    expect.stringContaining('command[2] must be a list, or gpus.min must be at least 1'),
  ]);
  expect(told('["--tp={gpu.count}"]')).toEqual([]);
  expect(told('"--trust-remote-code"')).toEqual([expect.stringContaining('it runs the code of the repository')]);
  expect(told('--enable-log-requests')).toEqual([expect.stringContaining('it logs prompts')]);
});

it('accepts an engine that gets its port by a variable, and 503 without quotes', () => {
  const keys = 'command: [ollama, serve], env: {OLLAMA_HOST: "127.0.0.1:{port}"}, ready: {while_starting: 503}';
  const [target] = read(`targets: [{name: a, kind: process, engines: {e: {${keys}}}}]`).targets;
  expect(target).toMatchObject({ engines: { e: { ready: { while_starting: '503' } } } });
});
