import { describe, expect, it } from '@jest/globals';
import { allowedOrigins, OperatorConfigError, parseOperatorConfig, type TargetReader } from './index.js';

/** Two kinds of targets; the real ones have their specs in libs/targets. */
const READERS: TargetReader[] = [
  {
    kind: 'oven',
    keys: ['racks'],
    maxInstances: 16,
    read: (reader, path, entry) => ({ racks: reader.whole(`${path}.racks`, entry['racks'], 1, 9) }),
  },
  {
    kind: 'shop',
    keys: ['allow'],
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
  it('reads what every target has, and lets its kind read the rest', () => {
    const source = 'targets: [{name: a, kind: oven, racks: 3}, {name: b, kind: shop, max_instances: 2, allow: [x]}]';
    expect(parseOperatorConfig(source, READERS)).toEqual({
      targets: [
        { name: 'a', kind: 'oven', max_instances: 16, racks: 3 },
        { name: 'b', kind: 'shop', max_instances: 2, allow: ['x'] },
      ],
      secrets: {},
    });
  });

  it('does not look at targets in a process that runs none', () => {
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
    ['targets: []\ntargets: []', /unique/],
    ['- a', /must be a mapping/],
    ['targets: [', /./],
    ['', /must be a mapping/],
  ])('refuses %s', (source, expected) => {
    expect(problemsOf(source).some((problem) => expected.test(problem))).toBe(true);
  });
});

it('allows the origins of all targets, each once', () => {
  const targets = [
    { name: 'a', kind: 'oven' },
    { name: 'b', kind: 'shop', allow: ['https://one', 'https://two'] },
    { name: 'c', kind: 'shop', allow: ['https://two'] },
  ];
  expect(allowedOrigins({ targets })).toEqual(['https://one', 'https://two']);
});
