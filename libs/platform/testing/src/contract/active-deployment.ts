import pg from 'pg';
import { expectStatus, type ApiClient } from './api-client.js';

export interface ActiveDeployment {
  id: string;
  name: string;
  revisionId: string;
}

const SPEC = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim', args: { ttft_ms: 20 } } };

/**
 * Makes a deployment whose first revision is active. No worker runs during these tests, so this function writes its
 * rows instead.
 */
export async function activeDeployment(
  api: ApiClient,
  name: string,
  options: { token?: string; body?: object; spec?: object } = {},
): Promise<ActiveDeployment> {
  const { token } = options;
  const { id } = expectStatus(
    await api.send('POST', '/api/v1/deployments', { token, body: { name, ...options.body } }),
    201,
  );
  expectStatus(
    await api.send('POST', `/api/v1/deployments/${name}/rollouts`, {
      token,
      body: { spec: options.spec ?? SPEC, strategy: { type: 'candidate' } },
    }),
    202,
  );
  return { id, name, revisionId: await activateNewest(api, id) };
}

/** Marks the rollout of the newest revision as succeeded, with all traffic on that revision. */
export async function activateNewest(api: ApiClient, deploymentId: string): Promise<string> {
  const [revision] = await owned<{ id: string }>(
    api,
    `update revisions set state = 'active' where deployment_id = $1
    and number = (select max(number) from revisions where deployment_id = $1) returning id`,
    [deploymentId],
  );
  await owned(
    api,
    `update operations set status = 'succeeded', progress = 100, completed_at = now() where resource_id = $1`,
    [deploymentId],
  );
  await owned(
    api,
    `update deployments set active_revision_id = $2, candidate_revision_id = null, current_operation_id = null, state = 'active' where id = $1`,
    [deploymentId, revision!.id],
  );
  return revision!.id;
}

/** Runs a statement as the owner of the database, to whom row-level security does not apply. */
export async function owned<R = Record<string, any>>(
  api: ApiClient,
  text: string,
  values: unknown[] = [],
): Promise<R[]> {
  const client = new pg.Client({ connectionString: api.database.ownerUrl });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as R[];
  } finally {
    await client.end();
  }
}
