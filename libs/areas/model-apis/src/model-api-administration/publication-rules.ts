import type { FieldIssue, Principal } from '@slipway/platform-http';
import type { Revision } from '@slipway/ports/revisions';
import { adoptedUrls } from './binding-target.js';
import { withResult } from './binding.entity.js';
import type { ServableBinding } from './binding.query.js';
import type { AudienceDto, CreatePublicationDto } from './publication.dto.js';

/** Returns the errors that follow from the body alone (422). */
export function publicationIssues({ bindings, audience }: CreatePublicationDto): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const seen = new Set<string>();
  bindings.forEach(({ binding_id }, index) => {
    const field = `bindings[${index}].binding_id`;
    if (seen.has(binding_id)) issues.push({ field, code: 'duplicate', message: `${field} repeats a binding` });
    seen.add(binding_id);
  });
  if (bindings.every(({ weight }) => weight === 0))
    issues.push({
      field: 'bindings',
      code: 'weights',
      message: 'bindings must contain at least one with a weight above 0',
    });
  if (audience?.visibility === 'shared' && audience.tenants.length > 0) {
    issues.push({
      field: 'audience.tenants',
      code: 'not_applicable',
      message: 'audience.tenants must be empty if visibility is shared, which includes every tenant',
    });
  }
  return issues;
}

/**
 * Returns the reasons why bindings cannot serve the product, one entry for each binding (409).
 * @param isReady false for a revision without a ready instance
 */
export function bindingMisses(
  body: CreatePublicationDto,
  rows: ReadonlyMap<string, ServableBinding>,
  isReady: (binding: ServableBinding) => boolean,
): FieldIssue[] {
  return body.bindings.flatMap(({ binding_id: id }, index) => {
    const miss = missOf(rows.get(id), body.product_id, isReady);
    return miss ? [{ field: `bindings[${index}].binding_id`, code: miss.code, message: `${id} ${miss.message}` }] : [];
  });
}

/**
 * Returns a revision that shares its server with another one of the publication although the server answers to any
 * name: traffic split between the two would reach one model. Returns undefined if there is none.
 */
export function sharesServer(
  rows: readonly Pick<ServableBinding, 'revision_id' | 'checks'>[],
  revisions: readonly Pick<Revision, 'id' | 'name' | 'spec'>[],
): { name: string; url: string } | undefined {
  const holders = new Map<string, string>();
  const answersToAny = rows.filter(({ checks }) =>
    checks.some((check) => check.name === 'unknown_model' && withResult(check).result === 'not_applicable'),
  );
  const ids = new Set(answersToAny.map(({ revision_id }) => revision_id));
  for (const { id, name, spec } of revisions.filter((one) => ids.has(one.id)))
    for (const url of adoptedUrls(spec)) {
      if ((holders.get(url) ?? id) !== id) return { name, url };
      holders.set(url, id);
    }
  return undefined;
}

/** Whether a publication has tenants in addition to the publishing one. */
export function hasOtherTenants({ visibility, tenants }: AudienceDto, publisherId: string): boolean {
  return visibility === 'shared' || tenants.some((id) => id !== publisherId);
}

/**
 * Whether tenants of a publication share a prefix cache that `cache_salt` does not divide. Response times then show one
 * tenant which prompts of another are cached.
 * @param bindings `hasCacheSalt` is false for suppliers, which promise nothing
 */
export function sharesPrefixCache(
  audience: AudienceDto,
  publisherId: string,
  bindings: readonly { weight: number; hasCacheSalt: boolean }[],
): boolean {
  return (
    hasOtherTenants(audience, publisherId) && bindings.some(({ weight, hasCacheSalt }) => weight > 0 && !hasCacheSalt)
  );
}

function missOf(
  binding: ServableBinding | undefined,
  productId: string,
  isReady: (binding: ServableBinding) => boolean,
): { code: string; message: string } | undefined {
  if (!binding) return { code: 'unknown', message: 'is not a target binding' };
  if (binding.product_id !== productId) return { code: 'other_product', message: 'is bound to another product' };
  if (binding.state !== 'qualified') return { code: 'not_qualified', message: `is ${binding.state}` };
  if (!isReady(binding))
    return {
      code: 'not_ready',
      message: 'was qualified, but its revision has no ready instance now; qualify it again',
    };
  return undefined;
}

type Publisher = Pick<Principal, 'tenantId' | 'tenantName' | 'isOperatorTenant'>;

/**
 * Whether this tenant may offer a slug: the vendor must be the exact name of the tenant, because two names may differ
 * only in case. The operator tenant may offer any.
 */
export function isOwnSlug(slug: string, { tenantName, isOperatorTenant }: Publisher): boolean {
  return isOperatorTenant || slug.startsWith(`${tenantName}/`);
}

/** Whether an audience is within this tenant. Only the operator tenant may offer anything to others. */
export function isOwnAudience(audience: AudienceDto | undefined, { tenantId, isOperatorTenant }: Publisher): boolean {
  if (isOperatorTenant || audience === undefined) return true;
  return audience.visibility === 'tenant' && audience.tenants.every((id) => id === tenantId);
}
