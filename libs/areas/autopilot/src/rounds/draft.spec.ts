import { describe, expect, it } from '@jest/globals';
import type { Slo } from '@slipway/ports/policies';
import {
  draftFor,
  NOW,
  policyOf,
  QUIET_WEEK,
  quietWeek,
  situation,
  SLO,
  specOf,
  type SituationChanges,
} from '../../test/situations.js';
import { soakSecondsOf, type ReviewRecords, type Situation } from './situation.js';

type RecordedSituation = Situation & { records: ReviewRecords };
const draft = (changes: SituationChanges = {}) => draftFor(situation(changes) as RecordedSituation);
const gate = (changes: SituationChanges = {}): object[] =>
  ((draft(changes).rollout as Record<string, any>)['analysis'] as { metrics: object[] }).metrics;

describe('the gate of a plan', () => {
  it('has the threshold of an SLO that the prediction keeps', () => {
    expect(gate()).toEqual([
      { name: 'ttft_ms', stat: 'p95', check: 'threshold', threshold: 1_200, min_samples: 50 },
      { name: 'error_rate', stat: 'rate', check: 'threshold', threshold: 0.05, min_samples: 50 },
    ]);
  });

  it('compares at equal load what the plan does not fix', () => {
    const slos: Slo[] = [SLO, { metric: 'itl_ms', stat: 'p95', threshold: 2 }];
    expect(gate({ policy: { slos } })).toMatchObject([
      { name: 'ttft_ms', check: 'threshold' },
      { name: 'itl_ms', check: 'regression', max_regression_percent: 10 },
      { name: 'error_rate', check: 'threshold' },
    ]);
  });

  it('takes the error rate from the policy, as its own limit or as an SLO, and only once', () => {
    const errors = (sections: object) =>
      gate({ policy: sections }).filter((one) => (one as { name: string }).name === 'error_rate');
    expect(errors({ reliability: { max_error_rate: 0.02 } })).toMatchObject([{ check: 'threshold', threshold: 0.02 }]);
    const slos: Slo[] = [SLO, { metric: 'error_rate', stat: 'rate', threshold: 0.03 }];
    expect(errors({ slos, reliability: { max_error_rate: 0.02 } })).toMatchObject([
      { check: 'threshold', threshold: 0.03 },
    ]);
  });
});

describe('a plan', () => {
  it('has its kind, its assumptions and its predictions with intervals', () => {
    const { kind, assumes, predictedImpact } = draft();
    expect(kind).toBe('scale_up');
    expect(assumes).toMatchObject({ peak_request_rate: 1.31667, engine_version: 'sim' });
    expect(assumes!.output_tokens_p95).toBeGreaterThan(130);
    const { metrics, cost, basis, gpu_hours } = predictedImpact as Record<string, any>;
    expect([cost, gpu_hours, basis.length > 20]).toEqual([null, 0, true]);
    expect(metrics).toMatchObject([{ metric: 'ttft_ms', stat: 'p95', confidence: 0.9, calibrated_on: 0 }]);
    const [{ now, predicted }] = metrics;
    expect([
      now > 1_000,
      predicted.low < predicted.value,
      predicted.value < predicted.high,
      predicted.high < 1_200,
    ]).toEqual([true, true, true, true]);
  });

  it('assumes the declared peak if that is larger', () => {
    expect(draft({ policy: { workload: { request_rate: 1.4 } } }).assumes).toMatchObject({ peak_request_rate: 1.4 });
  });

  it('of fewer replicas has a price before and after', () => {
    const week = quietWeek({
      service: QUIET_WEEK,
      devices: { accelerator: 'nvidia-l4', count: 1 },
      price: { amount: 0.8, currency: 'EUR' },
    });
    expect(draftFor(week as RecordedSituation)).toMatchObject({
      kind: 'scale_down',
      rollout: { spec_patch: { scaling: { min_replicas: 2 } } },
      predictedImpact: { cost: { now: { amount: 3.2, currency: 'EUR' }, predicted: { amount: 1.6, currency: 'EUR' } } },
    });
  });

  it('has evidence whose digest covers the records', () => {
    const [one] = draft().evidence;
    expect(one).toMatchObject({
      kind: 'telemetry',
      metric: 'ttft_ms',
      baseline: { n: 2370 },
      collected_at: NOW.toISOString(),
    });
    const [other] = draft({ service: { tokens: 401 } }).evidence;
    expect(other!.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(other!.digest).not.toBe(one!.digest);
  });

  it.each([
    [1, 30],
    [30, 30],
    [31, 31],
    [179, 179],
    [181, 180],
    [31_536_000, 180],
  ])('soaks as long as evidence must span: %s s are %s s of a step', (min_duration_seconds, seconds) => {
    expect(soakSecondsOf(policyOf({ evidence: { min_duration_seconds } }))).toBe(seconds);
  });

  it('has this soak in each step of its rollout', () => {
    const { strategy } = draft({ policy: { evidence: { min_duration_seconds: 90 } } }).rollout as {
      strategy: { steps: { soak_seconds: number }[] };
    };
    expect(strategy.steps.map(({ soak_seconds }) => soak_seconds)).toEqual([90, 90, 90, 90, 90]);
  });

  it('builds only the candidate if the policy allows no canary', () => {
    const { rollout } = draft({ policy: { experiment_budget: { max_traffic_percent: 0 } } });
    expect(rollout).toMatchObject({ strategy: { type: 'candidate' } });
    expect(rollout).not.toHaveProperty('analysis');
  });

  it('for availability has the minutes as its evidence', () => {
    const service = { refusedMinutes: 100, olderMinutes: 9_880 };
    const policy = { slos: [], reliability: { min_availability_percent: 99.9 } };
    const { evidence, predictedImpact } = draft({ service, policy, spec: specOf({ min_replicas: 1 }) });
    expect(evidence).toMatchObject([{ metric: 'availability_percent', baseline: { value: 99, n: 10_000 } }]);
    expect(predictedImpact).toMatchObject({ metrics: [{ metric: 'availability_percent', now: 99 }] });
  });
});
