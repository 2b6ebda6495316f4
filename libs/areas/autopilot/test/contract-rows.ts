import type { Rows } from '@slipway/platform-testing/contract';

const CHANGE = { op: 'replace', path: '/scaling/min_replicas', from: 1, value: 2 };
const EVIDENCE = {
  kind: 'benchmark',
  metric: 'ttft_ms',
  stat: 'p95',
  baseline: { value: 300, n: 500 },
  candidate: { value: 180, n: 500 },
};

export const ROWS: Rows = {
  getAutopilotDiagnosis: {
    status: 200,
    valid: async (bed) => {
      const { name } = await bed.active();
      await bed.make('PUT', `/deployments/${name}/continual-optimization/policy`);
      return { params: { name } };
    },
  },
  getAutopilotCalibration: {
    status: 200,
    tenancy:
      'reads the outcomes of the tenant of the caller; autopilot-learning.e2e.spec.ts shows that it reads no others',
    valid: async () => ({}),
  },
  createAutopilotPlan: {
    status: 201,
    audit: 'plan.create',
    tenancy: 'creates in the tenant of the caller; a foreign deployment is 404, which autopilot.e2e.spec.ts shows',
    valid: async (bed) => ({ body: { deployment: (await bed.active()).name, changes: [CHANGE] } }),
    full: (body) => ({ ...body, evidence: [EVIDENCE], risk: { level: 'low' } }),
  },
};
