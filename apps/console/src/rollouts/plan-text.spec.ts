import { describe, expect, it } from '@jest/globals';
import { planActorText, planRollout } from './plan-text.js';

const step = (traffic_percent: number, more: object = {}) => ({ traffic_percent, soak_seconds: 60, ...more });
const METRICS = [
  { name: 'error_rate', check: 'threshold', threshold: 0.02 },
  { name: 'ttft_ms', stat: 'p95', check: 'regression', max_regression_percent: 20, dry_run: true },
];

describe('how a plan will be rolled out', () => {
  it('has its steps, its gate and its target in words', () =>
    expect(
      planRollout({
        rollout: {},
        execution: {
          strategy: { type: 'canary', steps: [step(10, { requires_approval: true }), step(100, { pause: true })] },
          analysis: { metrics: METRICS, guards: [{ name: 'client_error_rate' }] },
          target: 'local',
          is_gated: true,
        },
      }),
    ).toEqual({
      strategy: 'canary',
      steps: ['10 % for 1 min, then approval', '100 % for 1 min, then a pause'],
      shares: '10, 100 %',
      gate: ['error_rate at most 0.02', 'ttft_ms p95 at most 20 % worse (only reported)', 'guards: client_error_rate'],
      target: 'local',
      warning: null,
    }));

  it.each([
    ['immediate', { strategy: { type: 'immediate' }, analysis: null, is_gated: false }, /All traffic moves at once/],
    ['a canary without a gate', { strategy: { type: 'canary', steps: [step(100)] }, is_gated: false }, /No gate/],
  ])('is marked as dangerous: %s', (_, execution, warning) => {
    expect(planRollout({ rollout: {}, execution }).warning).toMatch(warning);
    expect(planRollout({ rollout: {}, execution }).gate).toEqual([]);
  });

  it.each([
    ['immediate', { strategy: { type: 'immediate' } }, /All traffic moves at once/],
    ['a canary whose gate is off', { strategy: { type: 'canary' }, analysis: { mode: 'none' } }, /No gate/],
  ])('is marked as dangerous in an older plan too: %s', (_, rollout, warning) =>
    expect(planRollout({ rollout }).warning).toMatch(warning),
  );

  it('is not dangerous if no traffic moves', () =>
    expect(
      planRollout({ rollout: {}, execution: { strategy: { type: 'candidate' }, is_gated: false } }).warning,
    ).toBeNull());

  it('has guards if it has no checks', () =>
    expect(planRollout({ rollout: { strategy: { type: 'canary' }, analysis: null } }).gate).toEqual([
      'guards: errors, refusals, overload and abandoned requests',
    ]));

  it('is readable whatever the author wrote', () =>
    expect(planRollout({ rollout: { strategy: 'fast', analysis: [], target: 7 } })).toMatchObject({
      strategy: 'the default of the deployment',
      steps: [],
      target: null,
    }));
});

describe('the author of a plan', () => {
  const owner = { type: 'person', id: 'alice' };

  it('is named, with the owner of the token', () => {
    expect(planActorText({ type: 'token', id: 'tok_1', name: 'laptop', owner })).toBe('laptop (person alice)');
    expect(planActorText({ type: 'token', id: 'tok_1', name: 'alice', owner })).toBe('alice');
    expect(planActorText({ type: 'user', id: 'user_1', name: 'Alice', owner: { type: 'person', id: 'user_1' } })).toBe(
      'Alice',
    );
  });

  it('is the owner or the id if the name is unknown', () => {
    expect(planActorText({ type: 'token', id: 'tok_1', name: null, owner })).toBe('alice');
    expect(planActorText({ type: 'system', id: 'autopilot' })).toBe('system autopilot');
  });
});
