import { Inject, Injectable } from '@nestjs/common';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';
import { DELETE_WORKLOADS, READ_ENDED_WORKLOADS } from '../workloads/workload.query.js';

const AT_ONCE = 200;

/**
 * Deletes workloads whose revision no longer exists. They have the spec of the revision, and count in what the tenant
 * stores.
 */
@Injectable()
export class WorkloadHistory {
  /** The last workload of the previous round. */
  private after = '';

  constructor(@Inject(REVISIONS) private readonly revisions: RevisionsPort) {}

  @Recurring({ name: 'workload-history', everySeconds: 60 })
  async run(transact: Transact): Promise<void> {
    await transact('system', async (tx) => {
      const ended = await tx.query<{ revision_id: string }>(READ_ENDED_WORKLOADS, [this.after, AT_ONCE]);
      this.after = ended.length === AT_ONCE ? (ended.at(-1)?.revision_id ?? '') : '';
      const ids = ended.map(({ revision_id }) => revision_id);
      const existing = new Set(await this.revisions.existing(tx, ids));
      const gone = ids.filter((id) => !existing.has(id));
      if (gone.length > 0) await tx.query(DELETE_WORKLOADS, [gone]);
    });
  }
}
