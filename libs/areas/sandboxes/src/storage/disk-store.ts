import { constants } from 'node:fs';
import { lstat, mkdir, open, rename, rm, rmdir, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { assertBlob, BlobMissingError, StoreFullError, type BlobStore, type BlobWriteBounds } from './blob-store.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;
const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);

/**
 * Blobs as files: `<root>/<sandbox>/<id>`. A blob is written as `<id>.part`, synced, renamed, and the folder synced. So
 * all of it exists under its name or nothing, even after a power cut. Api and worker must share the folder.
 */
export class DiskStore implements BlobStore {
  constructor(private readonly root: string) {}

  async write(blob: string, source: Readable, { signal }: BlobWriteBounds): Promise<void> {
    const file = this.fileOf(blob);
    const part = `${file}.part`;
    try {
      const handle = await this.create(part);
      try {
        for await (const chunk of source) await writeAll(handle, chunk as Buffer);
        await handle.sync();
      } finally {
        await handle.close();
      }
      // A caller that gave up may have removed the blob already.
      signal?.throwIfAborted();
      await rename(part, file);
      await syncFolder(path.dirname(file));
    } catch (failure) {
      source.destroy();
      await this.remove(blob).catch(() => undefined);
      if (NO_SPACE.has((failure as NodeJS.ErrnoException).code ?? ''))
        throw new StoreFullError('the disk is full', { cause: failure });
      throw failure;
    }
  }

  async read(blob: string): Promise<Readable> {
    const file = this.fileOf(blob);
    await this.assertRealFolder(path.dirname(file));
    const handle = await open(file, O_RDONLY | O_NOFOLLOW).catch((failure: NodeJS.ErrnoException) => {
      throw failure.code === 'ENOENT' ? new BlobMissingError(blob) : failure;
    });
    return handle.createReadStream();
  }

  async remove(blob: string): Promise<void> {
    const file = this.fileOf(blob);
    await rm(`${file}.part`, { force: true });
    await rm(file, { force: true });
    // The call that removes the last blob of a workspace also removes its folder. Any other call finds it not empty, or
    // gone.
    await rmdir(path.dirname(file)).catch(() => undefined);
  }

  async close(): Promise<void> {}

  private fileOf(blob: string): string {
    assertBlob(blob);
    return path.join(this.root, blob);
  }

  /**
   * The `remove` of another upload may delete the folder between its creation and its use, so this retries until the
   * file is open.
   */
  private async create(part: string): Promise<FileHandle> {
    const folder = path.dirname(part);
    for (let tries = 0; ; tries += 1) {
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      if (made) await syncFolder(path.dirname(folder));
      await this.assertRealFolder(folder);
      try {
        return await open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      } catch (failure) {
        if ((failure as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 9) throw failure;
      }
    }
  }

  /** An intruder who can write below the root must not be able to lead the store out of it with a symbolic link. */
  private async assertRealFolder(folder: string): Promise<void> {
    const found = await lstat(folder).catch(() => undefined);
    if (found && !found.isDirectory()) throw new Error('the path of a workspace is not a folder');
  }
}

async function writeAll(handle: FileHandle, chunk: Buffer): Promise<void> {
  for (let offset = 0; offset < chunk.length;) {
    const { bytesWritten } = await handle.write(chunk, offset);
    offset += bytesWritten;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
