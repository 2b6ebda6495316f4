import type { Principal } from '@slipway/platform-http';
import type { AudienceDto } from './publication.dto.js';

type Publisher = Pick<Principal, 'tenantId' | 'tenantName' | 'isOperatorTenant'>;

/**
 * Whether a slug is this tenant's to offer: its vendor is the tenant's name, to the letter, since two names may differ in their
 * case alone. The operator tenant may offer any.
 */
export function isOwnSlug(slug: string, { tenantName, isOperatorTenant }: Publisher): boolean {
  return isOperatorTenant || slug.startsWith(`${tenantName}/`);
}

/** Whether an audience keeps within this tenant. Only the operator tenant may offer anything to others. */
export function isOwnAudience(audience: AudienceDto | undefined, { tenantId, isOperatorTenant }: Publisher): boolean {
  if (isOperatorTenant || audience === undefined) return true;
  return audience.visibility === 'tenant' && audience.tenants.every((id) => id === tenantId);
}
