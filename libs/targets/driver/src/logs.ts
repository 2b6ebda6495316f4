import { StringDecoder } from 'node:string_decoder';
import { redactor, type Redactor } from './redaction.js';

/** One piece of an instance's output, redacted: whole lines of one stream. */
export interface LogLine {
  stream: 'stdout' | 'stderr';
  /** RFC 3339, if the target knows it. */
  at?: string;
  text: string;
}

export interface LogOptions {
  /** Last lines, 1..10,000. */
  tail: number;
  /** Only lines that were written from this time on, RFC 3339. */
  since?: string;
  stream: 'stdout' | 'stderr' | 'both';
  /** Read the last ended generation instead of the newest. */
  previous: boolean;
  /** Continue with new lines until the signal fires. */
  follow: boolean;
  signal: AbortSignal;
  /**
   * Values that the caller knows and that must not be shown. Values that look like a secret, and those that the target
   * remembers, are never shown.
   */
  secrets?: readonly string[];
}

/** The longest line that is kept, in bytes. The rest of a longer line is dropped. */
export const MAX_LINE_BYTES = 16 * 1024;
const CUT = ' … (cut)';
const FIRST_CAPACITY = 512;
const [LF, CR] = [10, 13];

/**
 * Splits an engine's output into lines, whatever the engine writes, and keeps at most one of them. It keeps the last
 * state of a progress bar that overwrites itself, and the beginning of a line of megabytes. It removes escape sequences
 * and replaces bytes that are not UTF-8. It also redacts secrets, because only it knows whether a line was cut: the
 * beginning of a secret may be all that is left of it.
 * Each byte is looked at a fixed number of times, however small the chunks are.
 */
export class LineReader {
  private readonly redact: Redactor;
  private kept: Buffer = Buffer.alloc(0);
  private length = 0;
  /** A carriage return is the last byte: it overwrites the line only if something follows. */
  private isReturned = false;
  private wasCut = false;

  /** @param secrets values that must not be shown, in addition to everything that looks like a secret */
  constructor(secrets: readonly string[] = []) {
    this.redact = redactor(secrets);
  }

  /** The lines that end in the chunk, each with the number of bytes of the chunk up to its end. */
  *push(chunk: Buffer): Generator<{ text: string; end: number }> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.keep(chunk.subarray(start, end));
      start = end + 1;
      yield { text: this.take(true), end: start };
    }
    this.keep(chunk.subarray(start));
  }

  /** The line that has no end yet; undefined if there is none. */
  rest(): string | undefined {
    return this.length === 0 && !this.isReturned ? undefined : this.take(false);
  }

  private keep(piece: Buffer): void {
    if (piece.length === 0) return;
    let end = piece.length;
    while (end > 0 && piece[end - 1] === CR) end -= 1;
    if (end > 0) {
      const overwritten = piece.subarray(0, end).lastIndexOf(CR);
      if (this.isReturned || overwritten >= 0) {
        this.length = 0;
        this.wasCut = false;
      }
      this.add(piece.subarray(overwritten + 1, end));
      this.isReturned = false;
    }
    if (end < piece.length) this.isReturned = true;
  }

  private add(piece: Buffer): void {
    const needed = Math.min(this.length + piece.length, MAX_LINE_BYTES);
    if (needed > this.kept.length) {
      const capacity = Math.min(MAX_LINE_BYTES, Math.max(needed, 2 * this.kept.length, FIRST_CAPACITY));
      const larger = Buffer.alloc(capacity);
      this.kept.copy(larger, 0, 0, this.length);
      this.kept = larger;
    }
    piece.copy(this.kept, this.length, 0, needed - this.length);
    this.wasCut ||= this.length + piece.length > MAX_LINE_BYTES;
    this.length = needed;
  }

  private take(isEnded: boolean): string {
    const { wasCut } = this;
    const bytes = this.kept.subarray(0, this.length);
    // A decoder leaves out a character of which the cut has removed a part.
    const text = wasCut ? new StringDecoder('utf8').write(bytes) : bytes.toString('utf8');
    const shown = this.redact(plainText(text), wasCut || !isEnded);
    this.length = 0;
    this.isReturned = false;
    this.wasCut = false;
    return wasCut ? `${shown}${CUT}` : shown;
  }
}

/**
 * Escape sequences of terminals (ECMA-48): control sequences, strings such as titles and links, and short ones. A string
 * without an end loses only its beginning. `stripVTControlCharacters` of Node takes quadratic time for some texts.
 */
const ESCAPE =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x9d\x90])[^\x07\x1b\x90\x9c\x9d]*(?:\x07|\x1b\\|\x9c)|\x1b[ -/]*[0-~]/g;

/** Returns the text without escape sequences and control characters, except tabs. */
function plainText(text: string): string {
  return text.replace(ESCAPE, '').replace(/[^\P{Cc}\t]/gu, '');
}
