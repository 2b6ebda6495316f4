import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { withinTime } from '@slipway/contracts';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { In } from 'typeorm';
import type { Transact } from '@slipway/platform-durable/scheduling';
import { BLOB_STORE, type BlobStore } from './blob-store.js';
import { StrayEntity } from './stray.entity.js';
import { DOOM_STRAY_BLOBS, LEASE_STRAY_BLOB, STRAY_REMOVAL_LEASE } from './stray.query.js';

/** Milliseconds that a request waits for a removal that the sweep would do as well. */
const DISCARD_LIMIT_MS = 5_000;

/** A blob that is being written. Its row lives as long as it is renewed, and the file that gets the blob takes it. */
export interface StrayLease {
  /** Stops renewing the lease. */
  stop(): void;
}

/**
 * Blobs that no file names. A writer adds a row in Postgres before it writes a blob, and the commit of the file deletes
 * the row. So either a file names the blob or a row is here, even if a process dies at any moment, and the sweep finds
 * the blob.
 *
 * To remove one: doom its row and commit, remove the blob, delete the row. No transaction is open while the store
 * works, so a stalled store takes no connection. An unfinished removal is due again when its lease is over.
 */
@Injectable()
export class StrayBlobs implements OnModuleDestroy {
  private readonly logger = new Logger('sandboxes');
  private readonly leaseSeconds: number;
  private readonly stopping = new AbortController();
  private removing?: Promise<void>;

  constructor(
    @Inject(CONFIG) config: Pick<Config, 'leaseSeconds'>,
    private readonly database: Database,
    @Inject(BLOB_STORE) private readonly store: BlobStore,
  ) {
    this.leaseSeconds = config.leaseSeconds;
  }

  /**
   * Adds the row of a blob that is about to be written.
   * @param reserve runs in the same transaction, and returns the bytes that the writer may write at first
   */
  async lease(
    tenantId: string,
    sandboxId: string,
    blob: string,
    reserve: (tx: Tx) => Promise<number>,
  ): Promise<StrayLease> {
    await this.database.tx({ tenantId }, async (tx) => {
      const bytes = await reserve(tx);
      await tx.query(LEASE_STRAY_BLOB, [blob, tenantId, sandboxId, this.leaseSeconds, true, bytes]);
    });
    // A row that the sweep has taken must not come back.
    const living = { blob, tenant_id: tenantId, is_doomed: false };
    const lease = () => `now() + make_interval(secs => ${this.leaseSeconds})`;
    const keep = () =>
      void this.database
        .tx({ tenantId }, (tx) => tx.repository(StrayEntity).update(living, { delete_after: lease }))
        .catch(() => undefined);
    const timer = setInterval(keep, (this.leaseSeconds * 1_000) / 3).unref();
    return { stop: () => clearInterval(timer) };
  }

  /** False if the sweep was faster: this process was paused for longer than its lease, and the blob is gone. */
  async take(tx: Tx, tenantId: string, blob: string): Promise<boolean> {
    const taken = await tx.repository(StrayEntity).delete({ blob, tenant_id: tenantId, is_doomed: false });
    return taken.affected === 1;
  }

  /** Call in the transaction that removed the blob's last name. */
  async add(tx: Tx, tenantId: string, sandboxId: string, blob: string): Promise<void> {
    await tx.query(LEASE_STRAY_BLOB, [blob, tenantId, sandboxId, 0, false, 0]);
  }

  /**
   * Removes a blob now, if it still is a stray: if a commit's answer was lost, the blob may have become a file. If the
   * removal fails, the sweep repeats it.
   */
  async discard(tenantId: string, blob: string): Promise<void> {
    const living = { blob, tenant_id: tenantId, is_doomed: false };
    try {
      const doomed = await this.database.tx({ tenantId }, (tx) =>
        tx.repository(StrayEntity).update(living, { is_doomed: true, delete_after: () => STRAY_REMOVAL_LEASE }),
      );
      if (doomed.affected !== 1) return;
      await withinTime(DISCARD_LIMIT_MS, undefined, (signal) => this.store.remove(blob, signal));
      await this.forget([blob]);
    } catch (failure) {
      this.logger.warn(`Could not delete a blob; the next sweep will retry: ${String(failure)}`);
    }
  }

  /** Returns before the store has finished: a store that hangs must not delay other work. */
  async sweep(transact: Transact): Promise<void> {
    if (this.removing) return;
    const due = await transact('system', (tx) => tx.query<{ blob: string }>(DOOM_STRAY_BLOBS));
    if (due.length === 0) return;
    this.removing = this.remove(due.map(({ blob }) => blob)).finally(() => (this.removing = undefined));
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.removing;
  }

  private async remove(blobs: string[]): Promise<void> {
    const results = await Promise.allSettled(blobs.map((blob) => this.store.remove(blob, this.stopping.signal)));
    const removed = blobs.filter((_blob, index) => results[index]!.status === 'fulfilled');
    if (removed.length < blobs.length)
      this.logger.warn(`Could not delete ${blobs.length - removed.length} blobs; a later sweep will retry`);
    await this.forget(removed).catch((failure) =>
      this.logger.warn(`Could not finish the sweep of blobs: ${String(failure)}`),
    );
  }

  private async forget(removed: string[]): Promise<void> {
    await this.database.tx('system', (tx) => tx.repository(StrayEntity).delete({ blob: In(removed) }));
  }
}
