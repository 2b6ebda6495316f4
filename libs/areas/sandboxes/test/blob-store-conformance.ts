import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { BlobMissingError, newBlob, type BlobStore } from '../src/storage/blob-store.js';
import { eventually } from './tenants.js';

/** A store under test, and the names of everything in it, leftovers included. */
export interface StoreCase {
  store: BlobStore;
  contents(): Promise<string[]>;
  stop(): Promise<void>;
}

/** The contract that every backend must fulfil. Call it at the top level of a spec file. */
export function describeBlobStore(start: () => Promise<StoreCase>): void {
  let one: StoreCase;
  beforeAll(async () => {
    one = await start();
  });
  afterAll(async () => {
    await one?.store.close();
    await one?.stop();
  });

  it.each([0, 1, 65_537, 5 * 2 ** 20, 12 * 2 ** 20 + 3])('gives %i bytes back as they were', async (size) => {
    const blob = newBlob('sbx_a');
    const bytes = randomBytes(size);
    await one.store.write(blob, Readable.from(inPieces(bytes), { objectMode: false }), { bytes: size });
    expect(digest(await readAll(one.store, blob))).toBe(digest(bytes));
    await one.store.remove(blob);
  });

  it('knows no blob that was never written', async () => {
    await expect(one.store.read(newBlob('sbx_a'))).rejects.toThrow(BlobMissingError);
    await expect(one.store.read(newBlob('sbx_none'))).rejects.toThrow(BlobMissingError);
  });

  it('removes a blob, again and again', async () => {
    const blob = newBlob('sbx_b');
    await one.store.write(blob, Readable.from([Buffer.from('x')], { objectMode: false }), { bytes: 1 });
    await one.store.remove(blob);
    await one.store.remove(blob);
    await expect(one.store.read(blob)).rejects.toThrow(BlobMissingError);
    expect((await one.contents()).filter((name) => name.includes('sbx_b'))).toEqual([]);
  });

  it.each([10, 7 * 2 ** 20])(
    'rejects with the cause and shows nothing of a source that fails after %i bytes',
    async (size) => {
      const blob = newBlob('sbx_c');
      async function* failing() {
        yield* inPieces(randomBytes(size));
        throw new Error('the source broke');
      }
      const source = Readable.from(failing(), { objectMode: false });
      await expect(one.store.write(blob, source, { bytes: size })).rejects.toThrow('the source broke');
      await expect(one.store.read(blob)).rejects.toThrow(BlobMissingError);
      await one.store.remove(blob);
      expect((await one.contents()).filter((name) => name.includes('sbx_c'))).toEqual([]);
    },
  );

  it('reads a blob to its end though it is removed meanwhile', async () => {
    const blob = newBlob('sbx_d');
    const bytes = randomBytes(300_000);
    await one.store.write(blob, Readable.from([bytes], { objectMode: false }), { bytes: bytes.length });
    const stream = await one.store.read(blob);
    await one.store.remove(blob);
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk as Buffer);
    expect(digest(Buffer.concat(chunks))).toBe(digest(bytes));
  });

  it('keeps many writers apart, those that fail included', async () => {
    const blobs = Array.from({ length: 12 }, () => newBlob('sbx_e'));
    await Promise.all(
      blobs.map(async (blob, index) => {
        async function* source() {
          yield Buffer.from(blob);
          if (index % 2 === 1) throw new Error('no');
        }
        const content = Readable.from(source(), { objectMode: false });
        await one.store.write(blob, content, { bytes: blob.length }).catch(() => undefined);
      }),
    );
    const found = await Promise.all(
      blobs.map(async (blob) => (await readAll(one.store, blob).catch(() => Buffer.from('-'))).toString()),
    );
    expect(found).toEqual(blobs.map((blob, index) => (index % 2 === 1 ? '-' : blob)));
  });

  it('stops at once when the signal aborts, and leaves nothing', async () => {
    const blob = newBlob('sbx_f');
    const stop = new AbortController();
    const reason = new Error('enough');
    async function* endless() {
      for (;;) {
        yield randomBytes(64 * 1024);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const writing = one.store.write(blob, Readable.from(endless(), { objectMode: false }), {
      bytes: 2 ** 30,
      signal: stop.signal,
    });
    setImmediate(() => stop.abort(reason));
    await expect(writing).rejects.toBe(reason);
    await expect(one.store.read(blob)).rejects.toThrow(BlobMissingError);
    await expect(one.store.read(blob, stop.signal)).rejects.toBe(reason);
    await expect(one.store.remove(blob, stop.signal)).rejects.toBe(reason);
    // An interrupted write cleans up after itself.
    await eventually(async () => !(await one.contents()).some((name) => name.includes('sbx_f')), 'nothing is left');
  });

  it.each(['', '../etc/passwd', 'a/../b', '/a/b', 'a', 'a/b/c', 'A/b', 'a/b.part'])(
    'takes no name that is not of its making: %j',
    async (name) => {
      for (const attempt of [
        () => one.store.read(name),
        () => one.store.write(name, Readable.from([]), { bytes: 0 }),
        () => one.store.remove(name),
      ]) {
        await expect(attempt()).rejects.toThrow('The name of the blob is invalid');
      }
    },
  );
}

function* inPieces(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}

async function readAll(store: BlobStore, blob: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await store.read(blob)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
