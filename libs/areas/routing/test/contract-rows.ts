import type { Rows } from '@slipway/platform-testing/contract';

export const ROWS: Rows = {
  getDeploymentMetrics: { status: 200, valid: async (bed) => ({ params: { name: await bed.deployment() } }) },
  getRoute: {
    status: 200,
    valid: async (bed) => {
      const name = await bed.serving();
      await bed.make('PUT', `/deployments/${name}/route`, { revision: '1' });
      return { params: { name } };
    },
  },
  setRoute: {
    status: 200,
    audit: 'route.set',
    valid: async (bed) => ({ params: { name: await bed.serving() }, body: { revision: '1' } }),
    full: () => ({ targets: [{ revision: '1', weight: 100 }], affinity: {} }),
  },
};
