import { Inject, Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { CONFIG, type Config } from '@slipway/platform-config';
import { Database, type Tx } from '@slipway/platform-database';
import { In } from 'typeorm';
import type { Transact } from '@slipway/platform-durable/scheduling';
import { BLOB_STORE, type BlobStore } from './blob-store.js';
import { StrayEntity } from './stray.entity.js';
import { DOOM_STRAY_BLOBS, LEASE_STRAY_BLOB, STRAY_REMOVAL_LEASE } from './stray.query.js';

/** Milliseconds that a request waits for what the sweep would do as well. */
const DISCARD_LIMIT_MS = 5_000;

/** A blob that is being written. Its row lives as long as it is kept alive, and is taken by the file that gets the blob. */
export interface StrayLease {
  /** Stops renewing the lease. */
  stop(): void;
}

/**
 * Blobs that no file names. Whoever is about to write one says so first, in Postgres; whoever commits a file takes the row
 * away. So a blob is either named by a file or has a row here, whatever dies when, and the sweep finds it.
 *
 * Removing one: doom its row and commit, remove the blob, delete the row. No transaction is open while the store works, so one
 * that stalls takes no connection; what is left in between is due again when the removal's lease is over.
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

  async lease(tenantId: string, sandboxId: string, blob: string): Promise<StrayLease> {
    await this.database.tx({ tenantId }, (tx) =>
      tx.query(LEASE_STRAY_BLOB, [blob, tenantId, sandboxId, this.leaseSeconds]),
    );
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

  /** False if the sweep was faster: this process was away for longer than its lease, and the blob is gone. */
  async take(tx: Tx, tenantId: string, blob: string): Promise<boolean> {
    const taken = await tx.repository(StrayEntity).delete({ blob, tenant_id: tenantId, is_doomed: false });
    return taken.affected === 1;
  }

  /** In the transaction that took the blob's last name away. */
  async add(tx: Tx, tenantId: string, sandboxId: string, blob: string): Promise<void> {
    await tx.query(LEASE_STRAY_BLOB, [blob, tenantId, sandboxId, 0]);
  }

  /**
   * Removes one now, if it still is a stray: if a commit's answer was lost, the blob may have become a file. What fails
   * here is left to the sweep.
   */
  async discard(tenantId: string, blob: string): Promise<void> {
    const living = { blob, tenant_id: tenantId, is_doomed: false };
    try {
      const doomed = await this.database.tx({ tenantId }, (tx) =>
        tx.repository(StrayEntity).update(living, { is_doomed: true, delete_after: () => STRAY_REMOVAL_LEASE }),
      );
      if (doomed.affected !== 1) return;
      await this.store.remove(blob, AbortSignal.timeout(DISCARD_LIMIT_MS));
      await this.forget([blob]);
    } catch (failure) {
      this.logger.warn(`Could not delete a blob; the next sweep will retry: ${String(failure)}`);
    }
  }

  /** Returns before the store has done its part: one that hangs must not delay what else there is to do. */
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
