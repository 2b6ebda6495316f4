import { activateNewest, activeDeployment, owned } from './active-deployment.js';
import { expectStatus, type Answer, type TestApi } from './boot-api.js';

/** A request that changes something, ready to be sent. */
export interface Prepared {
  /** Path parameters. */
  params?: Record<string, string>;
  query?: string;
  body?: unknown;
  token?: string;
}

export interface Mutation {
  /** What its audit row says. */
  action: string;
  /** Makes everything the request needs, new at each call, so that sending the request changes something. */
  prepare(api: TestApi): Promise<Prepared>;
}

const SPEC = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } };
let count = 0;

function fresh(prefix: string): string {
  count += 1;
  return `${prefix}-${count}`;
}

async function post(api: TestApi, path: string, body: unknown, status = 201): Promise<any> {
  return expectStatus(await api.send('POST', `/api/v1${path}`, { body }), status);
}

async function deployment(api: TestApi): Promise<string> {
  return (await post(api, '/deployments', { name: fresh('audited') })).name;
}

/** A rollout that came to the given state; no worker runs beside these tests. */
async function operation(api: TestApi, set?: string): Promise<string> {
  const { id } = (await post(api, `/deployments/${await deployment(api)}/rollouts`, { spec: SPEC }, 202)).operation;
  if (set === undefined) return id;
  await owned(api, `update operations set ${set} where id = $1`, [id]);
  await owned(api, `update deployments set current_operation_id = null where current_operation_id = $1`, [id]);
  return id;
}

/** A deployment whose one revision is active and has an instance that can serve. */
async function serving(api: TestApi): Promise<string> {
  const { name, revisionId } = await activeDeployment(api, fresh('routed'));
  await owned(
    api,
    `insert into workloads (revision_id, tenant_id, deployment_id, revision_name, target, replicas, spec)
    select id, tenant_id, deployment_id, 'any', 'local', 1, '{}' from revisions where id = $1 on conflict do nothing`,
    [revisionId],
  );
  await owned(
    api,
    `insert into instances (id, revision_id, tenant_id, target, ordinal, state, base_url, ready_since)
    select $1, $1, tenant_id, 'local', 0, 'ready', 'http://127.0.0.1:9', now() from revisions where id = $1`,
    [revisionId],
  );
  return name;
}

async function plan(api: TestApi): Promise<any> {
  const { name } = await activeDeployment(api, fresh('planned'));
  return post(api, '/autopilot/plans', { deployment: name, rollout: { spec_patch: { scaling: { min_replicas: 2 } } } });
}

async function reference(api: TestApi): Promise<string> {
  return (
    await post(api, '/sandboxes/references', {
      provider: 'e2b',
      base_url: 'https://sandbox.example.com',
      external_id: fresh('ext'),
    })
  ).id;
}

async function product(api: TestApi): Promise<string> {
  return (await post(api, '/admin/model-api/products', { slug: fresh('acme/chat') })).id;
}

async function bindingBody(api: TestApi): Promise<object> {
  return {
    product_id: await product(api),
    target: { supplier: 'sim', base_url: 'http://127.0.0.1:9/v1', model: fresh('m') },
  };
}

async function publicationBody(api: TestApi): Promise<object> {
  const { id, product_id } = await post(api, '/admin/model-api/target-bindings', await bindingBody(api));
  await owned(api, `update model_api_target_bindings set state = 'qualified' where id = $1`, [id]);
  return { product_id, bindings: [{ binding_id: id, weight: 100, priority: 1 }], audience: { visibility: 'shared' } };
}

async function passportBody(api: TestApi): Promise<object> {
  return { deployment: await deployment(api), session_id: fresh('session') };
}

const WEBHOOK = { url: 'https://hooks.example.com/slipway' };

