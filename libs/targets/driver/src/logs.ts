import { stripVTControlCharacters } from 'node:util';

/** One piece of an instance's output, redacted: whole lines of one stream. */
export interface LogLine {
  stream: 'stdout' | 'stderr';
  /** RFC 3339, where the target knows it. */
  at?: string;
  text: string;
}

export interface LogOptions {
  /** Last lines, 1..10,000. */
  tail: number;
  /** Only what was written from then on, RFC 3339. */
  since?: string;
  stream: 'stdout' | 'stderr' | 'both';
  /** The last generation that is over, instead of the newest. */
  previous: boolean;
  /** Goes on until the signal fires, with what is written meanwhile. */
  follow: boolean;
  signal: AbortSignal;
  /** Values that must not be shown, beside what looks like a secret and what the target itself remembers: the caller may know them. */
  secrets?: readonly string[];
}

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

const REDACTED = '[redacted]';
/** What a secret looks like; the first group of each stays. */
const SECRETS: RegExp[] = [
  /()\bhf_[A-Za-z0-9]{20,}/g,
  /()\b(?:sk|ghp|gho|ghs|glpat)[-_][A-Za-z0-9_-]{16,}/g,
  /(\bslw_[A-Za-z0-9-]{1,64}_)[^\s"',;}\]]+/g,
  /(\b(?:Bearer|Basic)\s+)[^\s"',;]+/gi,
  /((?:api[-_ ]?keys?|passw(?:or)?d|secret|(?:hf|hub|access|auth)[-_]token)["']?\s*[=:]\s*[[("']*)[^\s"',;&)\]}]+/gi,
  /(--?[a-z-]*(?:api[-_]keys?|passw(?:or)?d|secret|token)(?:["',\s]+))(?!-)[^\s"',;&)\]}]+/gi,
  /(\/\/)[^\s/:@]*:[^\s/@]+(?=@)/g,
  // A key of an instance: 43 characters of base64url. The look-aheads leave names and words of that length alone.
  /()(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{43}(?![\w-])/g,
];
/** A shorter value is a word that a line may well have for other reasons. */
const MIN_SECRET_LENGTH = 6;

/**
 * A line of an engine's output without what looks like a secret, and without the values given: an engine may print all it was started with.
 * Drivers take it out, and so does whoever hands lines on: a driver may forget.
 */
export function redactSecrets(text: string, values: readonly string[] = []): string {
  let shown = text;
  for (const value of values) if (value.length >= MIN_SECRET_LENGTH) shown = shown.replaceAll(value, REDACTED);
  for (const pattern of SECRETS) shown = shown.replace(pattern, `$1${REDACTED}`);
  return shown;
}
