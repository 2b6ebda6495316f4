import { activeDeployment, owned, type ActiveDeployment } from './active-deployment.js';
import { expectStatus, type ApiClient } from './api-client.js';

export const SPEC = { model: { id: 'm' }, runtime: { target: 'local', engine: 'sim' } };
export const SPEC_WITH_ALL = {
  ...SPEC,
  resources: { count: 1 },
  scaling: { min_replicas: 1 },
  probes: { path: '/health' },
};

/** Makes the resources that requests need, over the API if possible. */
export class Bed {
  private count = 0;
  private readonly people = new Map<string, Promise<string>>();

  constructor(readonly api: ApiClient) {}

  name(stem = 'thing'): string {
    return `${stem}-${++this.count}`;
  }

  /** Posts (or puts) and returns the body of the success. */
  async make(method: 'POST' | 'PUT', path: string, body: Record<string, unknown> = {}, token?: string): Promise<any> {
    const answer = await this.api.send(method, `/api/v1${path}`, { body, ...(token !== undefined && { token }) });
    if (answer.status < 300) return answer.body;
    return expectStatus(answer, 201);
  }

  /** A deployment without revisions. */
  async deployment(): Promise<string> {
    return (await this.make('POST', '/deployments', { name: this.name('chat') })).name;
  }

  active(): Promise<ActiveDeployment> {
    return activeDeployment(this.api, this.name('chat'));
  }

  /** Makes an active deployment with an instance that can serve. */
  async serving(): Promise<string> {
    const deployment = await this.active();
    await this.instance(deployment);
    return deployment.name;
  }

  /** Makes an active deployment whose instance waits for its requests, as a worker would have withdrawn it. */
  async draining(): Promise<string> {
    const deployment = await this.active();
    await this.instance(deployment);
    await owned(
      this.api,
      `update instances set state = 'stopping', drain_until = now() + interval '10 minutes' where revision_id = $1`,
      [deployment.revisionId],
    );
    return deployment.name;
  }

  /** Writes an instance that can serve, as a worker would have started it. */
  async instance({ id, revisionId }: Pick<ActiveDeployment, 'id' | 'revisionId'>): Promise<void> {
    await owned(
      this.api,
      `insert into workloads (revision_id, tenant_id, deployment_id, revision_name, target, replicas, spec)
      select id, tenant_id, deployment_id, 'any', 'local', 1, '{}' from revisions where deployment_id = $1 on conflict do nothing`,
      [id],
    );
    await owned(
      this.api,
      `insert into instances (id, revision_id, tenant_id, target, ordinal, state, base_url, ready_since)
      select $1, $1, tenant_id, 'local', 0, 'ready', 'http://127.0.0.1:9', now() from revisions where id = $1`,
      [revisionId],
    );
  }

  /** A rollout that no worker picks up. */
  async rollout(more: object = {}): Promise<{ deployment: string; id: string }> {
    const deployment = await this.deployment();
    const { operation } = await this.make('POST', `/deployments/${deployment}/rollouts`, { spec: SPEC, ...more });
    return { deployment, id: operation.id };
  }

  /** Makes an operation and sets its columns, as a worker would. */
  async operation(set: string): Promise<{ id: string }> {
    const { id } = await this.rollout();
    await owned(this.api, `update operations set ${set} where id = $1`, [id]);
    await owned(this.api, `update deployments set current_operation_id = null where current_operation_id = $1`, [id]);
    return { id };
  }

  async product(): Promise<string> {
    return (await this.make('POST', '/admin/model-api/products', { slug: this.name('acme/chat') })).id;
  }

  async bindingBody(): Promise<Record<string, unknown>> {
    return {
      product_id: await this.product(),
      target: { supplier: 'someone', base_url: 'http://127.0.0.1:9/v1', model: 'm' },
    };
  }

  async binding(): Promise<{ id: string; product_id: string }> {
    return this.make('POST', '/admin/model-api/target-bindings', await this.bindingBody());
  }

  /** The body for a binding that counts as qualified, because no worker runs here that would check its target. */
  async publicationBody(): Promise<Record<string, unknown>> {
    const { id, product_id } = await this.binding();
    await owned(this.api, `update model_api_target_bindings set state = 'qualified' where id = $1`, [id]);
    return { product_id, bindings: [{ binding_id: id }] };
  }

  /** Makes a publication that only its own tenant sees. */
  async publication(): Promise<{ id: string; product_id: string }> {
    return this.make('POST', '/admin/model-api/publications', await this.publicationBody());
  }

  /** The token of a new tenant that has no resources yet, for resources with a quota. */
  async newTenant(): Promise<string> {
    return (await this.api.createTenant(this.name('tenant'))).token;
  }

  /** The token of an operator with this name. One person plans, and another one approves. */
  person(name: string): Promise<string> {
    const token = this.people.get(name) ?? this.api.createPerson(name);
    this.people.set(name, token);
    return token;
  }
}
