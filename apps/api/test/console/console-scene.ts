import type { BodyOf } from '@slipway/sdk';
import type { LeakySupplier } from '../harness/leaky-supplier.js';
import type { Stack } from '../harness/stack.js';

export const sim = (model: string, args: Record<string, unknown> = {}) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim', args },
});

/** Makes a deployment whose first revision serves. */
export async function serve(stack: Stack, name: string, args: Record<string, unknown> = {}): Promise<void> {
  await stack.slipway().deployments.create({ name });
  const id = await stack.rollOut(name, { spec: sim(`${name}-one`, args), strategy: { type: 'immediate' } });
  const { status, message } = await stack.operation(id);
  if (status !== 'succeeded') throw new Error(`${name} does not serve: ${message}`);
}

/** Makes one of everything that a screen can show. @returns the parameters of the screens that need one */
export async function fill(stack: Stack, supplier: LeakySupplier): Promise<Record<string, string>> {
  const slipway = stack.slipway();
  const alice = await person(stack, 'alice', 'operator');
  await serve(stack, 'chat');
  await slipway.deployments.policy.set('chat', { mode: 'recommend' });
  const changes = [{ op: 'replace' as const, path: '/scaling/min_replicas', from: 1, value: 2 }];
  const plan = await stack.as(alice).autopilot.plans.create({ deployment: 'chat', changes });
  const failing = await stack.rollOut('chat', {
    spec: sim('chat-never', { never_ready: true }),
    progress_deadline_seconds: 1,
  });
  await stack.operation(failing);
  await slipway.deployments.create({ name: 'empty' });

  const sandbox = await slipway.sandboxes.create({});
  await slipway.sandboxes.files.put(sandbox.id, { path: 'notes/a.txt', content: 'text' });
  await slipway.sandboxes.references.create({
    provider: 'custom',
    base_url: 'https://sandboxes.example.com',
    external_id: 'external',
    credential: 'secret',
  });
  await publish(stack, supplier, 'acme/chat');
  await slipway.tenants.create({ name: 'acme' });
  await slipway.webhooks.create({ url: 'https://hooks.example.com/slipway' });
  return { 'deployments/$name': 'chat', 'operations/$id': failing, 'plans/$id': plan.id, 'sandboxes/$id': sandbox.id };
}

/** Publishes a model API of this supplier. @returns the product's id */
export async function publish(stack: Stack, supplier: LeakySupplier, slug: string): Promise<string> {
  const { products, targetBindings, publications } = stack.slipway().admin.modelApi;
  const product = await products.create({ slug, display_name: 'Acme Chat', context_length: 8192 });
  const { baseUrl: base_url, model, credential } = supplier;
  const target = { supplier: 'zzsupplierzz', base_url, model, credential };
  const binding = await targetBindings.create({ product_id: product.id, target });
  await stack.operation((await targetBindings.qualify(binding.id)).operation.id);
  await publications.create({
    product_id: product.id,
    bindings: [{ binding_id: binding.id, weight: 100, priority: 1 }],
    audience: { visibility: 'shared', tenants: [] },
  });
  return product.id;
}

/** Makes a token that belongs to this person. */
export async function person(stack: Stack, id: string, scope: 'viewer' | 'operator' | 'admin'): Promise<string> {
  const body: BodyOf<'createToken'> = { name: id, scopes: [scope], owner: { type: 'person', id } };
  return (await stack.slipway().tokens.create(body)).token;
}

/**
 * Adds revisions after the existing ones, as a year of rollouts leaves them. Writes rows directly:
 * real rollouts would need an engine each.
 */
export async function age(stack: Stack, name: string, revisions: number): Promise<void> {
  await stack.query(
    `insert into revisions (id, tenant_id, deployment_id, number, name, state, spec, spec_digest, source, created_by, ready_at)
     select r.id || '-' || n, r.tenant_id, r.deployment_id, n, $1 || '-' || lpad(n::text, 5, '0'), 'retired',
            jsonb_set(r.spec, '{model,id}', to_jsonb('model-' || n)), encode(sha256(n::text::bytea), 'hex'), r.source, r.created_by, now()
     from revisions r, generate_series(2, $2::int) n where r.name = $1 || '-00001'`,
    [name, revisions],
  );
}

/** Appends events after the existing ones, as the product itself does, so that watchers are notified. */
export async function happen(stack: Stack, name: string, count: number): Promise<void> {
  const { id } = await stack.slipway().deployments.get(name);
  await stack.query(
    `with head as (
       update event_streams set last_sequence = last_sequence + $2 where stream = $1 returning stream, tenant_id, last_sequence - $2 as before
     ), added as (
       insert into events (stream, sequence, tenant_id, id, type, subject, actor, data)
       select h.stream, h.before + n, h.tenant_id, 'evt_' || $3 || '_' || h.before + n, 'route.updated', 'deployments/' || $3, 'system:test',
              '{"generation": 1, "reason": "one of very many"}'
       from head h, generate_series(1, $2::int) n
     )
     select pg_notify('slipway_events', stream) from head`,
    [`deployment/${id}`, count, name],
  );
}
