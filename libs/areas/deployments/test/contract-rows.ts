import type { Rows } from '@slipway/platform-testing/contract';

const STEPS = [{ traffic_percent: 50 }, { traffic_percent: 100 }];

export const ROWS: Rows = {
  createDeployment: {
    status: 201,
    audit: 'deployment.create',
    tenancy: 'creates in the tenant of the caller',
    valid: async (bed) => ({ body: { name: bed.name('new') } }),
    full: (body) => ({ ...body, default_strategy: { type: 'canary', steps: STEPS } }),
  },
  listDeployments: { status: 200, tenancy: 'lists the deployments of the caller', valid: async () => ({}) },
  getDeployment: { status: 200, valid: async (bed) => ({ params: { name: await bed.deployment() } }) },
  deleteDeployment: {
    status: 202,
    audit: 'deployment.delete',
    valid: async (bed) => ({ params: { name: await bed.deployment() } }),
  },
  listDeploymentEvents: { status: 200, valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment } }) },
};
