import { prepared, type Tx } from '@slipway/platform-database';

/** SQL: the name by which the operator's file calls the tenant whose id is in a column; empty for a tenant that there is not. */
export const tenantNameOf = (column: string): string =>
  `coalesce((select tenants.name from tenants where tenants.id = ${column}), '')`;

const TENANT_NAME = prepared('auth-tenant-name', `select ${tenantNameOf('$1')} as name`);

/** Names never change and tenants stay, so one look is enough. */
const known = new Map<string, string>();
const MAX_KNOWN = 10_000;

/** The same for one id, in any transaction. */
export async function tenantName(tx: Tx, tenantId: string): Promise<string> {
  const name = known.get(tenantId);
  if (name !== undefined) return name;
  // Of its own row a tenant's transaction sees nothing either.
  const [tenant] = await tx.lookAsSystem<{ name: string }>(TENANT_NAME, [tenantId]);
  if (!tenant?.name) return '';
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(tenantId, tenant.name);
  return tenant.name;
}
