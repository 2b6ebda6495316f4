import type { Tx } from '@slipway/platform-database';
import { In } from 'typeorm';
import { TenantOrganizationEntity } from './tenant-organization.entity.js';
import { RECHECK_SIGN_INS } from './tenant.query.js';

/** Returns the organizations of a provider that belong to tenants, in order. A tenant without any has no entry. */
export async function organizationsOf(tx: Tx, provider: string, tenantIds: string[]): Promise<Map<string, string[]>> {
  const rows = await tx.repository(TenantOrganizationEntity).findBy({ tenant_id: In(tenantIds), provider });
  const found = new Map<string, string[]>();
  for (const { tenant_id, external_organization_id } of rows)
    found.set(tenant_id, [...(found.get(tenant_id) ?? []), external_organization_id]);
  for (const ids of found.values()) ids.sort();
  return found;
}

/**
 * Makes these the organizations of a tenant. Open event streams check their access again: those of the tenant if it
 * loses one, and those of the operator tenant if it gets one that had no owner.
 * @param tx of the system, holding the tenant's row
 */
export async function setOrganizations(tx: Tx, provider: string, tenantId: string, ids: string[]): Promise<void> {
  const organizations = tx.repository(TenantOrganizationEntity);
  await organizations.delete({ tenant_id: tenantId, provider });
  await organizations.insert(ids.map((id) => ({ tenant_id: tenantId, provider, external_organization_id: id })));
  await tx.query(RECHECK_SIGN_INS);
}
