import type { SpecIssue } from '@slipway/ports/instances';
import type { TargetCatalog } from '../catalog/target-catalog.js';
import { REMOVED } from './tenant-access.js';

/** Why a spec's target is none, with those that the tenant has. */
export function unknownTarget(catalog: TargetCatalog, tenantName: string, target: string): SpecIssue {
  const known = shortList(catalog.of(tenantName).map(({ config }) => config.name));
  const wasThere = catalog.removedOf(tenantName).some(({ config }) => config.name === target);
  const what = wasThere ? `execution target "${target}" ${REMOVED}` : 'no execution target has this name';
  return { field: 'runtime.target', code: 'unknown', message: `${what}; there are: ${known}` };
}

const MOST_LISTED = 20;

function shortList(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > MOST_LISTED ? ` and ${names.length - MOST_LISTED} more` : '';
  return `${names.slice(0, MOST_LISTED).join(', ')}${more}`;
}
