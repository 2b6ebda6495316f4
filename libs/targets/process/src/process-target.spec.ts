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

it('reads an engine and fills what may be left out', () => {
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
    'targets: [{name: a, kind: process, max: 1, engines: {e: {command: [x], redy: {}, ready: {route: /}}}}]',
  );
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'targets[0].max',
    'targets[0].engines.e.redy',
    'targets[0].engines.e.ready.route',
  ]);
});

it.each([
  ['engines: {}', /^targets\[0\]\.engines must name at least one/],
  ['engines: {e: {command: ["{shell}"]}}', /^targets\[0\]\.engines\.e\.command\[0\] uses \{shell\}/],
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
