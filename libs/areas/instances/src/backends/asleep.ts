import type { Asleep } from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { IsNull, MoreThan, Not } from 'typeorm';
import type { WorkloadRow } from '../workloads/instance.query.js';
import { WorkloadScalingEntity } from '../scaling/scaling.entity.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';

/** The longest that a request waits for a sleeper: the longest that gateways keep any. */
const HELD_SECONDS = 290;

/** Under the lock of its workload: what gateways are told of its sleep, which ends with the first instance that is ready. */
export async function asleepOf(
  tx: Tx,
  workload: Pick<WorkloadRow, 'revision_id' | 'tenant_id'>,
  ready: number,
): Promise<Asleep | null> {
  const { revision_id, tenant_id } = workload;
  const where = { revision_id, tenant_id };
  const sleep = await tx.repository(WorkloadScalingEntity).findOneBy({ ...where, asleep_since: Not(IsNull()) });
  if (!sleep) return null;
  if (ready > 0 && (await tx.repository(WorkloadEntity).existsBy({ ...where, replicas: MoreThan(0) }))) {
    const awake = { asleep_since: null, failures: 0, failed_at: null, failure: null };
    await tx.repository(WorkloadScalingEntity).update(where, awake);
    return null;
  }
  const { failures, failure } = sleep;
  return {
    max_seconds: HELD_SECONDS,
    estimated_seconds: null,
    since: (sleep.asleep_since as Date).toISOString(),
    failures,
    failure,
  };
}
