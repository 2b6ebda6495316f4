import type { ObservationReason } from '@slipway/contracts';
import type { ApiError } from '../api/errors.js';
import { namespaceFor, type KubernetesTargetConfig } from '../target-config.js';

/** Why nothing can be created in a namespace, and the key of the operator's file that names it. */
export interface NamespaceProblem {
  reason: ObservationReason;
  message: string;
}

/** Explains a refusal that concerns the namespace of a unit and not the unit. Undefined for every other refusal. */
export function namespaceProblem(
  { status, reason, message, details }: ApiError,
  config: KubernetesTargetConfig,
  tenantName: string | undefined,
): NamespaceProblem | undefined {
  const namespace = namespaceFor(config, tenantName);
  const named = `${keyOf(config, tenantName)} of target "${config.name}"`;
  if (status === 404 && reason === 'NotFound' && details.kind === 'namespaces')
    return {
      reason: 'config_error',
      message: `namespace ${namespace} does not exist on the cluster: create it with the Role of the target, or correct ${named}`,
    };
  if (status === 403 && /because it is being terminated/.test(message))
    return {
      reason: 'config_error',
      message: `namespace ${namespace} is being deleted, and the cluster creates nothing in it: create it again with the Role of the target when it is gone, or correct ${named}`,
    };
  return undefined;
}

function keyOf({ namespaces }: KubernetesTargetConfig, tenantName: string | undefined): string {
  const isOwn = tenantName !== undefined && Object.hasOwn(namespaces.by_tenant, tenantName);
  return isOwn ? `namespaces.by_tenant.${tenantName}` : 'namespaces.default';
}

/**
 * Splits missing rights by namespace: namespaces in which the account has no right at all, usually because they or their
 * RoleBinding do not exist, and the other rights.
 */
export function withoutAnyRight<T extends { namespace: string }>(
  missing: readonly T[],
  rights: number,
): { namespaces: string[]; others: T[] } {
  const counts = new Map<string, number>();
  for (const { namespace } of missing) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  const isWhole = ({ namespace }: T) => counts.get(namespace) === rights;
  return {
    namespaces: [...new Set(missing.filter(isWhole).map(({ namespace }) => namespace))],
    others: missing.filter((one) => !isWhole(one)),
  };
}
