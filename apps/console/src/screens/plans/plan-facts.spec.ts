import { describe, expect, it } from '@jest/globals';
import type { Plan } from '../../api/items.js';
import {
  deltaOf,
  isOwnPlan,
  comparedNumberText,
  percentText,
  specValueText,
  whyNotApprovable,
  whyNotExecutable,
  type Evidence,
} from './plan-facts.js';

const evidence = (given: Partial<Evidence>): Evidence => ({ kind: 'benchmark', metric: 'ttft_ms', ...given });
const measured = (value: number | null) => ({ value, n: 10 });

describe('the delta of an evidence', () => {
  it.each<[string, Partial<Evidence>, ReturnType<typeof deltaOf>]>([
    ['the given one', { delta_percent: -10 }, { percent: -10, computed: null }],
    [
      'computed from the values if none is given',
      { baseline: measured(200), candidate: measured(150) },
      { percent: -25, computed: null },
    ],
    [
      'the given one if the author rounded',
      { baseline: measured(480.5), candidate: measured(310.2), delta_percent: -35.4 },
      { percent: -35.4, computed: null },
    ],
    [
      'shown with the computed one if they differ',
      { baseline: measured(1), candidate: measured(2), delta_percent: -50 },
      { percent: -50, computed: 100 },
    ],
    [
      'computed for a negative baseline',
      { baseline: measured(-2), candidate: measured(-1) },
      { percent: 50, computed: null },
    ],
    ['absent for a baseline of zero', { baseline: measured(0), candidate: measured(5) }, null],
    ['absent for a single value', { baseline: measured(5), candidate: measured(null) }, null],
  ])('is %s', (_, given, delta) => expect(deltaOf(evidence(given))).toEqual(delta));
});

it('formats deltas and values with their first digits', () => {
  expect(percentText(-35.4214)).toBe('−35.42 %');
  expect(percentText(100)).toBe('+100 %');
  expect(percentText(0)).toBe('0 %');
  expect(comparedNumberText(1234567)).toBe('1235000');
  expect(comparedNumberText(0.00012345678)).toBe('0.0001235');
});

it('bounds the length of values', () => {
  expect(specValueText({ a: [1, null] })).toBe('{"a":[1,null]}');
  expect(specValueText(undefined)).toBe('');
  expect(specValueText('x'.repeat(10_000))).toHaveLength(2_001);
});

const ADA = { type: 'person', id: 'ada' } as const;
const BOB = { type: 'person', id: 'bob' } as const;

const plan = (given: { state?: Plan['approval']['state']; stale?: boolean; expires_at?: string } = {}) =>
  ({
    created_by: { type: 'token', id: 'tok_1', owner: ADA },
    expires_at: given.expires_at ?? '2999-01-01T00:00:00Z',
    stale: given.stale ?? false,
    approval: { state: given.state ?? 'pending', approvals_required: 2, approvals: [], ended: null, version: 0 },
  }) as unknown as Plan;

describe('the approver of a plan', () => {
  it('is another person, as long as the plan is open', () => expect(whyNotApprovable(plan(), BOB)).toBeNull());

  it("is distinguished from the plan's author", () => {
    expect(isOwnPlan(plan(), ADA)).toBe(true);
    expect(isOwnPlan(plan(), BOB)).toBe(false);
    expect(isOwnPlan(plan(), { ...ADA, type: 'service' })).toBe(false);
  });

  it.each<[string, Parameters<typeof plan>[0], RegExp]>([
    ['rejected', { state: 'rejected' }, /rejected/],
    ['superseded', { state: 'superseded' }, /no longer active/],
    ['stale', { stale: true }, /no longer active/],
    ['expired', { state: 'expired' }, /expired/],
    ['past its time, before the expiry is recorded', { expires_at: '2020-01-01T00:00:00Z' }, /expired/],
    ['approved', { state: 'approved' }, /already approved/],
  ])('does not exist once the plan is %s', (_, given, why) => expect(whyNotApprovable(plan(given), BOB)).toMatch(why));

  it('is no service', () => expect(whyNotApprovable(plan(), { type: 'service', id: 'bob' })).toMatch(/service/));

  it('can approve only once', () => {
    const once = plan();
    once.approval.approvals.push({ by: { type: 'token', id: 'tok_2', owner: BOB }, at: '', comment: null, digest: '' });
    expect(whyNotApprovable(once, BOB)).toMatch(/You have/);
  });
});

describe('the rollout of a plan', () => {
  it('is possible once the plan is approved', () => expect(whyNotExecutable(plan({ state: 'approved' }))).toBeNull());
  it('is impossible before', () => expect(whyNotExecutable(plan())).toMatch(/not approved/));
  it('is impossible when the plan is stale', () =>
    expect(whyNotExecutable(plan({ state: 'approved', stale: true }))).toMatch(/no longer active/));
});
