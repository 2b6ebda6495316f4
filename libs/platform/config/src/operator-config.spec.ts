import { describe, expect, it } from '@jest/globals';
import { DEFAULT_OPERATOR_CONFIG } from './default-operator-config.js';
import { OperatorConfigError, parseAllowPattern, parseOperatorConfig } from './index.js';

const problemsOf = (source: string): string[] => {
  try {
    parseOperatorConfig(source);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};

describe('parseOperatorConfig', () => {
  it('reads an engine and fills what may be left out', () => {
    expect(
      parseOperatorConfig(
        'targets: [{name: gpu, kind: process, engines: {llamacpp: {command: [llama-server, "--port", "{port}"]}}}]',
      ),
    ).toEqual({
      targets: [
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
      ],
      secrets: {},
    });
  });

  it('the embedded default is valid and lets no client choose where the simulator writes', () => {
    const [local] = parseOperatorConfig(DEFAULT_OPERATOR_CONFIG).targets;
    if (local?.kind !== 'process') throw new Error('expected a process target');
    expect(local.engines['sim']?.command).toContain('{home}/sim-starts.log');
    expect(Object.keys(local.engines['sim']?.args ?? {})).not.toContain('start_log');
  });

  it('names each unknown key by its path', () => {
    const problems = problemsOf(
      'target: []\ntargets: [{name: a, kind: process, max: 1, engines: {e: {command: [x], redy: {}, ready: {route: /}}}}]',
    );
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'target',
      'targets[0].max',
      'targets[0].engines.e.redy',
      'targets[0].engines.e.ready.route',
    ]);
  });

  it.each([
    ['targets: [{name: A_b, kind: endpoint, allow: []}]', /^targets\[0\]\.name must match/],
    [
      'targets: [{name: a, kind: endpoint, allow: []}, {name: a, kind: endpoint, allow: []}]',
      /^targets\[1\]\.name repeats/,
    ],
    ['targets: [{name: a, kind: kubernetes}]', /^targets\[0\]\.kind must be process or endpoint/],
    ['targets: [{name: a, kind: endpoint, allow: ["http://h/path"]}]', /^targets\[0\]\.allow\[0\] must be an origin/],
    ['targets: [{name: a, kind: process, engines: {}}]', /^targets\[0\]\.engines must name at least one/],
    [
      'targets: [{name: a, kind: process, engines: {e: {command: ["{shell}"]}}}]',
      /^targets\[0\]\.engines\.e\.command\[0\] uses \{shell\}/,
    ],
    [
      'targets: [{name: a, kind: process, engines: {e: {command: [x], args: {n: "--n"}}}}]',
      /^targets\[0\]\.engines\.e\.args\.n must contain \{\}/,
    ],
    [
      'targets: [{name: a, kind: process, max_instances: 0, engines: {e: {command: [x]}}}]',
      /^targets\[0\]\.max_instances/,
    ],
    ['targets: []\nsecrets: {s: {env: A, file: b}}', /^secrets\.s must have exactly one/],
    ['targets: []\nsecrets: {s: {value: plain}}', /^secrets\.s\.value is not a known key/],
    ['targets: []\ntargets: []', /unique/],
    ['- a', /must be a mapping/],
    ['targets: [', /./],
    ['', /must be a mapping/],
  ])('refuses %s', (source, expected) => {
    expect(problemsOf(source).some((problem) => expected.test(problem))).toBe(true);
  });
});

describe('parseAllowPattern', () => {
  it.each([
    ['http://127.0.0.1:*', { scheme: 'http', host: '127.0.0.1', matchesSubdomains: false, port: '*' }],
    [
      'https://*.Inference.example.com',
      { scheme: 'https', host: 'inference.example.com', matchesSubdomains: true, port: 443 },
    ],
    ['http://[::1]:8080', { scheme: 'http', host: '::1', matchesSubdomains: false, port: 8080 }],
  ])('reads %s', (pattern, expected) => expect(parseAllowPattern(pattern)).toEqual(expected));

  it.each([
    '*',
    'https://*',
    'https://*.com',
    'ftp://h',
    'http://u@h',
    'http://h:70000',
    'http://h/',
    'http://*.1.2.3.4',
  ])('refuses %s', (pattern) => {
    expect(parseAllowPattern(pattern)).toHaveProperty('problem', expect.any(String));
  });
});
