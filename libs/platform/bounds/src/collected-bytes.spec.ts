import { expect, it } from '@jest/globals';
import { collect, CollectedBytes } from './collected-bytes.js';

const bytesOf = (size: number): Buffer => Buffer.from(Array.from({ length: size }, (_, index) => index % 251));

/** The bytes in pieces of these sizes, repeated. */
function collected(bytes: Buffer, sizes: readonly number[]): CollectedBytes {
  const collector = new CollectedBytes();
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = sizes[n % sizes.length]!;
    collector.push(bytes.subarray(at, at + size));
    at += size;
  }
  return collector;
}

it.each([
  ['bytes one by one', 200_000, [1]],
  ['pieces of many sizes', 700_000, [1, 5_000, 3, 4_096, 4_095, 70_000, 17]],
  ['pieces that fill a block', 300_000, [2_048]],
  ['one piece', 10, [10]],
  ['nothing', 0, [1]],
])('keeps %s in their order', (_what, size, sizes) => {
  const bytes = bytesOf(size);
  const collector = collected(bytes, sizes);
  expect(collector.size).toBe(size);
  expect(collector.whole().equals(bytes)).toBe(true);
  expect(Buffer.concat(collector.parts()).equals(bytes)).toBe(true);
});

it('returns what arrived together without a copy', () => {
  const piece = Buffer.from('together');
  const collector = new CollectedBytes();
  collector.push(piece);
  expect(collector.whole()).toBe(piece);
});

it('has few pieces, whatever the number of those that arrived', () => {
  expect(collected(bytesOf(200_000), [1]).parts().length).toBeLessThan(50);
  expect(collected(bytesOf(200_000), [1, 4_000]).parts().length).toBeLessThan(50);
});

it('reads a body up to its limit, and stops at the first piece above it', async () => {
  let read = 0;
  async function* body(): AsyncGenerator<Buffer> {
    for (const piece of ['ab', 'c', 'd', 'e']) {
      read += 1;
      yield Buffer.from(piece);
    }
  }
  const tooLarge = (): Error => new Error('too large');
  expect((await collect(body(), 5, tooLarge)).toString()).toBe('abcde');
  read = 0;
  await expect(collect(body(), 3, tooLarge)).rejects.toThrow('too large');
  expect(read).toBe(3);
});
