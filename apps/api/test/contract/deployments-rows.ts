import { activateNewest, owned } from '../active-deployment.js';
import { SPEC, SPEC_WITH_ALL, type Rows } from './row.js';

const METRIC = { name: 'error_rate', check: 'threshold', threshold: 1, operator: 'lte' };
const STEPS = [{ traffic_percent: 50 }, { traffic_percent: 100 }];

/** Deployments, revisions, routing, operations, targets. */
export const DEPLOYMENT_ROWS: Rows = {
  createDeployment: {
    status: 201,
    valid: async (bed) => ({ body: { name: bed.name('new') } }),
    full: (body) => ({ ...body, default_strategy: { type: 'canary', steps: STEPS } }),
  },
  listDeployments: { status: 200, valid: async () => ({}) },
  getDeployment: { status: 200, valid: async (bed) => ({ params: { name: await bed.deployment() } }) },
  deleteDeployment: { status: 202, valid: async (bed) => ({ params: { name: await bed.deployment() } }) },
  listDeploymentEvents: { status: 200, valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment } }) },
  createRollout: {
    status: 202,
    valid: async (bed) => ({ params: { name: await bed.deployment() }, body: { spec: SPEC } }),
    full: () => ({ spec: SPEC_WITH_ALL, strategy: { type: 'canary', steps: STEPS }, analysis: { metrics: [METRIC] } }),
    // An endpoint belongs to another kind of target than engines do.
    apart: ['spec.endpoint'],
  },
  createRollback: {
    status: 202,
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
  listRevisions: { status: 200, valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment } }) },
  getRevision: {
    status: 200,
    valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment, revision: '1' } }),
  },
  diffRevisions: {
    status: 200,
    valid: async (bed) => ({ params: { name: (await bed.rollout()).deployment, a: '1', b: '1' } }),
  },
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
    valid: async (bed) => ({ params: { name: await bed.serving() }, body: { revision: '1' } }),
    full: () => ({ targets: [{ revision: '1', weight: 100 }], affinity: {} }),
  },
  listOperations: { status: 200, valid: async (bed) => (await bed.rollout(), {}) },
  getOperation: { status: 200, valid: async (bed) => ({ params: { id: (await bed.rollout()).id } }) },
  cancelOperation: { status: 200, valid: async (bed) => ({ params: { id: (await bed.rollout()).id }, body: {} }) },
  retryOperation: {
    status: 200,
    valid: async (bed) => ({
      params: await bed.operation(`status = 'failed', error_code = 'internal', retryable = true, completed_at = now()`),
      body: {},
    }),
  },
  resumeOperation: {
    status: 200,
    valid: async (bed) => ({ params: await bed.operation(`status = 'waiting', awaiting = 'approval'`), body: {} }),
  },
  listOperationEvents: { status: 200, valid: async (bed) => ({ params: { id: (await bed.rollout()).id } }) },
  listTargets: { status: 200, valid: async () => ({}) },
};
