import { describe, expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import {
  applyChanges,
  changedLeaves,
  changesBetween,
  mergePatchBetween,
  pointerOf,
  type SpecChange,
} from './plan-changes.js';

const BASE: RevisionSpec = {
  model: { id: 'm' },
  runtime: { target: 'local', engine: 'sim', args: { 'a/b': 1, n: 2 }, env: {} },
  scaling: { min_replicas: 1 },
};
const codesOf = (changes: SpecChange[]): string[] =>
  applyChanges(BASE, changes).issues.map(({ field, code }) => `${field} ${code}`);

describe('applying changes', () => {
  it('works on a copy, in order, and notes the previous value', () => {
    const { spec, changes, issues } = applyChanges(BASE, [
      { op: 'replace', path: 'scaling.min_replicas', value: 3 },
      { op: 'remove', path: '/runtime/args/a~1b' },
      { op: 'add', path: '/resources/count', value: 2, rationale: 'why' },
    ]);
    expect(issues).toEqual([]);
    expect(spec).toEqual({
      ...BASE,
      runtime: { ...BASE.runtime, args: { n: 2 } },
      scaling: { min_replicas: 3 },
      resources: { count: 2 },
    });
    expect(changes).toEqual([
      { op: 'replace', path: '/scaling/min_replicas', from: 1, value: 3, rationale: null },
      { op: 'remove', path: '/runtime/args/a~1b', from: 1, value: null, rationale: null },
      { op: 'add', path: '/resources/count', from: null, value: 2, rationale: 'why' },
    ]);
    expect(BASE.scaling.min_replicas).toBe(1);
  });

  it.each<[string, SpecChange]>([
    ['path missing', { op: 'replace', path: '/runtime/args/x', value: 1 }],
    ['path missing', { op: 'remove', path: '/resources' }],
    ['path missing', { op: 'add', path: '/model/id/x', value: 1 }],
    ['path invalid', { op: 'add', path: '/', value: 1 }],
    ['path invalid', { op: 'add', path: '/runtime/args/__proto__', value: {} }],
    ['path invalid', { op: 'add', path: '/constructor/prototype/x', value: 1 }],
    ['from differs', { op: 'replace', path: '/scaling/min_replicas', from: 2, value: 3 }],
    ['value required', { op: 'replace', path: '/scaling/min_replicas' }],
  ])('reports %s for %j', (issue, change) => {
    expect(codesOf([change])).toEqual([`changes[0].${issue}`]);
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });

  it('compares `from` by its content, not by the order of its keys', () => {
    expect(codesOf([{ op: 'replace', path: '/runtime/args', from: { n: 2, 'a/b': 1 }, value: {} }])).toEqual([]);
  });
});

describe('differences', () => {
  const other = applyChanges(BASE, [
    { op: 'remove', path: '/runtime/args/n' },
    { op: 'add', path: '/resources', value: { accelerator: 'x', count: 1 } },
  ]).spec as unknown as RevisionSpec;

  it('are changes that turn one spec into the other', () => {
    expect(applyChanges(BASE, changesBetween(BASE, other)).spec).toEqual(other);
    expect(changesBetween(BASE, BASE)).toEqual([]);
  });

  it('are a merge patch', () => {
    expect(mergePatchBetween({ ...BASE }, { ...other })).toEqual({
      runtime: { args: { n: null } },
      resources: { accelerator: 'x', count: 1 },
    });
    expect(mergePatchBetween({ ...BASE }, { ...BASE })).toEqual({});
  });

  it('are single values, even if a whole object is added or removed', () => {
    expect(
      changedLeaves(BASE, other)
        .map((leaf) => leaf.join('.'))
        .sort(),
    ).toEqual(['resources.accelerator', 'resources.count', 'runtime.args.n']);
    expect(
      changedLeaves(other, BASE)
        .map((leaf) => leaf.join('.'))
        .sort(),
    ).toEqual(['resources.accelerator', 'resources.count', 'runtime.args.n']);
  });
});

it('a dotted path is read as a pointer', () => {
  expect([pointerOf('a.b'), pointerOf('/a/b'), pointerOf('a')]).toEqual(['/a/b', '/a/b', '/a']);
});
