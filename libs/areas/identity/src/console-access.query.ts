import { locking, prepared } from '@slipway/platform-database';
import type { AccessCheck, Principal } from '@slipway/platform-http';
import { scopesToKeep } from '@slipway/platform-http/auth';
import type { HostedIdentity } from './hosted/hosted-token.js';
import { HOLD_ORGANIZATIONS } from './tenant.query.js';

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

/**
 * Whether the mapping of identity $3 in tenant $4 still gives one of the scopes $5, and its token lasts beyond $6: in
 * the transaction of a mutation, as the system. With $7 the transaction holds the mapping already, so only the time is
 * read.
 */
const requireIdentity = (lock: '' | ' for share'): string => `
  with mapping as materialized (
    select status, scopes && $5::text[] as has_scope from console_access
    where provider = $1 and external_organization_id = $2 and external_user_id = $3 and tenant_id = $4${lock})
  select case
    when $6::timestamptz <= clock_timestamp() then slipway_refuse('token_expired')
    when $7::boolean then true
    when not exists (select from mapping) or not exists (select from tenants t where t.id = $4 and ${IS_GRANTED})
      then slipway_refuse('unauthenticated')
    when not exists (select from mapping where status = 'active') then slipway_refuse('console_access_revoked')
    when not exists (select from mapping where has_scope) then slipway_refuse('scope_insufficient') end`;

/** Fails the transaction in the message of its commit, so that the check costs no round trip. */
const REQUIRE_IDENTITY = prepared('identity-console-access-require', requireIdentity(''));

/** A revocation takes a lock that waits for this one, and this one for that. */
const REQUIRE_AND_LOCK_IDENTITY = locking(
  'caller',
  prepared('identity-console-access-require-and-lock', requireIdentity(' for share')),
);

/** Returns what a mutation of a hosted identity in a tenant reads again. */
export function accessOfIdentity(
  provider: string,
  { organizationId, userId, expiresAt }: HostedIdentity,
  { tenantId, scopes }: Pick<Principal, 'tenantId' | 'scopes'>,
): AccessCheck {
  const mapping = [provider, organizationId, userId, tenantId, scopesToKeep(scopes), expiresAt];
  const values = (isLocked: boolean) => [...mapping, isLocked];
  const statements = { hold: HOLD_ORGANIZATIONS, read: REQUIRE_IDENTITY, lock: REQUIRE_AND_LOCK_IDENTITY };
  return { ...statements, values, isOfSystem: true };
}

export interface IdentityRow {
  tenant_id: string;
  tenant_name: string;
  is_operator: boolean;
  scopes: string[];
  status: 'active' | 'revoked';
  display_name: string | null;
}
