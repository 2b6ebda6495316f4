import { expect, it } from '@jest/globals';
import { initialReplicas, withinRoom, type Beginning } from './scaling-decision.js';

const beginning = (rest: Partial<Beginning> = {}): Beginning => ({
  scaling: { min_replicas: 1, max_replicas: 4, target_in_flight: 2 },
  override: null,
  baseline: 0,
  running: 0,
  ...rest,
});
const of = (rest: Partial<Beginning>, room = Number.POSITIVE_INFINITY) =>
  withinRoom(initialReplicas(beginning(rest)), room);

it('begins with what it asks for itself where it takes over nothing, and with one where that is none', () => {
  expect(of({})).toBe(1);
  expect(of({ scaling: { min_replicas: 3 } })).toBe(3);
  expect(of({ scaling: { min_replicas: 0, max_replicas: 4, target_in_flight: 2 } })).toBe(1);
});

it('begins with as many as those have whose traffic it takes over, and with no more than its own most', () => {
  expect(of({ baseline: 3 })).toBe(3);
  expect(of({ baseline: 9 })).toBe(4);
  expect(of({ baseline: 9, scaling: { min_replicas: 2, max_replicas: 6 } })).toBe(2);
  expect(of({ baseline: 1, scaling: { min_replicas: 2, max_replicas: 6, target_in_flight: 2 } })).toBe(2);
});

it('takes its deployment at its word: what that overrides bounds and raises the number', () => {
  expect(of({ baseline: 9, override: { max_replicas: 7 } })).toBe(7);
  expect(of({ baseline: 9, override: { max_replicas: 2 } })).toBe(2);
  expect(of({ override: { min_replicas: 3 } })).toBe(3);
  expect(of({ scaling: { min_replicas: 3 }, override: { min_replicas: 1 } })).toBe(1);
});

it('leaves out what there is no room for, but never of what the revision asks for itself', () => {
  expect(of({ baseline: 4 }, 2)).toBe(2);
  expect(of({ baseline: 4 }, 0)).toBe(1);
  expect(of({ baseline: 4 }, -3)).toBe(1);
  expect(of({ scaling: { min_replicas: 3 } }, 1)).toBe(3);
  // What only the deployment asks for refuses no rollout.
  expect(of({ override: { min_replicas: 9 } }, 2)).toBe(2);
});

it('takes nothing away that runs already', () => {
  expect(of({ running: 3 }, 0)).toBe(3);
  expect(of({ running: 3, baseline: 4 }, 4)).toBe(4);
  expect(of({ running: 6, baseline: 4 })).toBe(6);
});
