import { describe, expect, it } from '@jest/globals';
import {
  changesOf,
  findingOf,
  NOW,
  outcomeOf,
  policyOf,
  proposalOf,
  quietWeek,
  situation,
  SPEC,
} from '../../test/situations.js';
import { ideaKeyOf } from './idea.js';

const CHANGES = [
  { path: '/scaling/min_replicas', value: 2 },
  { path: 'scaling.max_replicas', value: 4 },
];
const POLICY = policyOf({ workload: { profile: 'chat' } });
const KEY = ideaKeyOf(CHANGES, SPEC, POLICY, null);

describe('the key of an idea', () => {
  it('is the same for the same values in another order, from other values, and at another load', () => {
    expect(ideaKeyOf([...CHANGES].reverse(), SPEC, POLICY, null)).toBe(KEY);
    expect(ideaKeyOf([{ path: '/scaling/max_replicas', value: 4 }, CHANGES[0]!], SPEC, POLICY, null)).toBe(KEY);
    expect(ideaKeyOf(CHANGES, { ...SPEC, scaling: { min_replicas: 7 } }, POLICY, null)).toBe(KEY);
    expect(ideaKeyOf(CHANGES, SPEC, policyOf({ workload: { profile: 'chat', request_rate: 9 } }), null)).toBe(KEY);
  });

  it.each([
    ['a value', [{ ...CHANGES[0]!, value: 3 }, CHANGES[1]!], SPEC, POLICY],
    ['a change', [CHANGES[0]!], SPEC, POLICY],
    ['the model', CHANGES, { ...SPEC, model: { id: 'other' } }, POLICY],
    ['the version of the model', CHANGES, { ...SPEC, model: { id: 'm', revision: 'b' } }, POLICY],
    ['the engine', CHANGES, { ...SPEC, runtime: { ...SPEC.runtime, engine: 'vllm' } }, POLICY],
    ['the target', CHANGES, { ...SPEC, runtime: { ...SPEC.runtime, target: 'cluster' } }, POLICY],
    ['the accelerator', CHANGES, { ...SPEC, resources: { accelerator: 'nvidia-l4' } }, POLICY],
    ['the workload', CHANGES, SPEC, policyOf({ workload: { profile: 'rag' } })],
    ['the policy', CHANGES, SPEC, undefined],
  ])('is another one with another value of %s', (_what, changes, spec, policy) => {
    expect(ideaKeyOf(changes, spec, policy, null)).not.toBe(KEY);
  });

  it('is another one once the engine has another entry in the configuration', () => {
    expect(ideaKeyOf(CHANGES, SPEC, POLICY, 'a')).not.toBe(KEY);
    expect(ideaKeyOf(CHANGES, SPEC, POLICY, 'a')).not.toBe(ideaKeyOf(CHANGES, SPEC, POLICY, 'b'));
  });
});

describe('an idea that failed', () => {
  const { changes } = proposalOf(situation())!;
  const key = ideaKeyOf(changes, SPEC, policyOf({}), null);
  const at = new Date(NOW.getTime() - 3_600_000);
  const failed = (result: 'worse' | 'no_effect' | 'rejected') => [{ key, planId: 'plan_7', result, at }];

  it.each([
    ['worse', 'made the service worse'],
    ['no_effect', 'had no effect'],
    ['rejected', 'was rejected'],
  ] as const)('is not proposed again after %s, and the decision names the plan', (result, text) => {
    const finding = findingOf({ failedIdeas: failed(result) });
    expect(finding).toMatchObject({ kind: 'missed', because: 'barred' });
    expect(finding.message).toContain(`Plan plan_7 with the same changes ${text}`);
    expect('until' in finding && finding.until).toEqual(new Date(at.getTime() + 604_800_000));
  });

  it('is proposed for another model, and other ideas are proposed for this one', () => {
    const spec = { ...SPEC, model: { id: 'other' } };
    expect(outcomeOf(situation({ spec, failedIdeas: failed('worse') }))).toBe('propose');
    expect(outcomeOf(situation({ engineVersion: 'b', failedIdeas: failed('worse') }))).toBe('propose');
    const policy = { reliability: { spare_replicas: 1 } };
    expect(changesOf(situation({ policy, failedIdeas: failed('worse') }))).toEqual(['/scaling/min_replicas 3']);
  });

  it('is not proposed while all SLOs are met either', () => {
    const down = proposalOf(quietWeek())!;
    const week = quietWeek();
    const bar = {
      key: ideaKeyOf(down.changes, week.spec, week.policy, null),
      planId: 'plan_8',
      result: 'worse' as const,
      at,
    };
    expect(outcomeOf(quietWeek({ failedIdeas: [bar] }))).toBe('quiet barred');
  });
});
