import type { RevisionSpec } from '@slipway/contracts';
import { newId, prepared, type Database } from '@slipway/platform-database';
import { wake } from '@slipway/platform-durable/operations';
import { In } from 'typeorm';
import { InstanceEntity } from '../workloads/instance.entity.js';
import { READ_TARGET_WORKLOADS, type WorkloadRow } from '../workloads/instance.query.js';
import { WorkloadEntity, WorkloadWaiterEntity } from '../workloads/workload.entity.js';
import type { PassPlan } from './pass-plan.js';

/** Few, because a spec may have long arguments and variables. */
const SPECS_AT_ONCE = 25;
/** Separate statements for a thousand deployments would delay the first start by seconds. */
const ROWS_AT_ONCE = 500;

/**
 * A step first checks a workload and then registers. A change in between is later than the check but earlier than the
 * registration. So a registration also reports very recent changes; an unnecessary wake-up costs only a check.
 */
const JUST_PAST = `interval '300 milliseconds'`;

/** Compares times of two tables. Runs in every pass of a reconciler. */
const READ_DUE_WAITERS = prepared(
  'instances-read-due-waiters',
  `select x.revision_id, x.operation_id from workload_waiters x join workloads w using (revision_id)
   where w.target = $1 and w.changed_at > x.created_at - ${JUST_PAST}`,
);

/**
 * Reads the workloads of one target and their instances, for its passes. The spec of a revision never changes, so each
 * is read once: with thousands of workloads, specs would be most of the data of a pass.
 */
export class TargetRows {
  private readonly specs = new Map<string, RevisionSpec>();

  constructor(
    private readonly database: Database,
    private readonly target: string,
  ) {}

  async all(): Promise<WorkloadRow[]> {
    const rows = await this.read(null);
    const active = new Set(rows.map(({ revision_id }) => revision_id));
    for (const id of this.specs.keys()) if (!active.has(id)) this.specs.delete(id);
    return rows;
  }

  /** Reads only the workloads of these instances. */
  of(instanceIds: readonly string[]): Promise<WorkloadRow[]> {
    return this.read(instanceIds);
  }

  private async read(instanceIds: readonly string[] | null): Promise<WorkloadRow[]> {
    const asked = [this.target, instanceIds];
    const rows = await this.database.read<Omit<WorkloadRow, 'spec'>>('system', READ_TARGET_WORKLOADS, asked);
    await this.learn(rows.map(({ revision_id }) => revision_id).filter((id) => !this.specs.has(id)));
    // A workload that has been deleted in the meantime needs nothing.
    return rows.flatMap((row) => {
      const spec = this.specs.get(row.revision_id);
      return spec ? [{ ...row, spec }] : [];
    });
  }

  private async learn(ids: readonly string[]): Promise<void> {
    for (let at = 0; at < ids.length; at += SPECS_AT_ONCE) {
      const where = { revision_id: In(ids.slice(at, at + SPECS_AT_ONCE)) };
      const found = await this.database.tx('system', (tx) =>
        tx.repository(WorkloadEntity).find({ select: { revision_id: true, spec: true }, where }),
      );
      for (const { revision_id, spec } of found) this.specs.set(revision_id, spec);
    }
  }
}

/** Adds rows for the ordinals that have none. A second reconciler that does the same adds nothing. */
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

/**
 * Wakes every operation that waits for a changed workload of this target. It compares times in tables, so if a
 * reconciler dies between a change and this call, the next one wakes them. Operations that register again in between
 * are woken too.
 */
export async function wakeWaiters(database: Database, target: string): Promise<void> {
  const due = await database.read<Pick<WorkloadWaiterEntity, 'revision_id' | 'operation_id'>>(
    'system',
    READ_DUE_WAITERS,
    [target],
  );
  if (due.length === 0) return;
  await database.tx('system', async (tx) => {
    await tx.repository(WorkloadWaiterEntity).delete(due);
    const operations = [...new Set(due.map((waiter) => waiter.operation_id))].sort();
    for (const operationId of operations) await wake(tx, operationId);
  });
}
