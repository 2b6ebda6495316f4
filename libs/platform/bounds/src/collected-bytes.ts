/** The first pieces are kept as they are: most bodies have one or two. */
const KEPT_PIECES = 16;
/** A later piece that is smaller than this is copied. */
const SMALL_BYTES = 4 * 1024;
const BLOCK_BYTES = 64 * 1024;

/**
 * Collects the bytes of a body. A peer may send one byte at a time, and each piece costs hundreds of bytes of memory and
 * keeps the buffer that it arrived in: 32 MiB would take more than 10 GB. Small pieces are therefore copied together, so
 * that the memory is that of the bytes.
 */
export class CollectedBytes {
  private readonly pieces: Uint8Array[] = [];
  /** The block that small pieces are copied into, and how much of it is used. */
  private block: Buffer | undefined;
  private used = 0;
  private total = 0;

  get size(): number {
    return this.total;
  }

  push(piece: Uint8Array): void {
    this.total += piece.length;
    if (this.pieces.length < KEPT_PIECES || piece.length >= SMALL_BYTES) {
      this.endBlock();
      this.pieces.push(piece);
      return;
    }
    if (this.block && this.used + piece.length > this.block.length) this.endBlock();
    // Slow: a slice of a shared pool would keep the pool.
    this.block ??= Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.block.set(piece, this.used);
    this.used += piece.length;
  }

  /** The bytes in few pieces, for a writer that sends them one after the other. */
  parts(): readonly Uint8Array[] {
    this.endBlock();
    return this.pieces;
  }

  /** All bytes, without a copy if they arrived together. */
  whole(): Buffer {
    const pieces = this.parts();
    const [first] = pieces;
    return pieces.length === 1 && Buffer.isBuffer(first) ? first : Buffer.concat(pieces, this.total);
  }

  private endBlock(): void {
    if (!this.block) return;
    this.pieces.push(this.block.subarray(0, this.used));
    this.block = undefined;
    this.used = 0;
  }
}

/** Reads a whole body. Stops, and throws the error of `tooLarge`, at the piece with which it exceeds `maxBytes`. */
export async function collect(
  body: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLarge: () => Error,
): Promise<Buffer> {
  const bytes = new CollectedBytes();
  for await (const piece of body) {
    if (bytes.size + piece.length > maxBytes) throw tooLarge();
    bytes.push(piece);
  }
  return bytes.whole();
}
