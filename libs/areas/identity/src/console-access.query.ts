import { prepared } from '@slipway/platform-database';

/**
 * Whether organization $2 of provider $1 is that of tenant `t`: it was given to `t`, or to no tenant and `t` is the
 * operator tenant.
 */
const IS_GRANTED = `
  case when exists (select from tenant_organizations o where o.provider = $1 and o.external_organization_id = $2)
  then exists (select from tenant_organizations o where o.provider = $1 and o.external_organization_id = $2 and o.tenant_id = t.id)
  else t.is_operator end`;

/** Reads the grants of other tenants, so it runs as the system. */
export const FIND_ORGANIZATION_GRANT = prepared(
  'identity-organization-grant',
  `select 1 from tenants t where t.id = $3 and ${IS_GRANTED}`,
);

/**
 * Returns all tenants that know an identity and have its organization: a join with their names, run for every request.
 * It runs as the system because the tenant is its result. It has no cache, so that a revocation, or the loss of an
 * organization, holds at the next request of every process. A mapping of an organization that is not its tenant's is
 * ignored: it gives no access, and does not count when a request must name a tenant.
 */
export const LOOK_UP_IDENTITY = prepared(
  'identity-console-access-look-up',
  `select a.tenant_id, t.name as tenant_name, t.is_operator, a.scopes, a.status, a.display_name
   from console_access a join tenants t on t.id = a.tenant_id
   where a.provider = $1 and a.external_organization_id = $2 and a.external_user_id = $3 and ${IS_GRANTED} order by t.name`,
);

export interface IdentityRow {
  tenant_id: string;
  tenant_name: string;
  is_operator: boolean;
  scopes: string[];
  status: 'active' | 'revoked';
  display_name: string | null;
}
