import { describe, expect, it } from '@jest/globals';
import type { OperationStep } from '@slipway/sdk';
import {
  hasNoWorker,
  stepPositionOf,
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

describe('the shown operation', () => {
  it('is the running one, even if a later one has ended', () => {
    const ended = operation({ id: 'op_2', status: 'failed' });
    const live = operation({ id: 'op_1', status: 'waiting' });
    expect(shownOperation([ended, live])).toBe(live);
  });
  it('is the last one if none is running', () => {
    const last = operation({ id: 'op_2', status: 'cancelled' });
    expect(shownOperation([last, operation({ status: 'succeeded' })])).toBe(last);
    expect(shownOperation([])).toBeUndefined();
  });
});

describe('the progress of an operation', () => {
  it('counts steps from one', () => {
    const steps = [step('validate'), step('provision'), step('soak:1')];
    expect(stepPositionOf(operation({ steps, current_step: 'provision' }))).toEqual({ n: 2, of: 3 });
  });
  it('returns how long a step took, or has taken so far', () => {
    expect(stepMs(step('a', { started_at: ago(5_000), completed_at: ago(2_000) }), AT)).toBe(3_000);
    expect(stepMs(step('a', { started_at: ago(5_000) }), AT)).toBe(5_000);
    expect(stepMs(step('a'), AT)).toBeNull();
  });
  const soaking = operation({ status: 'waiting', current_step: 'soak:2', resume_at: ago(-5_000), waiting_for: 'soak' });
  it('returns when it continues by itself', () => expect(resumeMs(soaking)).toBe(AT + 5_000));
  it('returns the end of a soak, not its next look', () =>
    expect(resumeMs({ ...soaking, message: 'Soaking for 90 s more.', updated_at: ago(10_000) })).toBe(AT + 80_000));
  it('returns no time while a person has paused it', () =>
    expect(
      resumeMs({ ...soaking, pause: { at: ago(0), by: { type: 'token', id: 'tok_1' }, reason: null } }),
    ).toBeNull());
  it('returns no time for an operation that has ended, runs, or waits for a person', () => {
    expect(resumeMs({ ...soaking, status: 'cancelled' })).toBeNull();
    expect(resumeMs({ ...soaking, waiting_for: 'approval' })).toBeNull();
    expect(resumeMs({ ...soaking, status: 'running', resume_at: null })).toBeNull();
  });
});

describe('the reason of a wait', () => {
  it.each([
    ['waiting', 'approval', true],
    ['waiting', 'decision', true],
    ['waiting', 'resume', true],
    ['waiting', 'soak', false],
    ['waiting', null, false],
    ['running', null, false],
    ['cancelling', 'resume', false],
  ] as const)('%s, for %s: a person %s', (status, waiting_for, expected) =>
    expect(waitsForPerson({ status, waiting_for })).toBe(expected),
  );
  it('is a worker if none has claimed it for a while', () => {
    const pending = { status: 'pending', attempt: 0 } as const;
    expect(unclaimedMs(operation({ ...pending, updated_at: ago(30_000) }), AT)).toBe(30_000);
    expect(unclaimedMs(operation({ ...pending, updated_at: ago(3_000) }), AT)).toBeNull();
    expect(unclaimedMs(operation({ ...pending, attempt: 1, updated_at: ago(30_000) }), AT)).toBeNull();
  });
  it('is a worker too if none is alive', () => {
    expect(hasNoWorker([{ is_alive: false }])).toBe(true);
    expect(hasNoWorker([{ is_alive: false }, { is_alive: true }])).toBe(false);
    expect([hasNoWorker(null), hasNoWorker(undefined)]).toEqual([false, false]);
  });
});
