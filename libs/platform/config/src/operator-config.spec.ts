import { describe, expect, it } from '@jest/globals';
import { OperatorConfigError, parseOperatorConfig, type TargetReader } from './index.js';

/** Two kinds of targets; the real ones have their specs in libs/targets. */
const READERS: TargetReader[] = [
  {
    kind: 'oven',
    schema: { properties: { racks: {} } },
    maxInstances: 16,
    read: (reader, path, entry) => ({ racks: reader.whole(`${path}.racks`, entry['racks'], 1, 9) }),
  },
  {
    kind: 'shop',
    schema: { properties: { allow: {} } },
    read: (reader, path, entry) => ({ allow: reader.list(`${path}.allow`, entry['allow']) }),
  },
];

const problemsOf = (source: string): string[] => {
  try {
    parseOperatorConfig(source, READERS);
    return [];
  } catch (error) {
    if (error instanceof OperatorConfigError) return error.problems;
    throw error;
  }
};

describe('parseOperatorConfig', () => {
  it('reads the keys that every target has, and leaves the rest to its kind', () => {
    const source = 'targets: [{name: a, kind: oven, racks: 3}, {name: b, kind: shop, max_instances: 2, allow: [x]}]';
    expect(parseOperatorConfig(source, READERS)).toEqual({
      targets: [
        { name: 'a', kind: 'oven', max_instances: 16, racks: 3 },
        { name: 'b', kind: 'shop', max_instances: 2, allow: ['x'] },
      ],
      secrets: {},
    });
  });

  it('ignores targets in a process that runs none', () => {
    expect(parseOperatorConfig('targets: [{kind: unheard-of}]\nsecrets: {s: {env: A}}')).toEqual({
      targets: [],
      secrets: { s: { env: 'A' } },
    });
  });

  it('names each problem by its path', () => {
    const problems = problemsOf(
      'target: []\ntargets: [{name: a, kind: oven, max: 1, racks: 10}, {name: b, kind: shop}]',
    );
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'target',
      'targets[0].max',
      'targets[0].racks',
      'targets[1].allow',
    ]);
  });

  it.each([
    ['targets: [{name: A_b, kind: shop, allow: []}]', /^targets\[0\]\.name must match/],
    ['targets: [{name: a, kind: shop, allow: []}, {name: a, kind: shop, allow: []}]', /^targets\[1\]\.name repeats/],
    ['targets: [{name: a, kind: kubernetes}]', /^targets\[0\]\.kind must be oven or shop, not "kubernetes"/],
    ['targets: [{name: a}]', /^targets\[0\]\.kind must be oven or shop$/],
    ['targets: [7]', /^targets\[0\]\.kind must be/],
    ['targets: [{name: a, kind: oven, racks: 1, max_instances: 0}]', /^targets\[0\]\.max_instances/],
    ['targets: []\nsecrets: {s: {env: A, file: b}}', /^secrets\.s must have exactly one/],
    ['targets: []\nsecrets: {s: {value: plain}}', /^secrets\.s\.value is not a known key/],
    ['targets: []\ntargets: []', /^line 2 repeats the key "targets": keep one of them$/],
    ['secrets: {hub: {env: !env HUB_TOKEN}}', /^line 1, column 22: Unresolved tag: !env$/],
    ['quotas: {webhooks: !!js/function "5"}', /^line 1, column 20: Unresolved tag/],
    ['targets:\n\t- {name: a}', /^line 2 begins with a tab: indent with spaces$/],
    [
      'target: []',
      /^target is not a known key; did you mean targets\? \(known here: targets, secrets, outbound, quotas, retention, accelerators, abandoned_targets, defaults\)$/,
    ],
    ['targets: []\nqoutas: {}', /^qoutas is not a known key; did you mean quotas\?/],
    [
      'targets: [{name: a, kind: oven, racks: 1, max-instances: 3}]',
      /max-instances is not a known key; did you mean max_instances\?/,
    ],
    ['targets: []\nfrobnicate: 1', /^frobnicate is not a known key \(known here/],
    ['targets: []\ndefaults: 7', /^defaults must be true or false$/],
    [
      'a: &a [x, x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b, *b, *b]',
      /cannot be read/,
    ],
    ['- a', /must be a mapping/],
    ['targets: [', /./],
    ['', /must be a mapping/],
  ])('refuses %s', (source, expected) => {
    expect(problemsOf(source).some((problem) => expected.test(problem))).toBe(true);
  });
});

