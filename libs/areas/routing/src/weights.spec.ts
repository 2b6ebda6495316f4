import { expect, it } from '@jest/globals';
import { isSameRoute, routeMovement, weightIssues } from './weights.js';

const target = (revisionId: string, weight: number) => ({ revisionId, weight });
const soft = { mode: 'soft', ttlSeconds: 600 } as const;

it('accepts whole weights that sum to 100', () => {
  expect(weightIssues([target('a', 100)])).toEqual([]);
  expect(weightIssues([target('a', 70), target('b', 30), target('c', 0)])).toEqual([]);
});

it.each([
  [[target('a', 99)], ['targets sum']],
  [[], ['targets sum']],
  [[target('a', 50), target('a', 50)], ['targets[1].revision duplicate']],
  [[target('a', 101)], ['targets[0].weight range', 'targets sum']],
  [
    [target('a', 110), target('b', -10)],
    ['targets[0].weight range', 'targets[1].weight range'],
  ],
  [
    [target('a', 50.5), target('b', 49.5)],
    ['targets[0].weight range', 'targets[1].weight range'],
  ],
])('refuses %j', (targets, expected) => {
  expect(weightIssues(targets).map((issue) => `${issue.field} ${issue.code}`)).toEqual(expected);
});

it('compares routes by weights and affinity, not by order', () => {
  const one = { targets: [target('a', 70), target('b', 30)], affinity: soft };
  expect(isSameRoute(one, { targets: [target('b', 30), target('a', 70)], affinity: soft })).toBe(true);
  expect(isSameRoute(one, { targets: [target('b', 70), target('a', 30)], affinity: soft })).toBe(false);
  expect(isSameRoute(one, { targets: [target('a', 70), target('b', 30), target('c', 0)], affinity: soft })).toBe(false);
  expect(isSameRoute(one, { ...one, affinity: { mode: 'none', ttlSeconds: 600 } })).toBe(false);
  expect(isSameRoute(one, { ...one, affinity: { mode: 'soft', ttlSeconds: 601 } })).toBe(false);
  const dark = (id: string) => ({ targets: [target('a', 100), target(id, 0)], affinity: soft });
  expect(isSameRoute(dark('b'), dark('c'))).toBe(false);
});

it('reports which revisions join and which leave', () => {
  expect(routeMovement([target('a', 100), target('b', 0)], [target('b', 100), target('c', 0)])).toEqual({
    joined: ['c'],
    left: ['a'],
  });
});
