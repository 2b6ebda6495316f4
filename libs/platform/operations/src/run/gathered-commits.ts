import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TxSettings } from '@slipway/platform-database';
import { isUnanswered, PATIENCE_MS, settledInTime } from '../patience.js';
import type { Commit } from './commit-record.js';

/** Most commits of one transaction. */
const MOST = 32;
/** One transaction waits for the one before, since the more share it the less each costs, but not for a slow disk or for a row that somebody holds. In milliseconds. */
const NEXT_AFTER_MS = 10;

/** The guard of a commit matched no row: another worker holds the lease, or a cancel came first. Everything rolls back. */
export class GuardLost extends Error {}

/** What a commit learns of the row it wrote. */
export interface Written {
  id: string;
  cancelRequested: boolean;
  /** The time of the transaction, as it stands in the rows. */
  at: Date;
}

/**
 * Writes what the guards let pass, in one transaction, and returns those rows.
 * @param committing called before Postgres is asked to commit: from then on it may stand, unless Postgres answers that it does not
 */
type Write = (commits: readonly Commit[], settings: TxSettings, committing: () => void) => Promise<Written[]>;

interface Waiting {
  commit: Commit;
  resolve(written: Written): void;
  reject(error: unknown): void;
}

/**
 * Commits whose effect needs no transaction of its own share one: those that come up in one turn of the event loop, or while others are being
 * written, go together, and one write to the disk makes all of them durable. Each has its own guard and learns of its own loss. One that cannot be written,
 * because of what it says or because somebody holds its row, holds up nobody else: then each goes alone.
 */
export class GatheredCommits {
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(private readonly write: Write) {}

  /** @throws GuardLost */
  add(commit: Commit): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ commit, resolve, reject });
      if (!this.isWriting) void this.writeOn();
    });
  }

  /** Rejections go to those who wait; this never rejects. */
  private async writeOn(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      // Behind everybody who came in this turn of the event loop, also because of what the transaction before has answered.
      await nextTurn();
      const batch = this.take();
      if (batch.length > 0)
        await settledInTime(batch.length > 1 ? this.together(batch) : this.alone(batch[0]!), NEXT_AFTER_MS);
    }
    this.isWriting = false;
  }

  /**
   * In the order of their ids, as locks are taken. One operation twice is one that lost its lease: its two turns must not share an answer. To
   * one stream only one of them appends.
   */
  private take(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const streams = new Set<string>();
    this.waiting = this.waiting.filter((one) => {
      const { operation, events } = one.commit;
      const isTold = events.length > 0;
      if (batch.size === MOST || batch.has(operation.id) || (isTold && streams.has(operation.stream))) return true;
      batch.set(operation.id, one);
      if (isTold) streams.add(operation.stream);
      return false;
    });
    return [...batch.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  }

  private async together(batch: readonly Waiting[]): Promise<void> {
    const failed = await this.commit(batch);
    if (!failed) return;
    // A commit that nobody has answered may stand, and a second one would tell of everything twice.
    if (failed.mayStand) for (const { reject } of batch) reject(failed.error);
    else await Promise.all(batch.map((one) => this.alone(one)));
  }

  private async alone(one: Waiting): Promise<void> {
    const failed = await this.commit([one]);
    if (failed) one.reject(failed.error);
  }

  private async commit(batch: readonly Waiting[]): Promise<{ error: unknown; mayStand: boolean } | undefined> {
    let isCommitting = false;
    try {
      const rows = await this.write(
        batch.map(({ commit }) => commit),
        batch.length > 1 ? { lockWithinMs: PATIENCE_MS } : {},
        () => (isCommitting = true),
      );
      const written = new Map(rows.map((row) => [row.id, row]));
      for (const { commit, resolve, reject } of batch) {
        const row = written.get(commit.operation.id);
        if (row) resolve(row);
        else reject(new GuardLost());
      }
      return undefined;
    } catch (error) {
      return { error, mayStand: isCommitting && isUnanswered(error) };
    }
  }
}
