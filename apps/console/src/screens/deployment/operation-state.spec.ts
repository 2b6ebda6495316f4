import { describe, expect, it } from '@jest/globals';
import type { OperationStep } from '@slipway/sdk';
import {
  placeOf,
  resumeMs,
  shownOperation,
  stepMs,
  unclaimedMs,
  waitsForPerson,
  type Operation,
} from './operation-state.js';

const AT = Date.UTC(2026, 0, 1);
const ago = (ms: number) => new Date(AT - ms).toISOString();
const step = (name: string, changed: Partial<OperationStep> = {}) =>
  ({ name, started_at: null, completed_at: null, ...changed }) as OperationStep;
const operation = (changed: Partial<Operation>) =>
  ({ id: 'op_1', status: 'running', attempt: 1, steps: [], result: {}, current_step: '', ...changed }) as Operation;

describe('which operation is shown', () => {
  it('is the one that goes on, though a later one has ended', () => {
    const ended = operation({ id: 'op_2', status: 'failed' });
    const live = operation({ id: 'op_1', status: 'waiting' });
    expect(shownOperation([ended, live])).toBe(live);
  });
  it('is the last one where none goes on', () => {
    const last = operation({ id: 'op_2', status: 'cancelled' });
    expect(shownOperation([last, operation({ status: 'succeeded' })])).toBe(last);
    expect(shownOperation([])).toBeUndefined();
  });
});

describe('where it stands', () => {
  it('counts from one', () => {
    const steps = [step('validate'), step('provision'), step('soak:1')];
    expect(placeOf(operation({ steps, current_step: 'provision' }))).toEqual({ n: 2, of: 3 });
  });
  it('tells how long a step took, or has taken so far', () => {
    expect(stepMs(step('a', { started_at: ago(5_000), completed_at: ago(2_000) }), AT)).toBe(3_000);
    expect(stepMs(step('a', { started_at: ago(5_000) }), AT)).toBe(5_000);
    expect(stepMs(step('a'), AT)).toBeNull();
  });
  const soaking = operation({
    status: 'waiting',
    current_step: 'soak:2',
    steps: [step('soak:1'), step('soak:2', { started_at: ago(10_000) })],
    result: { strategy_steps: [{ soak_seconds: 1 }, { soak_seconds: 60 }] },
  });
  it('knows when it goes on by itself', () =>
    expect(resumeMs({ ...soaking, resume_at: ago(-5_000) })).toBe(AT + 5_000));
  it('works the end of a soak out where the api does not tell it', () => {
    expect(resumeMs(soaking)).toBe(AT + 50_000);
    expect(resumeMs({ ...soaking, current_step: 'promote' })).toBeNull();
    expect(resumeMs({ ...soaking, result: {} })).toBeNull();
  });
  it('promises nothing of what has ended, or waits for a person', () => {
    expect(resumeMs({ ...soaking, status: 'cancelled' })).toBeNull();
    expect(resumeMs({ ...soaking, awaiting: 'approval', resume_at: ago(-5_000) })).toBeNull();
  });
});

describe('what it waits for', () => {
  it.each([
    ['waiting', 'await_promotion:1', true],
    ['waiting', 'analyze:1', true],
    ['waiting', 'soak:1', false],
    ['running', 'analyze:1', false],
  ] as const)('%s at %s: a person %s', (status, current_step, expected) =>
    expect(waitsForPerson({ status, current_step })).toBe(expected),
  );
  it('believes the api, where it tells', () => {
    expect(waitsForPerson({ status: 'waiting', current_step: 'analyze:1', awaiting: null })).toBe(false);
    expect(waitsForPerson({ status: 'waiting', current_step: 'soak:1', awaiting: 'pause' })).toBe(true);
  });
  it('is a worker where nobody has picked it up for a while', () => {
    const pending = { status: 'pending', attempt: 0 } as const;
    expect(unclaimedMs(operation({ ...pending, updated_at: ago(30_000) }), AT)).toBe(30_000);
    expect(unclaimedMs(operation({ ...pending, updated_at: ago(3_000) }), AT)).toBeNull();
    expect(unclaimedMs(operation({ ...pending, attempt: 1, updated_at: ago(30_000) }), AT)).toBeNull();
  });
});
