import { stripVTControlCharacters } from 'node:util';

/** The longest line that is kept, in bytes; the rest of a longer one is dropped. */
export const MAX_LINE_BYTES = 16 * 1024;
const CUT = ' … (cut)';
const [LF, CR] = [10, 13];

/**
 * Makes lines of what an engine wrote, whatever it wrote, and keeps no more than one of them: of a progress bar that overwrites itself the
 * last state, of a line of megabytes its beginning; no escape sequences; what is not UTF-8 is replaced.
 */
export class LineReader {
  private pending: Buffer = Buffer.alloc(0);
  private wasCut = false;

  /** The lines that end in the chunk, with how many bytes of the chunk each ends at. */
  *push(chunk: Buffer): Generator<{ text: string; end: number }> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.keep(chunk.subarray(start, end));
      start = end + 1;
      yield { text: this.take(), end: start };
    }
    this.keep(chunk.subarray(start));
  }

  /** What has no end yet; undefined when there is nothing. */
  rest(): string | undefined {
    return this.pending.length === 0 ? undefined : this.take();
  }

  private keep(piece: Buffer): void {
    const all = Buffer.concat([this.pending, piece]);
    const overwritten = withoutReturns(all).lastIndexOf(CR);
    if (overwritten >= 0) this.wasCut = false;
    // A copy, since a part of it would keep all of it alive.
    this.pending = Buffer.from(all.subarray(overwritten + 1));
    if (this.pending.length <= MAX_LINE_BYTES) return;
    this.wasCut = true;
    const isReturned = this.pending.at(-1) === CR;
    this.pending = Buffer.concat([this.pending.subarray(0, MAX_LINE_BYTES), Buffer.from(isReturned ? [CR] : [])]);
  }

  private take(): string {
    const text = withoutReturns(this.pending).toString('utf8');
    const shown = stripVTControlCharacters(text).replace(/[^\P{Cc}\t]/gu, '');
    const line = this.wasCut ? `${shown}${CUT}` : shown;
    this.pending = Buffer.alloc(0);
    this.wasCut = false;
    return line;
  }
}

function withoutReturns(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === CR) end -= 1;
  return bytes.subarray(0, end);
}
