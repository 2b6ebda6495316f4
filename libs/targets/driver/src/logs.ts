import { stripVTControlCharacters } from 'node:util';

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
const [LF, CR] = [10, 13];

/**
 * Splits an engine's output into lines, whatever the engine writes, and keeps at most one of them. It keeps the last
 * state of a progress bar that overwrites itself, and the beginning of a line of megabytes. It removes escape sequences
 * and replaces bytes that are not UTF-8.
 */
export class LineReader {
  private pending: Buffer = Buffer.alloc(0);
  private wasCut = false;

  /** The lines that end in the chunk, each with the number of bytes of the chunk up to its end. */
  *push(chunk: Buffer): Generator<{ text: string; end: number }> {
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      this.keep(chunk.subarray(start, end));
      start = end + 1;
      yield { text: this.take(), end: start };
    }
    this.keep(chunk.subarray(start));
  }

  /** The line that has no end yet; undefined if there is none. */
  rest(): string | undefined {
    return this.pending.length === 0 ? undefined : this.take();
  }

  private keep(piece: Buffer): void {
    const all = Buffer.concat([this.pending, piece]);
    const overwritten = withoutReturns(all).lastIndexOf(CR);
    if (overwritten >= 0) this.wasCut = false;
    // A copy, because a subarray would keep the whole buffer alive.
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

const REDACTED = '[redacted]';
/** Patterns of secrets. The first group of each pattern stays in the text. */
const SECRETS: RegExp[] = [
  /()\bhf_[A-Za-z0-9]{20,}/g,
  /()\b(?:sk|ghp|gho|ghs|glpat)[-_][A-Za-z0-9_-]{16,}/g,
  /(\bslw_[A-Za-z0-9-]{1,64}_)[^\s"',;}\]]+/g,
  /(\b(?:Bearer|Basic)\s+)[^\s"',;]+/gi,
  /((?:api[-_ ]?keys?|passw(?:or)?d|secret|(?:hf|hub|access|auth)[-_]token)["']?\s*[=:]\s*[[("']*)[^\s"',;&)\]}]+/gi,
  /(--?[a-z-]*(?:api[-_]keys?|passw(?:or)?d|secret|token)(?:["',\s]+))(?!-)[^\s"',;&)\]}]+/gi,
  /(\/\/)[^\s/:@]*:[^\s/@]+(?=@)/g,
  // A key of an instance: 43 characters of base64url. The look-aheads exclude names and words of that length.
  /()(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{43}(?![\w-])/g,
];
/** A shorter value is a word that a line may contain for other reasons. */
const MIN_SECRET_LENGTH = 6;

/**
 * Removes from a line everything that looks like a secret, and the given values. An engine may print everything that it
 * was started with. Drivers call this, and so does the code that passes lines on, because a driver may forget it.
 */
export function redactSecrets(text: string, values: readonly string[] = []): string {
  let shown = text;
  for (const value of values) if (value.length >= MIN_SECRET_LENGTH) shown = shown.replaceAll(value, REDACTED);
  for (const pattern of SECRETS) shown = shown.replace(pattern, `$1${REDACTED}`);
  return shown;
}
