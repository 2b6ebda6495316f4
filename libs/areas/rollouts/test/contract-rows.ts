import { activateNewest, owned, SPEC, SPEC_WITH_ALL, type Rows } from '@slipway/platform-testing/contract';

const METRIC = { name: 'error_rate', check: 'threshold', threshold: 1, operator: 'lte' };
const CANARY = {
  type: 'canary',
  steps: [{ traffic_percent: 50 }, { traffic_percent: 100 }],
  bake: { seconds: 60, metrics: [METRIC] },
};

export const ROWS: Rows = {
  createRollout: {
    status: 202,
    audit: 'rollout.create',
    valid: async (bed) => ({ params: { name: await bed.deployment() }, body: { spec: SPEC } }),
    full: () => ({ spec: SPEC_WITH_ALL, strategy: CANARY, analysis: { metrics: [METRIC] } }),
    // An endpoint belongs to another kind of target than engines do.
    apart: ['spec.endpoint'],
  },
  restartDeployment: {
    status: 202,
    audit: 'deployment.restart',
    valid: async (bed) => ({ params: { name: (await bed.active()).name }, body: {} }),
  },
  createRollback: {
    status: 202,
    audit: 'rollback.create',
    example: { status: 404, why: 'there is one revision alone' },
    valid: async (bed) => {
      const { id, name } = await bed.active();
      await bed.make('POST', `/deployments/${name}/rollouts`, {
        spec: { ...SPEC, model: { id: 'second' } },
        strategy: { type: 'candidate' },
      });
      const [first] = await owned<{ id: string; tenant_id: string }>(
        bed.api,
        'select id, tenant_id from revisions where deployment_id = $1 and number = 1',
        [id],
      );
      const second = await activateNewest(bed.api, id);
      for (const revision of [first!.id, second]) {
        await owned(
          bed.api,
          'insert into revision_activations (tenant_id, deployment_id, revision_id) values ($1, $2, $3)',
          [first!.tenant_id, id, revision],
        );
      }
      return { params: { name }, body: {} };
    },
  },
};
