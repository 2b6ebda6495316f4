import { newId, type Database } from '@slipway/platform-database';
import { InstanceEntity } from '../workloads/instance.entity.js';
import type { PassPlan } from './pass-plan.js';

/** In a statement each, those of a thousand deployments would hold up the first start of all for seconds. */
const ROWS_AT_ONCE = 500;

/** Rows for the ordinals that have none. A second reconciler that does the same adds nothing. */
export async function addInstances(database: Database, target: string, missing: PassPlan['missing']): Promise<void> {
  const rows = missing.flatMap(({ workload: { revision_id, tenant_id }, ordinals }) =>
    ordinals.map((ordinal) => ({ id: newId('ins'), revision_id, tenant_id, target, ordinal })),
  );
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    const some = rows.slice(at, at + ROWS_AT_ONCE);
    await database.tx('system', (tx) =>
      tx.repository(InstanceEntity).createQueryBuilder().insert().values(some).orIgnore().updateEntity(false).execute(),
    );
  }
}
