import { prepared, type Database } from '@slipway/platform-database';
import { wake } from '@slipway/platform-durable/operations';
import { WorkloadWaiterEntity } from '../workloads/workload.entity.js';

/**
 * A step looks at a workload first and registers second. A change in between is later than the look but earlier than the
 * registration, so a registration also answers to changes that are only just past: one wake-up too many costs a look.
 */
const JUST_PAST = `interval '300 milliseconds'`;

/** Compares times of two tables; every pass of a reconciler asks it. */
const DUE = prepared(
  'targets-waiters-due',
  `select x.revision_id, x.operation_id from workload_waiters x join workloads w using (revision_id)
   where w.target = $1 and w.changed_at > x.created_at - ${JUST_PAST}`,
);

/**
 * Wakes every operation that waits for a workload of this target that has changed. It compares times in tables, so a
 * reconciler that died between a change and this leaves it to the next one. Who registers anew in between is woken too.
 */
export async function wakeWaiters(database: Database, target: string): Promise<void> {
  const due = await database.read<Pick<WorkloadWaiterEntity, 'revision_id' | 'operation_id'>>('system', DUE, [target]);
  if (due.length === 0) return;
  await database.tx('system', async (tx) => {
    await tx.repository(WorkloadWaiterEntity).delete(due);
    const operations = [...new Set(due.map((waiter) => waiter.operation_id))].sort();
    for (const operationId of operations) await wake(tx, operationId);
  });
}
