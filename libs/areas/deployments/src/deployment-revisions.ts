import type { Tx } from '@slipway/platform-database';
import { eventPage, type StoredEvent } from '@slipway/platform-operations';
import { deploymentStream } from '@slipway/ports';

const PAGE = 200;

/** Ids of all revisions a deployment ever had, as its own events tell them. */
export async function revisionIdsOf(tx: Tx, deploymentId: string): Promise<string[]> {
  const ids = new Set<string>();
  let after = 0;
  for (;;) {
    const { statement, values } = eventPage(
      { stream: deploymentStream(deploymentId) },
      { type: 'revision.created', order: 'asc', after, limit: PAGE },
    );
    const rows = await tx.query<StoredEvent>(statement, values);
    for (const row of rows) ids.add((JSON.parse(row.json) as { revisionid: string }).revisionid);
    const last = rows[rows.length - 1];
    if (!last || rows.length < PAGE) return [...ids];
    after = Number(last.sequence);
  }
}
