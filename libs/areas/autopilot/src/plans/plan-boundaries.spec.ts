import { describe, expect, it } from '@jest/globals';
import type { RevisionSpec } from '@slipway/contracts';
import { allowedSteps, assessRisk, coversKnob, forbiddenChanges, stepIssues } from './plan-boundaries.js';
import { policyOf } from '../../test/situations.js';

const BASE: RevisionSpec = {
  model: { id: 'm' },
  runtime: { target: 'local', engine: 'sim', args: { n: 2 }, env: {} },
  scaling: { min_replicas: 1 },
};
const CHANGED: RevisionSpec = { ...BASE, runtime: { ...BASE.runtime, args: { n: 3 } }, scaling: { min_replicas: 2 } };

describe('knobs', () => {
  it.each([
    ['scaling.min_replicas', 'scaling.min_replicas', true],
    ['/scaling/min_replicas', 'scaling.min_replicas', true],
    ['scaling', 'scaling.min_replicas', true],
    ['runtime.args.*', 'runtime.args.n', true],
    ['n', 'runtime.args.n', true],
    ['runtime.args.n', 'runtime.args.nn', false],
    ['scaling.min_replicas', 'scaling.max_replicas', false],
    ['runtime.args.n.x', 'runtime.args.n', false],
    ['runtime', 'model.id', false],
  ])('%s covers %s: %s', (knob, leaf, covers) => {
    expect(coversKnob(knob, leaf.split('.'))).toBe(covers);
  });

  it('bind the values that really change, and name the change that is not allowed', () => {
    const policy = policyOf({ experiment_budget: { allowed_knobs: ['scaling'] } });
    expect(forbiddenChanges(policy, BASE, CHANGED, ['/scaling/min_replicas', '/runtime/args'])).toMatchObject([
      { field: 'changes[1].path', code: 'not_allowed' },
    ]);
    expect(forbiddenChanges(policy, BASE, CHANGED, [])).toMatchObject([{ field: 'rollout' }]);
    expect(forbiddenChanges(policyOf({ experiment_budget: { allowed_knobs: [] } }), BASE, CHANGED, [])).toHaveLength(2);
    expect([forbiddenChanges(policyOf({}), BASE, CHANGED, []), forbiddenChanges(undefined, BASE, CHANGED, [])]).toEqual(
      [[], []],
    );
  });
});

describe('steps', () => {
  it('of a canary must not rise faster than the policy allows', () => {
    const steps = [{ traffic_percent: 25 }, { traffic_percent: 51 }, { traffic_percent: 76 }, { traffic_percent: 100 }];
    expect(stepIssues(policyOf({}), { type: 'canary', steps }).map((issue) => issue.field)).toEqual([
      'rollout.strategy.steps[1].traffic_percent',
    ]);
    expect(stepIssues(undefined, { type: 'canary', steps })).toEqual([]);
  });

  it.each([
    [25, 5, [5, 30, 55, 80, 100]],
    [100, 100, [100]],
    [50, 10, [10, 60, 100]],
    [25, 0, undefined],
    [1, 5, undefined],
  ])('of at most %s points from %s percent are %j', (max_step_percent, max_traffic_percent, percents) => {
    const steps = allowedSteps(
      policyOf({ promotion: { max_step_percent }, experiment_budget: { max_traffic_percent } }),
    );
    expect(steps?.map((step) => step.traffic_percent)).toEqual(percents);
  });
});

describe('risk', () => {
  const now = new Date('2026-01-10T00:00:00Z');
  const sound = [{ baseline: { value: 1, n: 50 }, candidate: null, collected_at: '2026-01-09T00:00:00Z' }];

  it('is as the author stated it if the policy has nothing to add', () => {
    expect(assessRisk({}, policyOf({}), { type: 'candidate' }, sound, now)).toEqual({ level: 'low', reasons: [] });
    expect(assessRisk({ level: 'high', reasons: ['a', 'a'] }, policyOf({}), {}, sound, now)).toEqual({
      level: 'high',
      reasons: ['a'],
    });
  });

  it('names thin and old evidence, and traffic that moves faster than experiments may', () => {
    const weak = [{ baseline: { value: 1, n: 49 }, collected_at: '2026-01-01T00:00:00Z' }];
    expect(assessRisk({}, policyOf({}), { type: 'canary', steps: [{ traffic_percent: 10 }] }, weak, now)).toMatchObject(
      { level: 'medium', reasons: { length: 3 } },
    );
    expect(assessRisk({}, undefined, { type: 'immediate' }, [], now).reasons).toEqual([
      'immediate moves all traffic in one step',
      'The plan contains no evidence',
    ]);
    expect(assessRisk({}, undefined, { type: 'recreate' }, sound, now).reasons).toEqual([
      'recreate stops the active revision before the candidate starts: neither serves requests in between',
    ]);
    const auto = { type: 'auto', steps: [{ traffic_percent: 10 }] };
    expect(assessRisk({}, policyOf({}), auto, sound, now)).toMatchObject({ level: 'medium', reasons: { length: 1 } });
  });
});
