import { activeDeployment, owned } from './active-deployment.js';
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
  const created = expectStatus(
    await api.send('POST', '/api/v1/tokens', { body: { name: 'theirs', scopes: ['viewer'] } }),
    201,
  );
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
  const { operation } = expectStatus(
    await api.send('POST', `/api/v1/deployments/${name}/rollouts`, { body: { spec } }),
    202,
  );
  return { name: name!, id: operation.id, revision: '1', a: '1', b: '1' };
});

const plan = once(async (api) => {
  const { name } = await activeDeployment(api, 'planned');
  const body = { deployment: name, rollout: { spec_patch: { scaling: { min_replicas: 2 } } } };
  return { id: expectStatus(await api.send('POST', '/api/v1/autopilot/plans', { body }), 201).id };
});

const webhook = once(async (api) => {
  const created = expectStatus(
    await api.send('POST', '/api/v1/webhooks', { body: { url: 'https://hooks.example.com/' } }),
    201,
  );
  return { id: created.id };
});

const product = once(async (api) => {
  const { id } = expectStatus(
    await api.send('POST', '/api/v1/admin/model-api/products', { body: { slug: 'theirs/chat' } }),
    201,
  );
  return { id };
});

const binding = once(async (api) => {
  const target = { supplier: 'someone', base_url: 'http://127.0.0.1:9/v1', model: 'm' };
  const body = { product_id: (await product(api)).id, target };
  return { id: expectStatus(await api.send('POST', '/api/v1/admin/model-api/target-bindings', { body }), 201).id };
});

/** For its own tenant alone. No worker runs that would ask the binding's target. */
const publication = once(async (api) => {
  const { id } = await binding(api);
  await owned(api, `update model_api_target_bindings set state = 'qualified' where id = $1`, [id]);
  const body = { product_id: (await product(api)).id, bindings: [{ binding_id: id }] };
  return { id: expectStatus(await api.send('POST', '/api/v1/admin/model-api/publications', { body }), 201).id };
});

const catalogEntry = once(async (api) => {
  await publication(api);
  return { id: (await product(api)).id! };
});

const passport = once(async (api) => {
  const { name } = await deployment(api);
  const body = { deployment: name, session_id: 'theirs' };
  return { id: expectStatus(await api.send('POST', '/api/v1/context-passports', { body }), 201).id };
});

const sandbox = once(async (api) => ({
  id: expectStatus(await api.send('POST', '/api/v1/sandboxes', { body: {} }), 201).id,
}));

const sandboxReference = once(async (api) => {
  const body = { provider: 'e2b', base_url: 'https://sandbox.example.com', external_id: 'theirs' };
  return { id: expectStatus(await api.send('POST', '/api/v1/sandboxes/references', { body }), 201).id };
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
  createAutopilotPlan: {
    none: 'creates in the tenant of the caller; a foreign deployment is 404, which autopilot.e2e.spec.ts shows',
  },
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
  // Sandboxes
  createSandbox: { none: 'creates in the tenant of the caller' },
  listSandboxes: { none: 'lists the sandboxes of the caller' },
  getSandbox: { params: sandbox },
  putSandboxFile: { params: sandbox, body: { path: 'a', content: 'b' } },
  listSandboxFiles: { params: sandbox },
  createSandboxReference: { none: 'creates in the tenant of the caller' },
  listSandboxReferences: { none: 'lists the references of the caller' },
  revokeSandboxReference: { params: sandboxReference },
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
  // Model API administration
  createModelApiProduct: { none: 'creates in the tenant of the caller' },
  listModelApiProducts: { none: 'lists the products of the caller' },
  createTargetBinding: {
    none: 'creates in the tenant of the caller; a foreign product is 404, which model-api.e2e.spec.ts shows',
  },
  listTargetBindings: { none: 'lists the bindings of the caller' },
  getTargetBinding: { params: binding },
  qualifyTargetBinding: { params: binding },
  createModelApiPublication: {
    none: 'creates in the tenant of the caller; a foreign product is 404, which model-api.e2e.spec.ts shows',
  },
  listModelApiPublications: { none: 'lists the publications of the caller' },
  withdrawModelApiPublication: { params: publication },
  // Model APIs
  listModelApiCatalog: { none: 'lists what is published for the caller' },
  getModelApiCatalogEntry: { params: catalogEntry },
  // Context Passport
  createContextPassport: {
    none: 'creates in the tenant of the caller; a foreign deployment is 404, which context-passports.e2e.spec.ts shows',
  },
  getContextPassport: { params: passport },
  revokeContextPassport: { params: passport },
  // Audit
  listAudit: { none: 'lists the audit rows of the caller' },
  // Webhooks
  createWebhook: {
    none: 'creates in the tenant of the caller; a foreign deployment is not found, which webhooks.int.spec.ts shows',
  },
  listWebhooks: { none: 'lists the webhooks of the caller' },
  deleteWebhook: { params: webhook },
  listWebhookDeliveries: { params: webhook },
};

/** One resource serves every operation on its kind. */
function once(make: ForeignResource['params']): ForeignResource['params'] {
  let made: Promise<Record<string, string>> | undefined;
  return (api) => (made ??= make(api));
}
