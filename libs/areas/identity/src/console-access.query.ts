import { prepared } from '@slipway/platform-database';

const RECORD = `id, provider, external_organization_id, external_user_id, display_name, status = 'active' as access, scopes, status,
  slipway_rfc3339(created_at) as created_at, slipway_rfc3339(updated_at) as updated_at, updated_by`;

export interface ConsoleAccessRow {
  id: string;
  provider: string;
  external_organization_id: string;
  external_user_id: string;
  display_name: string | null;
  access: boolean;
  scopes: string[];
  status: 'active' | 'revoked';
  created_at: string;
  updated_at: string;
  updated_by: { type: string; id: string };
}

/** Needs no row lock: whoever writes mappings of the tenant holds the lock on its admins. */
export const FIND_ACCESS = prepared(
  'console-access-find',
  `select ${RECORD} from console_access where tenant_id = $1 and provider = $2 and external_organization_id = $3 and external_user_id = $4`,
);

/** A name that is not given stays. */
export const PUT_ACCESS = prepared(
  'console-access-put',
  `insert into console_access (id, tenant_id, provider, external_organization_id, external_user_id, display_name, scopes, status, updated_by)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (provider, external_organization_id, external_user_id, tenant_id) do update
   set display_name = coalesce(excluded.display_name, console_access.display_name), scopes = excluded.scopes, status = excluded.status,
     updated_at = now(), updated_by = excluded.updated_by
   returning ${RECORD}`,
);

export const LIST_ACCESS = prepared(
  'console-access-list',
  `select ${RECORD} from console_access where tenant_id = $1 and ($2::text is null or id < $2) order by id desc limit $3`,
);

/**
 * All tenants that know an identity. It runs as the system because the tenant is what it finds out, and without a cache so
 * that a revocation holds at the next request of every process.
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
