import { expect, it } from '@jest/globals';
import { rollbackEffect } from './rollback-effect.js';

const share = (revision: string, weight: number) => ({ revision, weight });
const capacity = { target: 'local', needed: 2, free: 4, gap_seconds: 0 };

it('shows a rollback to a revision that must start first', () =>
  expect(rollbackEffect({ revision: 'a-1', ready_instances: 0, capacity }, 'a-2', [share('a-2', 100)])).toEqual({
    revision: 'a-2 → a-1',
    traffic: ['a-2 100 % → 0 %', 'a-1 0 % → 100 %'],
    instances: 'None ready: instances must start (2 needed) before the traffic moves.',
  }));

it('shows a rollback out of a rollout, whose target still serves', () =>
  expect(
    rollbackEffect({ revision: 'a-2', ready_instances: 1, capacity }, 'a-2', [share('a-2', 90), share('a-3', 10)]),
  ).toEqual({
    revision: 'a-2 stays active',
    traffic: ['a-3 10 % → 0 %', 'a-2 90 % → 100 %'],
    instances: '1 ready: the traffic moves immediately.',
  }));

it('leaves out a revision without traffic, and an api that reports no target', () => {
  const route = [share('a-2', 100), share('a-3', 0)];
  expect(rollbackEffect({ revision: 'a-2', ready_instances: 1 }, 'a-2', route)?.traffic).toEqual(['a-2 keeps 100 %']);
  expect(rollbackEffect({}, 'a-2', route)).toBeUndefined();
});

it('names no revision to leave if none is active', () => {
  const { revision, traffic } = rollbackEffect({ revision: 'a-1', ready_instances: 0 }, null, [])!;
  expect([revision, ...traffic]).toEqual(['none → a-1', 'a-1 0 % → 100 %']);
});
