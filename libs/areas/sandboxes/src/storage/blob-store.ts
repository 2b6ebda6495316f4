import type { Readable } from 'node:stream';
import { newId } from '@slipway/platform-database';

/** Nest token of the workspace store: `@Inject(BLOB_STORE) blobs: BlobStore`. */
export const BLOB_STORE: unique symbol = Symbol('slipway.sandboxes.blob_store');

/** There is no such blob. */
export class BlobMissingError extends Error {}

/** The medium has no space left. */
export class StoreFullError extends Error {}

/** The medium did not respond in time. A call that began there may still take effect. */
export class StoreStalledError extends Error {}

export interface BlobWriteBounds {
  /** Most bytes that the source yields: the time limit of the write depends on it. */
  bytes: number;
  signal?: AbortSignal;
}

/**
 * Keeps the content of files. A blob is written once, whole or not at all, and never changes. So a reader never sees
 * half of one, and replacing a file is replacing a name in Postgres. `newBlob` makes the names; clients cannot choose
 * them.
 *
 * Never await a call while a transaction is open: a store that stalls would block the connections of all other
 * requests. Each call ends in bounded time, and at once with the reason of its signal if that aborts.
 */
export interface BlobStore {
  /**
   * Resolves once the blob is durable. If the source fails, it rejects and leaves nothing. Memory is bounded for any
   * size.
   * @throws StoreFull, StoreStalled
   */
  write(blob: string, source: Readable, bounds: BlobWriteBounds): Promise<void>;

  /**
   * Returns the content from its first byte. A blob that is removed in the meantime is still read to its end. The
   * stream fails if nothing passes for a while, and when the signal aborts.
   * @throws BlobMissing, StoreStalled
   */
  read(blob: string, signal?: AbortSignal): Promise<Readable>;

  /**
   * Removes a blob and everything that a killed `write` of it has left. Repeatable; a blob that never existed is no
   * error.
   * @throws StoreStalled
   */
  remove(blob: string, signal?: AbortSignal): Promise<void>;

  close(): Promise<void>;
}

/** `<sandbox>/<id>`: one folder for each workspace, so that an operator can see what takes the space. */
export function newBlob(sandboxId: string): string {
  return `${sandboxId}/${newId('blob')}`;
}

const BLOB = /^[a-z0-9_]{1,64}\/[a-z0-9_]{1,64}$/;

/** The last line of defence: only a name made by `newBlob` becomes a path or a key. */
export function assertBlob(blob: string): void {
  if (!BLOB.test(blob)) throw new Error('The name of the blob is invalid');
}
