import { prepared } from '@slipway/platform-database';

/**
 * All tenants that know an identity: a join with their names, on the way of every request. It runs as the system because the tenant is
 * what it finds out, and without a cache so that a revocation holds at the next request of every process.
 */
export const LOOK_UP_IDENTITY = prepared(
  'console-access-look-up',
  `select a.tenant_id, t.name as tenant_name, t.is_operator, a.scopes, a.status
   from console_access a join tenants t on t.id = a.tenant_id
   where a.provider = $1 and a.external_organization_id = $2 and a.external_user_id = $3 order by t.name`,
);

export interface IdentityRow {
  tenant_id: string;
  tenant_name: string;
  is_operator: boolean;
  scopes: string[];
  status: 'active' | 'revoked';
}
