import { prepared, type Database } from '@slipway/platform-database';
import { wake } from '@slipway/platform-operations';

/**
 * A step looks at a workload first and registers second. A change in between is later than the look but earlier than the
 * registration, so a registration also answers to changes that are only just past: one wake-up too many costs a look.
 */
const JUST_PAST = `interval '300 milliseconds'`;

const DUE = `from workload_waiters x join workloads w using (revision_id) where w.target = $1 and w.changed_at > x.created_at - ${JUST_PAST}`;

const ANY_DUE = prepared('targets-waiters-any-due', `select 1 ${DUE} limit 1`);

const TAKE_DUE = prepared(
  'targets-waiters-take-due',
  `delete from workload_waiters where (revision_id, operation_id) in (select x.revision_id, x.operation_id ${DUE}) returning operation_id`,
);

/**
 * Wakes every operation that waits for a workload of this target that has changed. It compares times in tables, so a
 * reconciler that died between a change and this leaves it to the next one.
 */
export async function wakeWaiters(database: Database, target: string): Promise<void> {
  const due = await database.read('system', ANY_DUE, [target]);
  if (due.length === 0) return;
  await database.tx('system', async (tx) => {
    const rows = await tx.query<{ operation_id: string }>(TAKE_DUE, [target]);
    const operations = [...new Set(rows.map((row) => row.operation_id))].sort();
    for (const operationId of operations) await wake(tx, operationId);
  });
}
