import { expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, mkdtemp, open, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { BlobMissingError, newBlob, StoreStalledError } from '../src/storage/blob-store.js';
import { BoundedStore, createBlobStore } from '../src/storage/bounded-store.js';
import { DiskStore } from '../src/storage/disk-store.js';
import { describeBlobStore } from './blob-store-conformance.js';
import { eventually } from './tenants.js';

let root: string;

describeBlobStore(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'slipway-disk-store-'));
  const store = await createBlobStore({ upload: { maxBytes: 1, workspaceStore: `file:${root}`, s3: { region: 'x' } } });
  return {
    store,
    contents: async () => await readdir(root, { recursive: true }),
    stop: () => rm(root, { recursive: true, force: true }),
  };
});

it('the disk store follows no symbolic link out of its root', async () => {
  const elsewhere = await mkdtemp(path.join(os.tmpdir(), 'slipway-elsewhere-'));
  const store = await createBlobStore({ upload: { maxBytes: 1, workspaceStore: `file:${root}`, s3: { region: 'x' } } });
  await writeFile(path.join(elsewhere, 'blob_1'), 'secret');
  await symlink(elsewhere, path.join(root, 'sbx_link'));
  await expect(store.read('sbx_link/blob_1')).rejects.toThrow('not a folder');
  const source = Readable.from([Buffer.from('x')]);
  await expect(store.write(newBlob('sbx_link'), source, { bytes: 1 })).rejects.toThrow('not a folder');
  await mkdir(path.join(root, 'sbx_real'));
  await symlink(path.join(elsewhere, 'blob_1'), path.join(root, 'sbx_real', 'blob_2'));
  await expect(store.read('sbx_real/blob_2')).rejects.toThrow('ELOOP');
  expect(await readdir(elsewhere)).toEqual(['blob_1']);
  await rm(elsewhere, { recursive: true });
});

it('the disk store removes the leftovers of a killed writer', async () => {
  const store = await createBlobStore({ upload: { maxBytes: 1, workspaceStore: `file:${root}`, s3: { region: 'x' } } });
  const blob = newBlob('sbx_killed');
  await mkdir(path.join(root, 'sbx_killed'));
  await writeFile(path.join(root, `${blob}.part`), 'half');
  await store.remove(blob);
  expect((await readdir(root)).includes('sbx_killed')).toBe(false);
});

it('a file that never opens, or never yields a byte, blocks a caller no longer than the limit', async () => {
  const store = new BoundedStore(new DiskStore(root), 200);
  const blob = newBlob('sbx_hangs');
  await mkdir(path.join(root, 'sbx_hangs'));
  // A pipe opens for reading once a writer opens it, like a mount whose server is gone.
  execFileSync('mkfifo', [path.join(root, blob)]);
  await expect(store.read(blob)).rejects.toThrow(StoreStalledError);
  const opening = store.read(blob);
  const writer = await open(path.join(root, blob), constants.O_WRONLY);
  const content = await opening;
  await writer.write('x');
  const from = performance.now();
  // A read that waits for ever would outlive this process.
  const released = setTimeout(() => void writer.close(), 5_000);
  await expect(content.toArray()).rejects.toThrow(StoreStalledError);
  expect(performance.now() - from).toBeLessThan(2_000);
  clearTimeout(released);
  await writer.close();
  await store.remove(blob);
});

it('a blob does not appear after its writer has given up', async () => {
  const store = new DiskStore(root);
  const blob = newBlob('sbx_late');
  const stop = new AbortController();
  async function* source() {
    yield Buffer.from('x');
    stop.abort(new Error('enough'));
  }
  const writing = store.write(blob, Readable.from(source(), { objectMode: false }), { bytes: 1, signal: stop.signal });
  await expect(writing).rejects.toThrow('enough');
  await expect(store.read(blob)).rejects.toThrow(BlobMissingError);
});

it('content that is not read ends', async () => {
  const store = new BoundedStore(new DiskStore(root), 200);
  const blob = newBlob('sbx_unread');
  const large = Buffer.alloc(2 ** 20);
  await store.write(blob, Readable.from([large], { objectMode: false }), { bytes: large.length });
  const content = await store.read(blob);
  await eventually(async () => content.destroyed, 'it is given up');
  expect(content.errored).toBeInstanceOf(StoreStalledError);
  await store.remove(blob);
});
