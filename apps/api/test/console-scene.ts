import type { BodyOf } from '@slipway/sdk';
import type { LeakySupplier } from './leaky-supplier.js';
import type { Stack } from './stack.js';

export const sim = (model: string, args: Record<string, unknown> = {}) => ({
  model: { id: model },
  runtime: { target: 'local', engine: 'sim', args },
});

/** A deployment whose first revision serves. */
export async function serve(stack: Stack, name: string, args: Record<string, unknown> = {}): Promise<void> {
  await stack.slipway().deployments.create({ name });
  const id = await stack.rollOut(name, { spec: sim(`${name}-one`, args), strategy: { type: 'immediate' } });
  const { status, message } = await stack.operation(id);
  if (status !== 'succeeded') throw new Error(`${name} does not serve: ${message}`);
}

/** One of everything that a screen can show. @returns the parameters of the screens that need one */
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

/** A published model API of this supplier. @returns the product's id */
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

/** A token that belongs to this person. */
export async function person(stack: Stack, id: string, scope: 'viewer' | 'operator' | 'admin'): Promise<string> {
  const body: BodyOf<'createToken'> = { name: id, scopes: [scope], owner: { type: 'person', id } };
  return (await stack.slipway().tokens.create(body)).token;
}
