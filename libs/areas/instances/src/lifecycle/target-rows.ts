import type { RevisionSpec } from '@slipway/contracts';
import type { Database } from '@slipway/platform-database';
import { In } from 'typeorm';
import { LOAD_TARGET, type WorkloadRow } from '../workloads/instance.query.js';
import { WorkloadEntity } from '../workloads/workload.entity.js';

const SPECS_AT_ONCE = 500;

/**
 * Workloads of one target and their instances, as its passes read them. The spec of a revision never changes, so each is read once: those of
 * thousands would be most of what a pass reads.
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

  /** The workloads of these instances alone. */
  of(instanceIds: readonly string[]): Promise<WorkloadRow[]> {
    return this.read(instanceIds);
  }

  private async read(instanceIds: readonly string[] | null): Promise<WorkloadRow[]> {
    const asked = [this.target, instanceIds];
    const rows = await this.database.read<Omit<WorkloadRow, 'spec'>>('system', LOAD_TARGET, asked);
    await this.learn(rows.map(({ revision_id }) => revision_id).filter((id) => !this.specs.has(id)));
    // One that has gone since has nothing left to be done.
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
