import type { FieldIssue } from '@slipway/platform-http';
import type { ServableBinding } from './binding.query.js';
import type { CreatePublicationDto } from './publication.dto.js';

/** Rules that the body breaks in itself (422). */
export function publicationIssues({ bindings, audience }: CreatePublicationDto): FieldIssue[] {
  const issues: FieldIssue[] = [];
  const seen = new Set<string>();
  bindings.forEach(({ binding_id }, index) => {
    const field = `bindings[${index}].binding_id`;
    if (seen.has(binding_id)) issues.push({ field, code: 'duplicate', message: `${field} names a binding twice` });
    seen.add(binding_id);
  });
  if (bindings.every(({ weight }) => weight === 0))
    issues.push({ field: 'bindings', code: 'weights', message: 'bindings must contain one with a weight above 0' });
  if (audience?.visibility === 'shared' && audience.tenants.length > 0) {
    issues.push({
      field: 'audience.tenants',
      code: 'not_applicable',
      message: 'audience.tenants must be empty with visibility shared, which is for every tenant',
    });
  }
  return issues;
}

/** Why a binding cannot serve the product, one entry a binding (409). @param isReady false for a revision without a ready instance */
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

function missOf(
  binding: ServableBinding | undefined,
  productId: string,
  isReady: (binding: ServableBinding) => boolean,
): { code: string; message: string } | undefined {
  if (!binding) return { code: 'unknown', message: 'is no target binding' };
  if (binding.product_id !== productId) return { code: 'other_product', message: 'is bound to another product' };
  if (binding.state !== 'qualified') return { code: 'not_qualified', message: `is ${binding.state}` };
  if (!isReady(binding))
    return {
      code: 'not_ready',
      message: 'was qualified, but no instance of its revision is ready now; qualify it again',
    };
  return undefined;
}
