import { expect, it } from '@jest/globals';
import type { Condition, DeploymentHealth } from '@slipway/ports/deployment-records';
import { conditionsOf, NO_ROUTE, observedState, sameConditions } from './deployment.store.js';

const first = new Date('2026-01-01T00:00:00.000Z');
const later = new Date('2026-01-02T00:00:00.000Z');
const whole: DeploymentHealth = { isRouted: true, desired: 2, ready: 2, isServing: true };
const partial: DeploymentHealth = { isRouted: true, desired: 2, ready: 1, isServing: true };
const dead: DeploymentHealth = { isRouted: true, desired: 2, ready: 0, isServing: false };

const brief = (conditions: Condition[]) =>
  Object.fromEntries(conditions.map((one) => [one.type, `${one.status} ${one.reason}`]));
const idle = { state: 'active', currentOperationId: null } as const;

it('distinguishes a new, a serving, a partly serving and a dead deployment', () => {
  expect(brief(conditionsOf([], { state: 'creating', currentOperationId: null, health: NO_ROUTE }, first))).toEqual({
    Ready: 'False NoRoute',
    Progressing: 'False Idle',
    Degraded: 'False NoRoute',
  });
  expect(brief(conditionsOf([], { ...idle, health: whole }, first))).toEqual({
    Ready: 'True Serving',
    Progressing: 'False Idle',
    Degraded: 'False AllInstancesReady',
  });
  expect(brief(conditionsOf([], { ...idle, health: partial }, first))).toEqual({
    Ready: 'True Serving',
    Progressing: 'False Idle',
    Degraded: 'True InstancesNotReady',
  });
  expect(brief(conditionsOf([], { ...idle, health: dead }, first))).toEqual({
    Ready: 'False NoReadyInstance',
    Progressing: 'False Idle',
    Degraded: 'True InstancesNotReady',
  });
});

it('shows an operation that is running, paused or deleting', () => {
  expect(
    brief(conditionsOf([], { state: 'progressing', currentOperationId: 'op_1', health: whole }, first)),
  ).toMatchObject({ Progressing: 'True OperationRunning' });
  expect(brief(conditionsOf([], { state: 'paused', currentOperationId: 'op_1', health: whole }, first))).toMatchObject({
    Progressing: 'True OperationPaused',
  });
  expect(brief(conditionsOf([], { state: 'deleting', currentOperationId: 'op_1', health: whole }, first))).toEqual({
    Ready: 'False Deleting',
    Progressing: 'True Deleting',
    Degraded: 'False Deleting',
  });
});

it('changes last_transition_at only with the status', () => {
  const before = conditionsOf([], { ...idle, health: whole }, first);
  const after = conditionsOf(before, { ...idle, health: partial }, later);
  expect(after.map((one) => [one.type, one.last_transition_at])).toEqual([
    ['Ready', first.toISOString()],
    ['Progressing', first.toISOString()],
    ['Degraded', later.toISOString()],
  ]);
  expect(after[0]?.message).toBe('1 of 2 instances are ready.');
});

it('keeps the last observation if there is no new one', () => {
  const before = conditionsOf([], { ...idle, health: partial }, first);
  const after = conditionsOf(before, { state: 'progressing', currentOperationId: 'op_1' }, later);
  expect(after.filter((one) => one.type !== 'Progressing')).toEqual(before.filter((one) => one.type !== 'Progressing'));
  expect(sameConditions(before, after)).toBe(false);
  expect(sameConditions(before, conditionsOf(before, { ...idle, health: partial }, later))).toBe(true);
});

it.each([
  ['creating', whole, 'active'],
  ['creating', partial, 'degraded'],
  ['creating', dead, 'creating'],
  ['failed', whole, 'active'],
  ['active', partial, 'degraded'],
  ['degraded', whole, 'active'],
  ['active', NO_ROUTE, 'active'],
  ['progressing', dead, 'progressing'],
  ['paused', whole, 'paused'],
  ['deleting', whole, 'deleting'],
] as const)('a state of %s with %o becomes %s', (state, health, expected) => {
  expect(observedState(state, health)).toBe(expected);
});

it('treats a sleeping deployment as serving, because its next request waits for a start', () => {
  const asleep: DeploymentHealth = { isRouted: true, desired: 0, ready: 0, isServing: true, isAsleep: true };
  const waking: DeploymentHealth = { ...asleep, desired: 1 };
  for (const health of [asleep, waking]) {
    expect(observedState('active', health)).toBe('active');
    const facts = { state: 'active' as const, currentOperationId: null, health };
    const found = conditionsOf([], facts, new Date()).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
    expect(found).toEqual(['Ready True Asleep', 'Progressing False Idle', 'Degraded False Asleep']);
  }
});
