import { BatchFailed, Batcher, type TxSettings } from '@slipway/platform-database';
import type { PendingCommit } from './commit-record.js';

/** Maximum number of commits in one transaction. */
const MOST = 32;
/**
 * A transaction waits this long for the one before it, because a commit costs less the more share its transaction. It
 * does not wait longer for a slow disk or a locked row.
 */
const WAIT_MS = 10;
/** For how long commits that share a transaction wait for the lock of a row. */
const LOCK_WITHIN_MS = 100;

/**
 * The guard of a commit matched no row: another worker holds the lease, or a cancel came first. Everything rolls back.
 */
export class LeaseLost extends Error {}

/**
 * Writes the commits that their guards allow, in one transaction, and returns their rows.
 * @param committing called before Postgres is asked to commit. From then on the commit may be durable, unless Postgres
 * answers that it is not
 */
type CommitWriter<Written> = (
  commits: readonly PendingCommit[],
  settings: TxSettings,
  committing: () => void,
) => Promise<Written[]>;

/**
 * Commits whose effect needs no transaction of its own share one, so that one write to the disk makes all of them
 * durable. Each has its own guard and learns of its own loss.
 */
export class GatheredCommits<Written extends { id: string }> {
  private readonly batcher: Batcher<PendingCommit, Written>;

  constructor(private readonly write: CommitWriter<Written>) {
    this.batcher = new Batcher((commits) => this.writeAll(commits), { most: MOST, mayJoin, waitMs: WAIT_MS });
  }

  /** @throws LeaseLost if the guard refuses the commit */
  add(commit: PendingCommit): Promise<Written> {
    return this.batcher.add(commit);
  }

  private async writeAll(commits: readonly PendingCommit[]): Promise<(Written | LeaseLost)[]> {
    // In the order of their ids, in which locks are taken everywhere.
    const ordered = [...commits].sort((a, b) => (a.operation.id < b.operation.id ? -1 : 1));
    const settings = commits.length > 1 ? { lockWithinMs: LOCK_WITHIN_MS } : {};
    let isCommitting = false;
    try {
      const rows = await this.write(ordered, settings, () => (isCommitting = true));
      const written = new Map(rows.map((row) => [row.id, row]));
      return commits.map(({ operation }) => written.get(operation.id) ?? new LeaseLost());
    } catch (error) {
      // A commit that Postgres has not answered may be durable, and a second one would append every event twice.
      const mayStand = isCommitting && isUnanswered(error);
      throw mayStand ? new BatchFailed(error) : error;
    }
  }
}

/**
 * Decides whether a commit may join a batch. Two commits of one operation mean that one of them has lost its lease, and
 * the two step runs must not share an answer. Only one commit of a transaction appends to a stream.
 */
function mayJoin({ operation, events }: PendingCommit, batch: readonly PendingCommit[]): boolean {
  return !batch.some(
    (other) =>
      other.operation.id === operation.id ||
      (events.length > 0 && other.events.length > 0 && other.operation.stream === operation.stream),
  );
}

/**
 * Whether Postgres did not report the result of a commit. If Postgres answers with an error, it has rolled the commit
 * back.
 */
function isUnanswered(error: unknown): boolean {
  return (error as { severity?: string }).severity !== 'ERROR';
}
