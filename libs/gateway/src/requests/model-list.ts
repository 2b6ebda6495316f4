import type { PublishedRow } from '@slipway/dataplane';
import { modelNotFound } from '../gateway.errors.js';
import type { Snapshot } from '../snapshot/snapshot.js';

/** Whether a tenant may call the slug. */
export function isVisible(published: PublishedRow, tenantId: string): boolean {
  const { visibility, tenants } = published.audience;
  return visibility === 'shared' || published.tenant_id === tenantId || tenants.includes(tenantId);
}

interface Model {
  id: string;
  object: 'model';
  created: number;
  owned_by: 'slipway';
}

/** The names that a tenant may send as `model`: its deployments that have a route, and the slugs published to it. */
export function modelsOf(snapshot: Snapshot, tenantId: string): Model[] {
  const models: Model[] = [];
  for (const route of snapshot.routes.values()) {
    if (route.tenant_id === tenantId && route.slots.length > 0)
      models.push(modelOf(route.deployment_name, route.created_at));
  }
  for (const published of snapshot.slugs.values()) {
    if (isVisible(published, tenantId)) models.push(modelOf(published.slug, published.created_at));
  }
  return models.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** @throws GatewayError 404 */
export function modelNamed(snapshot: Snapshot, tenantId: string, id: string): Model {
  const found = modelsOf(snapshot, tenantId).find((model) => model.id === id);
  if (!found) throw modelNotFound(id);
  return found;
}

/** `owned_by` is always our own name: naming a vendor could name the supplier. */
function modelOf(id: string, createdAt: string): Model {
  return { id, object: 'model', created: Math.floor(Date.parse(createdAt) / 1000), owned_by: 'slipway' };
}
