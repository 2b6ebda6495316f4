const NOTHING: Buffer = Buffer.alloc(0);
const FIRST_CAPACITY = 512;
/** Keeping a buffer of this size for the next text costs less than allocating it again. */
const KEPT_CAPACITY = 4 * 1024;

/**
 * A text that arrives in pieces, up to a limit. It copies the bytes: a slice of a string or of a buffer would keep the
 * whole chunk that it is part of, so that a stream in small pieces takes many times its own bytes.
 */
export class HeldText {
  private bytes = NOTHING;
  length = 0;

  constructor(private readonly maxBytes: number) {}

  /** The memory that it takes. */
  get capacity(): number {
    return this.bytes.length;
  }

  /** @returns false if the piece exceeds the limit; then nothing of it is kept */
  add(piece: string | Buffer): boolean {
    const needed = this.length + piece.length;
    if (needed > this.maxBytes) return false;
    if (needed > this.bytes.length) {
      const larger = Buffer.allocUnsafeSlow(Math.min(this.maxBytes, Math.max(needed, FIRST_CAPACITY, 2 * this.length)));
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    if (typeof piece === 'string') this.bytes.write(piece, this.length, 'latin1');
    else piece.copy(this.bytes, this.length);
    this.length = needed;
    return true;
  }

  /** Returns the text as Latin-1 and begins the next one. */
  take(): string {
    const text = this.length === 0 ? '' : this.bytes.toString('latin1', 0, this.length);
    this.length = 0;
    if (this.bytes.length > KEPT_CAPACITY) this.bytes = NOTHING;
    return text;
  }
}

/** Copies a part of a longer Latin-1 text, which the part would otherwise keep in memory. */
export function copyOf(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

const shared = Buffer.allocUnsafeSlow(64 * 1024);

/**
 * Returns the bytes of a Latin-1 text. They are valid until the next call, because a buffer of its own for each piece of
 * many long lines makes the memory of the process grow.
 */
export function bytesOf(text: string): Buffer {
  if (text.length > shared.length) return Buffer.from(text, 'latin1');
  return shared.subarray(0, shared.write(text, 'latin1'));
}

/** Decodes a Latin-1 text whose characters are the bytes of UTF-8. */
export function utf8Of(text: string): string {
  // Most texts are ASCII.
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'latin1').toString('utf8');
}
