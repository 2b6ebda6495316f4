import { addAbortSignal, pipeline, type Readable, Transform } from 'node:stream';
import { joinSignals } from '@slipway/contracts';
import type { Config } from '@slipway/platform-config';
import { type BlobStore, StoreStalledError, type BlobWriteBounds } from './blob-store.js';
import { TRANSFER_IDLE_TIMEOUT_MS, transferLimitMs } from './time-limits.js';

/** The longest time that a client may take to send a body: the api ends its request then. */
const ARRIVAL_LIMIT_MS = 300_000;

/**
 * A store whose calls end even if the medium below never answers: a silent server, or a mount that hangs. An abandoned
 * call continues below for as long as it takes, and its signal is aborted.
 */
export class BoundedStore implements BlobStore {
  /** @param idleTimeoutMs for opening, for removing, and between two chunks of a read */
  constructor(
    private readonly store: BlobStore,
    private readonly idleTimeoutMs = TRANSFER_IDLE_TIMEOUT_MS,
  ) {}

  async write(blob: string, source: Readable, { bytes, signal }: BlobWriteBounds): Promise<void> {
    // The caller may have given up before the source fails; then no other code handles the error.
    source.on('error', () => undefined);
    await within(ARRIVAL_LIMIT_MS + transferLimitMs(bytes), signal, async (stop) => {
      stop.addEventListener('abort', () => source.destroy(), { once: true });
      await this.store.write(blob, source, { bytes, signal: stop });
    });
  }

  async read(blob: string, signal?: AbortSignal): Promise<Readable> {
    const content = await within(this.idleTimeoutMs, signal, async (stop) => {
      const opened = await this.store.read(blob, stop);
      if (stop.aborted) opened.destroy();
      return opened;
    });
    return ended(content, this.idleTimeoutMs, signal);
  }

  remove(blob: string, signal?: AbortSignal): Promise<void> {
    return within(this.idleTimeoutMs, signal, (stop) => this.store.remove(blob, stop));
  }

  close(): Promise<void> {
    return this.store.close();
  }
}

/** @throws StoreStalled after `limitMs`, and the reason of `signal` at once */
async function within<T>(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const timer = setTimeout(
    () => limit.abort(new StoreStalledError(`the workspace store did not respond within ${limitMs} ms`)),
    limitMs,
  );
  const either = joinSignals(limit.signal, signal);
  const stopped = new Promise<never>((_resolve, reject) =>
    either.signal.addEventListener('abort', () => reject(either.signal.reason as Error), { once: true }),
  );
  try {
    return await Promise.race([stopped, work(either.signal)]);
  } finally {
    clearTimeout(timer);
    either.stop();
  }
}

/**
 * Returns the same content, which fails if nothing passes for that long: the store is silent, or the reader has
 * stopped.
 */
function ended(content: Readable, idleTimeoutMs: number, signal: AbortSignal | undefined): Readable {
  const passed = new Transform({
    transform(chunk, _encoding, done) {
      idle.refresh();
      done(null, chunk);
    },
  });
  // Not `content`: a stream that is being read reports its end only when that read is over.
  const idle = setTimeout(
    () => passed.destroy(new StoreStalledError(`the transfer of a blob made no progress for ${idleTimeoutMs} ms`)),
    idleTimeoutMs,
  );
  if (signal) addAbortSignal(signal, passed);
  // The stream may fail before the caller reads. A later reader still gets the error.
  passed.on('error', () => undefined);
  pipeline(content, passed, () => clearTimeout(idle));
  return passed;
}

/**
 * Returns the backend of the configuration: `file:<folder>` or `s3://<bucket>/<prefix>`. It is loaded on demand,
 * because the AWS client is large.
 */
export async function createBlobStore(
  { upload }: Pick<Config, 'upload'>,
  idleTimeoutMs = TRANSFER_IDLE_TIMEOUT_MS,
): Promise<BlobStore> {
  const { workspaceStore, s3 } = upload;
  if (workspaceStore.startsWith('file:')) {
    const { DiskStore } = await import('./disk-store.js');
    return new BoundedStore(new DiskStore(workspaceStore.slice('file:'.length)), idleTimeoutMs);
  }
  const { S3Store } = await import('./s3-store.js');
  const { hostname, pathname } = new URL(workspaceStore);
  const store = new S3Store({ bucket: hostname, prefix: pathname.slice(1), ...s3, idleTimeoutMs });
  return new BoundedStore(store, idleTimeoutMs);
}
