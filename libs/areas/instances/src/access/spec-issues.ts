import { endpointUrlField, endpointUrls, originsFor, type RevisionSpec } from '@slipway/contracts';
import { outsideOf } from '@slipway/platform-egress';
import type { SpecIssue } from '@slipway/ports/instances';
import type { TargetDriver } from '@slipway/target-driver';
import { placeholderSecrets, toInstanceSpec } from '../catalog/instance-spec.js';
import type { Target } from '../catalog/target-catalog.js';

/** What the driver says of each URL, under the field that has it; what it says of all it says once. */
export function driverIssues(driver: TargetDriver, tenantName: string, spec: RevisionSpec): SpecIssue[] {
  const { endpoint } = spec;
  const ordinals = [...endpointUrls(endpoint).keys()];
  const about = { id: 'check', generation: 1, tenantName };
  const found = (ordinals.length === 0 ? [0] : ordinals).flatMap((ordinal) =>
    driver
      .check(toInstanceSpec(spec, { ...about, ordinal }, placeholderSecrets))
      .map(({ field, code, message }) => ({
        field: field === 'endpoint.base_url' ? endpointUrlField(endpoint, ordinal) : field,
        code,
        message,
      })),
  );
  return [...new Map(found.map((issue) => [`${issue.field} ${issue.message}`, issue])).values()];
}

/** Word for word what the driver says of an address that is outside of its list, so that nobody finds others' instances by asking. */
export function anothers({ config }: Target, tenantName: string): string {
  return outsideOf(originsFor(config.allow ?? [], tenantName));
}

/** Each server that is adopted is one instance, however often it is wanted. */
export function replicasOn({ driver }: Target, spec: RevisionSpec): number {
  return Math.max(1, driver.adopts ? endpointUrls(spec.endpoint).length : (spec.scaling?.min_replicas ?? 1));
}
