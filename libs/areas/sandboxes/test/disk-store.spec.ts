import { expect, it } from '@jest/globals';
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { newBlob } from '../src/storage/blob-store.js';
import { createBlobStore } from '../src/storage/create-blob-store.js';
import { describeBlobStore } from './blob-store-conformance.js';

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

it('follows no symbolic link out of its root', async () => {
  const elsewhere = await mkdtemp(path.join(os.tmpdir(), 'slipway-elsewhere-'));
  const store = await createBlobStore({ upload: { maxBytes: 1, workspaceStore: `file:${root}`, s3: { region: 'x' } } });
  await writeFile(path.join(elsewhere, 'blob_1'), 'secret');
  await symlink(elsewhere, path.join(root, 'sbx_link'));
  await expect(store.read('sbx_link/blob_1')).rejects.toThrow('not a folder');
  await expect(store.write(newBlob('sbx_link'), Readable.from([Buffer.from('x')]))).rejects.toThrow('not a folder');
  await mkdir(path.join(root, 'sbx_real'));
  await symlink(path.join(elsewhere, 'blob_1'), path.join(root, 'sbx_real', 'blob_2'));
  await expect(store.read('sbx_real/blob_2')).rejects.toThrow('ELOOP');
  expect(await readdir(elsewhere)).toEqual(['blob_1']);
  await rm(elsewhere, { recursive: true });
});

it('removes what a killed writer left', async () => {
  const store = await createBlobStore({ upload: { maxBytes: 1, workspaceStore: `file:${root}`, s3: { region: 'x' } } });
  const blob = newBlob('sbx_killed');
  await mkdir(path.join(root, 'sbx_killed'));
  await writeFile(path.join(root, `${blob}.part`), 'half');
  await store.remove(blob);
  expect((await readdir(root)).includes('sbx_killed')).toBe(false);
});
