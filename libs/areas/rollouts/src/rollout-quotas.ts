import type { QuotaConfig } from '@slipway/platform-config';
import { quotasOf } from '@slipway/platform-config';
import type { Tx } from '@slipway/platform-database';
import type { Principal } from '@slipway/platform-http';
import { quotaExceeded } from '@slipway/platform-durable/quotas';
import type { InstancesPort } from '@slipway/ports/instances';
import type { Revision } from '@slipway/ports/revisions';

/** What counts of a deployment and its tenant when a rollout is accepted. */
export interface QuotaCounts {
  reused: Revision | undefined;
  /** Revisions of the deployment. */
  kept: number;
  /** Instances of the tenant, never less than are needed. */
  wanted: number;
  /** Instances that the candidate begins with, and that are stopped before its start. */
  replicas: number;
  freed: number;
}

/**
 * The deployment's lock makes the count of its revisions exact. That of instances is not: between rollouts of several deployments that
 * are accepted at once, the lock in `want` decides. A revision that runs already adds no instances.
 * @throws quota_exceeded (429)
 */
export async function assertWithinQuotas(
  tx: Tx,
  { config, instances }: { config: QuotaConfig; instances: InstancesPort },
  { tenantId, tenantName }: Principal,
  found: QuotaCounts,
): Promise<void> {
  const limits = quotasOf(config, tenantName);
  if (!found.reused && found.kept >= limits.revisions) throw quotaExceeded('revisions', limits.revisions);
  const more = found.replicas - found.freed;
  if (found.wanted + more <= limits.instances) return;
  const needed = await instances.needed(tx, tenantId, found.reused?.id);
  if (needed + more > limits.instances) throw quotaExceeded('instances', limits.instances);
}
