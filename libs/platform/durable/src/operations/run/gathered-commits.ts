import { BatchFailed, Batcher, type TxSettings } from '@slipway/platform-database';
import type { PendingCommit } from './commit-record.js';

/** Most commits of one transaction. */
const MOST = 32;
/** One transaction waits for the one before, since the more commits share it the less each costs, but not for a slow disk or for a locked row. */
const WAIT_MS = 10;
/** For how long commits that share a transaction wait for the lock of a row. */
const LOCK_WITHIN_MS = 100;

/** The guard of a commit matched no row: another worker holds the lease, or a cancel came first. Everything rolls back. */
export class LeaseLost extends Error {}

/**
 * Writes the commits that their guards let pass, in one transaction, and returns their rows.
 * @param committing called before Postgres is asked to commit: from then on it may stand, unless Postgres answers that it does not
 */
type CommitWriter<Written> = (
  commits: readonly PendingCommit[],
  settings: TxSettings,
  committing: () => void,
) => Promise<Written[]>;

/**
 * Commits whose effect needs no transaction of its own share one, so that one write to the disk makes all of them durable. Each has its own guard
 * and learns of its own loss.
 */
export class GatheredCommits<Written extends { id: string }> {
  private readonly batcher: Batcher<PendingCommit, Written>;

  constructor(private readonly write: CommitWriter<Written>) {
    this.batcher = new Batcher((commits) => this.writeAll(commits), { most: MOST, mayJoin, waitMs: WAIT_MS });
  }

  /** @throws GuardLost */
  add(commit: PendingCommit): Promise<Written> {
    return this.batcher.add(commit);
  }

  private async writeAll(commits: readonly PendingCommit[]): Promise<(Written | LeaseLost)[]> {
    // In the order of their ids, as locks are taken.
    const ordered = [...commits].sort((a, b) => (a.operation.id < b.operation.id ? -1 : 1));
    const settings = commits.length > 1 ? { lockWithinMs: LOCK_WITHIN_MS } : {};
    let isCommitting = false;
    try {
      const rows = await this.write(ordered, settings, () => (isCommitting = true));
      const written = new Map(rows.map((row) => [row.id, row]));
      return commits.map(({ operation }) => written.get(operation.id) ?? new LeaseLost());
    } catch (error) {
      // A commit that Postgres has not answered may stand, and a second one would append every event twice.
      const mayStand = isCommitting && isUnanswered(error);
      throw mayStand ? new BatchFailed(error) : error;
    }
  }
}

/** One operation twice is one that lost its lease, and its two step runs must not share an answer. To one stream one commit of a transaction appends. */
function mayJoin({ operation, events }: PendingCommit, batch: readonly PendingCommit[]): boolean {
  return !batch.some(
    (other) =>
      other.operation.id === operation.id ||
      (events.length > 0 && other.events.length > 0 && other.operation.stream === operation.stream),
  );
}

/** Whether Postgres did not say what became of a commit: an error that it answers with has rolled it back. */
function isUnanswered(error: unknown): boolean {
  return (error as { severity?: string }).severity !== 'ERROR';
}
