import type { Tx } from '@slipway/platform-database';
import { quotasOfTenant } from '@slipway/platform-durable/quotas';
import { In } from 'typeorm';
import { WorkloadHoldEntity } from '../workloads/workload.entity.js';
import { TENANT_TAKES, TENANT_WARM_ONLY } from '../workloads/workload.query.js';

/** Whose instances are counted, and the revision that is left out because it asks. */
export interface Asking {
  tenantId: string;
  revisionId: string;
}

/**
 * What the tenant's quota `instances` has for `replicas` of the revision that asks, warmth of others taken away where it is needed. Under
 * the quota's lock, so nobody adds to what others take.
 */
export async function roomInQuota(
  tx: Tx,
  config: Parameters<typeof quotasOfTenant>[1],
  asking: Asking,
  replicas: number,
): Promise<{ max: number; taken: number; hasRoom: boolean }> {
  const { instances: max } = await quotasOfTenant(tx, config, asking.tenantId);
  const taken = await takenByOthers(tx, asking);
  return { max, taken, hasRoom: await evictWarm(tx, taken + replicas - max, asking) };
}

async function takenByOthers(tx: Tx, { tenantId, revisionId }: Asking): Promise<number> {
  return (await tx.one<{ taken: number }>(TENANT_TAKES, [tenantId, revisionId]))?.taken ?? 0;
}

/** Takes the warmth of others away, the longest first, until nothing is missing. False, and nothing taken, where that is not enough. */
async function evictWarm(tx: Tx, missing: number, { tenantId, revisionId }: Asking): Promise<boolean> {
  if (missing <= 0) return true;
  const evicted: string[] = [];
  for (const warm of await tx.query<{ revision_id: string; replicas: number }>(TENANT_WARM_ONLY, [
    tenantId,
    revisionId,
  ])) {
    if (missing <= 0) break;
    evicted.push(warm.revision_id);
    missing -= warm.replicas;
  }
  if (missing > 0) return false;
  await tx.repository(WorkloadHoldEntity).delete({ revision_id: In(evicted), holder: 'warm' });
  return true;
}
