import { describe, expect, it } from '@jest/globals';
import { newFindings, readObject } from '@slipway/platform-http';
import { completePolicy, DEFAULT_PROMOTION, DEFAULT_RELIABILITY, type PartialPolicy } from './policy-defaults.js';
import { SetPolicyDto } from './policy.dto.js';

/** A body as the api reads it. */
const read = (body: object): PartialPolicy => {
  const findings = newFindings();
  const policy = readObject(SetPolicyDto, body, '', findings);
  expect(findings).toEqual({ mistyped: [], broken: [], unknown: [] });
  return JSON.parse(JSON.stringify(policy)) as PartialPolicy;
};

const EMPTY = {
  mode: 'recommend',
  slos: [],
  evidence: { min_samples: 50, min_duration_seconds: 1800, max_age_seconds: 604_800, confidence: 0.95 },
  experiment_budget: { max_parallel: 1, max_traffic_percent: 5, period: 'month' },
  reliability: { min_replicas: 1, spare_replicas: 0, right_size_after_seconds: 604_800, freeze_windows: [] },
  promotion: {
    approvals_required: 1,
    prevent_self_approval: true,
    require_hosted_identity: false,
    max_step_percent: 25,
    cooldown_seconds: 86_400,
    plan_ttl_seconds: 604_800,
    min_gain_percent: 5,
    outcome_window_seconds: 86_400,
  },
};

describe('the defaults of a policy', () => {
  it.each([{}, { evidence: {}, experiment_budget: {}, reliability: {}, promotion: {} }])(
    'are the same for the body %j, read or stored',
    (body) => {
      expect(read(body)).toEqual(EMPTY);
      expect(completePolicy(body)).toEqual(EMPTY);
    },
  );

  it('fill in the rest of a section, and keep what it has', () => {
    const policy = completePolicy({
      evidence: { min_samples: 10 },
      reliability: { spare_replicas: 2, max_error_rate: 0 },
      promotion: { min_gain_percent: 0 },
    });
    expect(policy).toEqual({
      ...EMPTY,
      evidence: { ...EMPTY.evidence, min_samples: 10 },
      reliability: { ...DEFAULT_RELIABILITY, spare_replicas: 2, max_error_rate: 0 },
      promotion: { ...DEFAULT_PROMOTION, min_gain_percent: 0 },
    });
  });

  it('fill in the stat of an SLO by its metric', () => {
    const slos = [
      { metric: 'ttft_ms', threshold: 200 },
      { metric: 'error_rate', threshold: 0.1 },
      { metric: 'itl_ms', stat: 'p50', threshold: 30 },
    ] as const;
    expect(completePolicy({ slos: [...slos] }).slos.map(({ stat }) => stat)).toEqual(['p95', 'rate', 'p50']);
  });

  it('leave a complete policy as it is', () => {
    const policy = completePolicy({
      mode: 'off',
      workload: { profile: 'chat', request_rate: 3 },
      objective: { metric: 'cost_per_mtok', direction: 'minimize' },
      reliability: { freeze_windows: [{ start: '2027-01-01T00:00:00Z', end: '2027-01-02T00:00:00Z' }] },
    });
    expect(completePolicy(policy)).toEqual(policy);
    expect(policy.workload).toEqual({ profile: 'chat', request_rate: 3 });
  });
});
