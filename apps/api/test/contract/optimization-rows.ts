import type { Bed, Rows } from './row.js';

const CHANGE = { op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 };
const EVIDENCE = {
  kind: 'benchmark',
  metric: 'ttft_ms',
  stat: 'p95',
  baseline: { value: 300, n: 500 },
  candidate: { value: 180, n: 500 },
};

async function plan(bed: Bed): Promise<{ id: string; content_digest: string }> {
  return bed.make('POST', '/autopilot/plans', { deployment: (await bed.active()).name, changes: [CHANGE] });
}

/** Inference optimization and Autopilot. */
export const OPTIMIZATION_ROWS: Rows = {
  getContinualOptimizationPolicy: {
    status: 200,
    valid: async (bed) => {
      const name = await bed.deployment();
      await bed.make('PUT', `/deployments/${name}/continual-optimization/policy`);
      return { params: { name } };
    },
  },
  setContinualOptimizationPolicy: {
    status: 200,
    valid: async (bed) => ({ params: { name: await bed.deployment() }, body: {} }),
    full: () => ({
      workload: { profile: 'chat', input_tokens: { p50: 1 }, output_tokens: { p50: 1 } },
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
  createAutopilotPlan: {
    status: 201,
    valid: async (bed) => ({ body: { deployment: (await bed.active()).name, changes: [CHANGE] } }),
    full: (body) => ({ ...body, evidence: [EVIDENCE], risk: { level: 'low' } }),
  },
  listAutopilotPlans: { status: 200, valid: async (bed) => (await plan(bed), {}) },
  getAutopilotPlan: { status: 200, valid: async (bed) => ({ params: { id: (await plan(bed)).id } }) },
  approveAutopilotPlan: {
    status: 200,
    valid: async (bed) => {
      const { id, content_digest } = await plan(bed);
      return { params: { id }, body: { plan_digest: content_digest }, token: await bed.someoneElse() };
    },
  },
  rejectAutopilotPlan: { status: 200, valid: async (bed) => ({ params: { id: (await plan(bed)).id }, body: {} }) },
};
