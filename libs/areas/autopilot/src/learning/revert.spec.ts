import { describe, expect, it } from '@jest/globals';
import type { PlanToRevert } from '@slipway/ports/plans';
import { policyOf, SPEC, specOf } from '../../test/situations.js';
import { applyChanges } from '../plans/plan-changes.js';
import { invertChanges, revertDraft } from './revert.js';

const AT = new Date('2026-06-01T12:00:00Z');
const PLAN: PlanToRevert = {
  planId: 'plan_1',
  summary: 'One replica instead of 2',
  changes: [{ op: 'replace', path: '/scaling/min_replicas', from: 2, value: 1, rationale: null }],
  assumes: { peak_request_rate: 3, input_tokens_p95: 500, output_tokens_p95: 100, engine_version: 'sim' },
  predictedImpact: {
    metrics: [
      {
        metric: 'ttft_ms',
        stat: 'p95',
        now: 400,
        baseline: { low: 380, high: 420, n: 900 },
        predicted: { value: 500, low: 400, high: 625 },
      },
    ],
  },
  outcomes: [
    {
      at: AT,
      metric: 'ttft_ms',
      stat: 'p95',
      now: 400,
      predicted: { value: 500, low: 400, high: 625 },
      achieved: { value: 2_000, low: 1_900, high: 2_100, n: 700 },
      within: false,
      logError: 1.39,
      result: 'worse',
      hasMoved: true,
    },
  ],
};
const active = { name: 'chat-00002', spec: specOf({ min_replicas: 1 }) };

describe('the inverted changes', () => {
  it.each([
    ['a value', [{ op: 'replace', path: '/scaling/min_replicas', value: 5 }]],
    ['a new value', [{ op: 'add', path: '/scaling/max_replicas', value: 5 }]],
    ['an object', [{ op: 'add', path: '/resources', value: { accelerator: 'nvidia-l4' } }]],
    ['a value that is removed', [{ op: 'remove', path: '/runtime/engine' }]],
    [
      'a value twice',
      [
        { op: 'replace', path: '/scaling/min_replicas', value: 5 },
        { op: 'replace', path: '/scaling/min_replicas', value: 6 },
      ],
    ],
    [
      'an object and its member',
      [
        { op: 'replace', path: '/scaling', value: { min_replicas: 3, max_replicas: 4 } },
        { op: 'replace', path: '/scaling/max_replicas', value: 9 },
      ],
    ],
    [
      'a value that is added and removed again',
      [
        { op: 'add', path: '/scaling/max_replicas', value: 5 },
        { op: 'remove', path: '/scaling/max_replicas' },
      ],
    ],
  ] as const)('restore the spec after %s', (_what, changes) => {
    const applied = applyChanges(SPEC, changes as unknown as Parameters<typeof applyChanges>[1]);
    expect(applied.issues).toEqual([]);
    const after = applyChanges(applied.spec as unknown as typeof SPEC, invertChanges(applied.changes));
    expect(after.issues).toEqual([]);
    expect(after.spec).toEqual(SPEC);
  });
});

describe('a revert plan', () => {
  const draft = revertDraft(PLAN, active, policyOf({}));

  it('takes the changes back, says why, and promises the values before', () => {
    expect(draft).toMatchObject({
      kind: 'revert',
      changes: [{ op: 'replace', path: '/scaling/min_replicas', value: 2 }],
      rollout: { spec_patch: { scaling: { min_replicas: 2 } }, base_revision: 'chat-00002' },
      assumes: PLAN.assumes,
      evidence: [{ metric: 'ttft_ms', stat: 'p95', baseline: { value: 400 }, candidate: { value: 2_000, n: 700 } }],
      predictedImpact: { metrics: [{ now: 2_000, predicted: { value: 400, low: 380, high: 420 }, calibrated_on: 0 }] },
    });
    expect(draft.summary).toBe(
      'Plan plan_1 made the service worse: TTFT p95 is 2,000 ms, and was 400 ms before it. Take it back: set scaling.min_replicas to 2.',
    );
  });

  it('follows the policy: its steps, and its error rate', () => {
    expect(draft.rollout).toMatchObject({
      strategy: { type: 'canary', steps: [{ traffic_percent: 5 }, {}, {}, {}, { traffic_percent: 100 }] },
      analysis: { metrics: [{ name: 'error_rate', check: 'threshold', threshold: 0.05 }] },
    });
    const none = revertDraft(PLAN, active, policyOf({ experiment_budget: { max_traffic_percent: 0 } }));
    expect(none.rollout).toMatchObject({ strategy: { type: 'candidate' } });
  });

  it('promises 25 % around a value whose interval is unknown, and the newest outcome counts', () => {
    const [first] = PLAN.outcomes;
    const newer = { ...first!, at: new Date(AT.getTime() + 1), achieved: { value: 900, low: 1, high: null, n: 1 } };
    const of = { ...PLAN, predictedImpact: null, outcomes: [first!, newer] };
    const { metrics } = revertDraft(of, active, policyOf({})).predictedImpact as { metrics: any[] };
    expect(metrics).toHaveLength(1);
    expect(metrics[0]).toMatchObject({ now: 900, predicted: { value: 400 } });
    expect(metrics[0].predicted.high / 400).toBeCloseTo(400 / metrics[0].predicted.low);
    expect(metrics[0].predicted.high).toBeCloseTo(400 * Math.exp(0.25));
  });
});
