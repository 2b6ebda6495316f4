import type { Rows } from '@slipway/platform-testing/contract';

const METRICS = [{ name: 'error_rate', check: 'threshold', threshold: 1 }];
const NESTED = {
  default_strategy: {
    type: 'canary',
    steps: [{ traffic_percent: 50 }, { traffic_percent: 100 }],
    bake: { seconds: 60, metrics: METRICS },
  },
  default_analysis: { metrics: METRICS },
  protection: { deletion: false },
  scaling: { target_in_flight: 4 },
  media_urls: { allow: 'any' },
};

export const ROWS: Rows = {
  createDeployment: {
    status: 201,
    audit: 'deployment.create',
    tenancy: 'creates in the tenant of the caller',
    valid: async (bed) => ({ body: { name: bed.name('new') } }),
    full: (body) => ({ ...body, ...NESTED }),
  },
  updateDeployment: {
    status: 200,
    audit: 'deployment.update',
    valid: async (bed) => ({ params: { name: await bed.deployment() }, body: { description: bed.name('changed') } }),
    full: (body) => ({ ...body, ...NESTED }),
    // A patch may name twice as many labels as a deployment may have: half of them to remove. An earlier patch may have
    // set the minimum and maximum.
    related: ['labels', 'scaling.max_replicas', 'scaling.idle_seconds'],
  },
  listDeployments: { status: 200, tenancy: 'lists the deployments of the caller', valid: async () => ({}) },
  getDeployment: { status: 200, valid: async (bed) => ({ params: { name: await bed.deployment() } }) },
  deleteDeployment: {
    status: 202,
    audit: 'deployment.delete',
    valid: async (bed) => ({ params: { name: await bed.deployment() } }),
  },
  endDeploymentDrain: {
    status: 200,
    audit: 'deployment.end_drain',
    valid: async (bed) => ({ params: { name: await bed.draining() } }),
  },
  listDeploymentEvents: { status: 200, valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment } }) },
};
