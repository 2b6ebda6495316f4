import { Inject, Injectable } from '@nestjs/common';
import { prepared } from '@slipway/platform-database';
import { Recurring, type Transact } from '@slipway/platform-durable/scheduling';
import { REVISIONS, type RevisionsPort } from '@slipway/ports/revisions';

const AT_ONCE = 200;

/**
 * Reads the next workloads, in the order of their ids, that have ended: nothing runs, nothing retains them, and no
 * device waits until their memory is free. The conditions are on four tables.
 */
const READ_ENDED_WORKLOADS = prepared(
  'instances-read-ended-workloads',
  `select w.revision_id from workloads w
   where w.revision_id > $1 and not w.is_active
     and not exists (select from workload_holds h where h.revision_id = w.revision_id and (h.expires_at is null or h.expires_at > now()))
     and not exists (select from instances i where i.revision_id = w.revision_id and i.state <> 'stopped')
     and not exists (select from instances i join device_claims c on c.instance_id = i.id where i.revision_id = w.revision_id)
   order by w.revision_id limit $2`,
);

/** Deletes them with their instances, unless one of them was activated in the meantime. */
const DELETE_WORKLOADS = prepared(
  'instances-delete-workloads',
  'delete from workloads where revision_id = any($1) and not is_active',
);

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