/** One row per mutation of the OpenAPI document: whoever adds one says here how to bring it about and what the audit calls it. */
export const MUTATIONS: Record<string, Mutation> = {
  // Deployments and revisions
  createDeployment: { action: 'deployment.create', prepare: async () => ({ body: { name: fresh('audited') } }) },
  deleteDeployment: {
    action: 'deployment.delete',
    prepare: async (api) => ({ params: { name: await deployment(api) } }),
  },
  createRollout: {
    action: 'rollout.create',
    prepare: async (api) => ({ params: { name: await deployment(api) }, body: { spec: SPEC } }),
  },
  createRollback: {
    action: 'rollback.create',
    prepare: async (api) => {
      const { id, name, revisionId } = await activeDeployment(api, fresh('rolled'));
      await post(api, `/deployments/${name}/rollouts`, { spec: { ...SPEC, model: { id: 'second' } } }, 202);
      await activateNewest(api, id);
      await owned(api, `update revisions set state = 'standby' where id = $1`, [revisionId]);
      return { params: { name }, body: { to_revision: revisionId } };
    },
  },
  setRoute: {
    action: 'route.set',
    prepare: async (api) => ({
      params: { name: await serving(api) },
      body: { targets: [{ revision: '1', weight: 100 }] },
    }),
  },
  setContinualOptimizationPolicy: {
    action: 'policy.set',
    prepare: async (api) => ({ params: { name: await deployment(api) }, body: { mode: 'observe' } }),
  },
  // Operations
  cancelOperation: { action: 'operation.cancel', prepare: async (api) => ({ params: { id: await operation(api) } }) },
  retryOperation: {
    action: 'operation.retry',
    prepare: async (api) => ({
      params: {
        id: await operation(api, `status = 'failed', retryable = true, error_code = 'internal', completed_at = now()`),
      },
    }),
  },
  resumeOperation: {
    action: 'operation.resume',
    prepare: async (api) => ({ params: { id: await operation(api, `status = 'waiting', awaiting = 'pause'`) } }),
  },
  // Autopilot
  createAutopilotPlan: {
    action: 'plan.create',
    prepare: async (api) => {
      const { name } = await activeDeployment(api, fresh('planned'));
      return { body: { deployment: name, rollout: { spec_patch: { scaling: { min_replicas: 2 } } } } };
    },
  },
  approveAutopilotPlan: {
    action: 'plan.approve',
    prepare: async (api) => {
      const { id, content_digest } = await plan(api);
      return { params: { id }, body: { plan_digest: content_digest }, token: await api.createToken('operator') };
    },
  },
  rejectAutopilotPlan: {
    action: 'plan.reject',
    prepare: async (api) => ({ params: { id: (await plan(api)).id }, token: await api.createToken('operator') }),
  },
  // Sandboxes
  createSandbox: { action: 'sandbox.create', prepare: async () => ({}) },
  createSandboxReference: {
    action: 'sandbox_reference.create',
    prepare: async () => ({
      body: { provider: 'e2b', base_url: 'https://sandbox.example.com', external_id: fresh('ext') },
    }),
  },
  revokeSandboxReference: {
    action: 'sandbox_reference.revoke',
    prepare: async (api) => ({ params: { id: await reference(api) } }),
  },
  putSandboxFile: {
    action: 'sandbox_file.put',
    prepare: async (api) => ({
      params: { id: (await post(api, '/sandboxes', {})).id },
      body: { path: 'a', content: 'b' },
    }),
  },
  // Model APIs
  createModelApiProduct: {
    action: 'model_api_product.create',
    prepare: async () => ({ body: { slug: fresh('acme/chat') } }),
  },
  createTargetBinding: { action: 'target_binding.create', prepare: async (api) => ({ body: await bindingBody(api) }) },
  qualifyTargetBinding: {
    action: 'target_binding.qualify',
    prepare: async (api) => ({
      params: { id: (await post(api, '/admin/model-api/target-bindings', await bindingBody(api))).id },
    }),
  },
  createModelApiPublication: {
    action: 'publication.create',
    prepare: async (api) => ({ body: await publicationBody(api) }),
  },
  withdrawModelApiPublication: {
    action: 'publication.withdraw',
    prepare: async (api) => ({
      params: { id: (await post(api, '/admin/model-api/publications', await publicationBody(api))).id },
    }),
  },
  // Context passports and webhooks
  createContextPassport: {
    action: 'context_passport.create',
    prepare: async (api) => ({ body: await passportBody(api) }),
  },
  revokeContextPassport: {
    action: 'context_passport.revoke',
    prepare: async (api) => ({ params: { id: (await post(api, '/context-passports', await passportBody(api))).id } }),
  },
  createWebhook: { action: 'webhook.create', prepare: async () => ({ body: WEBHOOK }) },
  deleteWebhook: {
    action: 'webhook.delete',
    prepare: async (api) => ({ params: { id: (await post(api, '/webhooks', WEBHOOK)).id } }),
  },
  // Identity
  createTenant: { action: 'tenant.create', prepare: async () => ({ body: { name: fresh('tenant') } }) },
  createToken: { action: 'token.create', prepare: async () => ({ body: { name: 'n', scopes: ['viewer'] } }) },
  revokeToken: {
    action: 'token.revoke',
    prepare: async (api) => ({ params: { id: (await post(api, '/tokens', { name: 'n', scopes: ['viewer'] })).id } }),
  },
  setConsoleAccess: {
    action: 'console_access.grant',
    prepare: async () => ({
      body: {
        provider: 'oidc',
        external_organization_id: 'o',
        external_user_id: fresh('u'),
        access: true,
        scopes: ['viewer'],
      },
    }),
  },
};

/** Sends a prepared request of the operation at `path`. */
export function send(
  api: TestApi,
  method: string,
  path: string,
  { params, query, body, token }: Prepared,
  requestId: string,
): Promise<Answer> {
  const target = path.replace(/\{(\w+)\}/g, (_all, name: string) => encodeURIComponent(params?.[name] ?? `no-${name}`));
  const hasBody = method !== 'GET' && method !== 'DELETE';
  return api.send(method, target + (query ?? ''), {
    token,
    body: hasBody ? (body ?? {}) : undefined,
    headers: { 'x-request-id': requestId },
  });
}
