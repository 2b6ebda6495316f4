import { activeDeployment } from './active-deployment.js';
import { expectStatus, type TestApi } from './boot-api.js';

/** How to reach a resource of another tenant with one operation. */
export interface ForeignResource {
  /** Makes the resource as the operator tenant; answers the path's parameters. Called once for each name below. */
  params: (api: TestApi) => Promise<Record<string, string>>;
  /** A body that is sound in itself, so that nothing but the tenant stands in the way. */
  body?: unknown;
  query?: string;
}

/** An operation whose path names no resource of a tenant; the text says why a foreign one cannot be reached. */
export type NoResource = { none: string };

const token = once(async (api) => {
  const created = expectStatus(await api.send('POST', '/api/v1/tokens', { body: { name: 'theirs', scopes: ['viewer'] } }), 201);
  return { id: created.id };
});

const deployment = once(async (api) => {
  expectStatus(await api.send('POST', '/api/v1/deployments', { body: { name: 'theirs' } }), 201);
  return { name: 'theirs' };
});

const spec = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } };

/** The operation of a rollout that no worker ever picks up, and the revision it made. */
const rollout = once(async (api) => {
  const { name } = await deployment(api);
  const { operation } = expectStatus(await api.send('POST', `/api/v1/deployments/${name}/rollouts`, { body: { spec } }), 202);
  return { name: name!, id: operation.id, revision: '1', a: '1', b: '1' };
});

const plan = once(async (api) => {
  const { name } = await activeDeployment(api, 'planned');
  const body = { deployment: name, rollout: { spec_patch: { scaling: { min_replicas: 2 } } } };
  return { id: expectStatus(await api.send('POST', '/api/v1/autopilot/plans', { body }), 201).id };
});

const operation: ForeignResource = { params: async (api) => ({ id: (await rollout(api)).id! }) };
const revision: ForeignResource = { params: rollout };

/**
 * One row per operation of the OpenAPI document. An operation without a row fails the test: whoever adds an operation
 * says here how it keeps tenants apart.
 */
export const FOREIGN: Record<string, ForeignResource | NoResource> = {
  // Deployments
  createDeployment: { none: 'creates in the tenant of the caller' },
  listDeployments: { none: 'lists the deployments of the caller' },
  getDeployment: { params: deployment },
  deleteDeployment: { params: deployment },
  listDeploymentEvents: { params: deployment },
  // Revisions
  createRollout: { params: deployment, body: { spec } },
  createRollback: { params: deployment },
  listRevisions: { params: deployment },
  getRevision: revision,
  diffRevisions: revision,
  // Inference optimization
  getContinualOptimizationPolicy: { params: deployment },
  setContinualOptimizationPolicy: { params: deployment },
  // Autopilot
  createAutopilotPlan: { none: 'creates in the tenant of the caller; a foreign deployment is 404, which autopilot.e2e.spec.ts shows' },
  listAutopilotPlans: { none: 'lists the plans of the caller' },
  getAutopilotPlan: { params: plan },
  approveAutopilotPlan: { params: plan, body: { plan_digest: 'x' } },
  rejectAutopilotPlan: { params: plan },
  // Routing
  getRoute: { params: deployment },
  setRoute: { params: deployment, body: { revision: '1' } },
  // Operations
  listOperations: { none: 'lists the operations of the caller' },
  getOperation: operation,
  cancelOperation: operation,
  retryOperation: operation,
  resumeOperation: operation,
  listOperationEvents: operation,
  // Targets
  listTargets: { none: 'the operator defines the targets for all tenants' },
  // Identity
  createTenant: { none: 'refused to all but the operator tenant' },
  listTenants: { none: 'refused to all but the operator tenant' },
  createToken: { none: 'creates in the tenant of the caller' },
  listTokens: { none: 'lists the tokens of the caller' },
  revokeToken: { params: token },
  whoAmI: { none: 'shows the caller alone' },
  setConsoleAccess: { none: 'maps in the tenant of the caller' },
  listConsoleAccess: { none: 'lists the mappings of the caller' },
};

/** One resource serves every operation on its kind. */
function once(make: ForeignResource['params']): ForeignResource['params'] {
  let made: Promise<Record<string, string>> | undefined;
  return (api) => (made ??= make(api));
}
