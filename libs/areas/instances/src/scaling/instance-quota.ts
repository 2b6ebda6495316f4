import type { Tx } from '@slipway/platform-database';
import { quotasOfTenant } from '@slipway/platform-durable/quotas';
import { In } from 'typeorm';
import { WorkloadRetentionEntity } from '../workloads/workload.entity.js';
import { COUNT_WANTED_OF_TENANT, LOCK_WARM_OF_TENANT } from '../workloads/workload.query.js';

/** Whose instances are counted, and the revision that is left out because it asks. */
export interface QuotaRequester {
  tenantId: string;
  revisionId: string;
}

/**
 * Reserves `replicas` instances of the tenant's quota for the revision that asks, and takes the warmth of others away if it is needed. Under
 * the quota's lock, so nobody adds to what others take.
 */
export async function reserveInstanceQuota(
  tx: Tx,
  config: Parameters<typeof quotasOfTenant>[1],
  requester: QuotaRequester,
  replicas: number,
): Promise<{ max: number; taken: number; isReserved: boolean }> {
  const { instances: max } = await quotasOfTenant(tx, config, requester.tenantId);
  const taken = await takenByOthers(tx, requester);
  return { max, taken, isReserved: await evictWarm(tx, taken + replicas - max, requester) };
}

async function takenByOthers(tx: Tx, { tenantId, revisionId }: QuotaRequester): Promise<number> {
  return (await tx.one<{ taken: number }>(COUNT_WANTED_OF_TENANT, [tenantId, revisionId]))?.taken ?? 0;
}

/** Takes the warmth of others away, the longest first, until nothing is missing. False, and nothing taken, where that is not enough. */
async function evictWarm(tx: Tx, missing: number, { tenantId, revisionId }: QuotaRequester): Promise<boolean> {
  if (missing <= 0) return true;
  const evicted: string[] = [];
  for (const warm of await tx.query<{ revision_id: string; replicas: number }>(LOCK_WARM_OF_TENANT, [
    tenantId,
    revisionId,
  ])) {
    if (missing <= 0) break;
    evicted.push(warm.revision_id);
    missing -= warm.replicas;
  }
  if (missing > 0) return false;
  await tx.repository(WorkloadRetentionEntity).delete({ revision_id: In(evicted), holder: 'warm' });
  return true;
}
