import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  getContinualOptimizationPolicy: {
    status: 200,
    valid: async (bed) => {
      const name = await bed.deployment();
      await bed.make('PUT', `/deployments/${name}/continual-optimization/policy`);
      return { params: { name } };
    },
  },
  listContinualOptimizationPolicyVersions: {
    status: 200,
    valid: async (bed) => {
      const name = await bed.deployment();
      await bed.make('PUT', `/deployments/${name}/continual-optimization/policy`);
      return { params: { name } };
    },
  },
  getContinualOptimizationPolicyVersion: {
    status: 200,
    valid: async (bed) => {
      const name = await bed.deployment();
      await bed.make('PUT', `/deployments/${name}/continual-optimization/policy`);
      return { params: { name, version: '1' } };
    },
  },
  setContinualOptimizationPolicy: {
    status: 200,
    audit: 'policy.set',
    valid: async (bed) => ({ params: { name: await bed.deployment() }, body: {} }),
    full: () => ({
      workload: {
        profile: 'chat',
        request_rate: 1,
        concurrency: 1,
        input_tokens: { p50: 1 },
        output_tokens: { p50: 1 },
      },
      objective: { metric: 'ttft_ms', direction: 'minimize' },
      slos: [{ metric: 'ttft_ms', threshold: 200 }],
      evidence: {},
      experiment_budget: { max_cost: { amount: 1, currency: 'USD' } },
      reliability: { freeze_windows: [{ start: '2027-01-01T00:00:00Z', end: '2027-01-02T00:00:00Z' }] },
      promotion: {},
    }),
    // A share has no threshold above 1; evidence must not be too old by the time it is complete.
    related: ['slos[0].threshold', 'evidence.max_age_seconds'],
  },
};