it('reads which tenants may use a secret and to which origins it may be sent', () => {
  const read = (entry: string) => parseOperatorConfig(`targets: []\nsecrets: {hf: {env: HF, ${entry}}}`).secrets;
  expect(read('tenants: [acme, "*"], origins: ["https://*.hf.example.com"]')).toEqual({
    hf: { env: 'HF', tenants: ['acme', '*'], origins: ['https://*.hf.example.com'] },
  });
});

it('reads a secret that only a cluster has, and which tenants may use it', () => {
  const source = 'targets: []\nsecrets: {hf-token: {kubernetes: {name: hf.models, key: token_1}, tenants: [acme]}}';
  expect(parseOperatorConfig(source).secrets).toEqual({
    'hf-token': { kubernetes: { name: 'hf.models', key: 'token_1' }, tenants: ['acme'] },
  });
});

it.each([
  ['{kubernetes: {name: hf, key: t}, file: /b}', 'secrets.s must have exactly one of env, file and kubernetes'],
  ['{kubernetes: {name: hf}}', 'secrets.s.kubernetes.key is required'],
  ['{kubernetes: hf}', 'secrets.s.kubernetes must be a mapping'],
  ['{kubernetes: {name: HF, key: t}}', 'secrets.s.kubernetes.name must match'],
  ['{kubernetes: {name: ../hf, key: t}}', 'secrets.s.kubernetes.name must match'],
  ['{kubernetes: {name: hf, key: ../t}}', 'secrets.s.kubernetes.key must match'],
  ['{kubernetes: {name: hf, key: t, namespace: n}}', 'secrets.s.kubernetes.namespace is not a known key'],
  [
    '{kubernetes: {name: hf, key: t}, origins: ["https://h.example"]}',
    'secrets.s.origins is not allowed for a kubernetes secret',
  ],
])('refuses a secret that is %s', (entry, problem) => {
  expect(problemsOf(`targets: []\nsecrets: {s: ${entry}}`)).toContainEqual(expect.stringContaining(problem));
});

it('refuses a setting that needs the value of a cluster secret, and accepts one that only passes it on', () => {
  const naming = (mayBeReference: boolean): TargetReader => ({
    kind: 'oven',
    schema: { properties: {} },
    read: (reader, path) => {
      reader.secretsNamed.push({ path: `${path}.hub`, name: 's', mayBeReference });
      return {};
    },
  });
  const source = 'targets: [{name: a, kind: oven}]\nsecrets: {s: {kubernetes: {name: hf, key: t}}}';
  expect(() => parseOperatorConfig(source, [naming(false)])).toThrow(
    /^targets\[0\]\.hub refers to a secret that only a cluster can read/,
  );
  expect(parseOperatorConfig(source, [naming(true)]).targets).toHaveLength(1);
});

it('reads the tenants of targets and origins, and the outbound origins', () => {
  const source = `
targets: [{name: a, kind: oven, racks: 1, tenants: [acme]}]
outbound:
  webhooks: ["http://hooks.internal:8080"]
  suppliers: [{origin: "https://*.models.example", tenants: [acme]}]`;
  expect(parseOperatorConfig(source, READERS)).toEqual({
    targets: [{ name: 'a', kind: 'oven', max_instances: 16, tenants: ['acme'], racks: 1 }],
    secrets: {},
    outbound: {
      webhooks: ['http://hooks.internal:8080'],
      suppliers: [{ origin: 'https://*.models.example', tenants: ['acme'] }],
    },
  });
});

it.each([
  ['secrets: {s: {env: A, tenants: acme}}', 'secrets.s.tenants must be a list'],
  ['secrets: {s: {env: A, tenants: [7]}}', 'secrets.s.tenants[0] must be a non-empty string'],
  ['secrets: {s: {env: A, origins: ["https://*"]}}', 'secrets.s.origins[0] may use * only before'],
  ['outbound: {engines: []}', 'outbound.engines is not a known key'],
  ['outbound: {webhooks: ["ftp://h"]}', 'outbound.webhooks[0] must be an origin'],
  ['outbound: {webhooks: [{origin: "http://h"}]}', 'outbound.webhooks[0].tenants must be a list'],
  ['outbound: {webhooks: [{origin: "http://h", tenant: [a]}]}', 'outbound.webhooks[0].tenant is not a known key'],
])('refuses %s', (source, problem) => {
  expect(problemsOf(`targets: []\n${source}`)).toContainEqual(expect.stringContaining(problem));
});
