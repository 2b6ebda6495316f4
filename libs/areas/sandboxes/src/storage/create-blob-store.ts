import type { Config } from '@slipway/platform-config';
import type { BlobStore } from './blob-store.js';
import { BoundedStore } from './bounded-store.js';
import { IDLE_TIMEOUT_MS } from './time-limits.js';

/** The backend of the configuration: `file:<folder>` or `s3://<bucket>/<prefix>`. Loaded on demand, because the AWS client is large. */
export async function createBlobStore(
  { upload }: Pick<Config, 'upload'>,
  idleTimeoutMs = IDLE_TIMEOUT_MS,
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
