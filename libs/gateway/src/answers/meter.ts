/** What an answer tells about its tokens. Reads along; never keeps a byte back. */
export interface Meter {
  /** Whether a stream's first token came with it. */
  onChunk(chunk: Buffer, now: number): boolean;
  /** After the last chunk. */
  read(): Metering;
}

export interface Metering {
  tokensIn: number;
  tokensOut: number;
  /** Moment of the first token of a stream (`performance.now()`), or null. */
  firstTokenAt: number | null;
  /** Gaps between the tokens of a stream: milliseconds, and how many tokens had that gap. */
  gaps: readonly (readonly [gapMs: number, tokens: number])[];
}

/** A delta that carries text. The first chunk of a chat names only the role, and the last only the reason to stop. */
const TOKEN = /"(?:content|text|reasoning|reasoning_content|refusal|arguments)": ?"(?!")/;
// A model server may say anything. A count of more digits than these is none: no window of any model has as many.
const PROMPT_TOKENS = /"prompt_tokens": ?(\d{1,8})(?!\d)/;
const COMPLETION_TOKENS = /"completion_tokens": ?(\d{1,8})(?!\d)/;
/** An event line longer than this is not searched for tokens. */
const MAX_LINE = 256 * 1024;

/** Counts events of a stream. Upstream's own `usage`, if the client asked for it, takes precedence over the count. */
export class StreamMeter implements Meter {
  private rest = '';
  private counted = 0;
  private usage = { tokensIn: 0, tokensOut: null as number | null };
  private firstTokenAt: number | null = null;
  private lastTokenAt = 0;
  private readonly gaps: [number, number][] = [];

  onChunk(chunk: Buffer, now: number): boolean {
    const isFirst = this.firstTokenAt === null;
    // Latin-1 keeps one character per byte; everything searched for is ASCII.
    const text = chunk.toString('latin1');
    let tokens = 0;
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = this.rest + text.slice(start, end);
      this.rest = '';
      if (line.length > 6 && line.startsWith('data:')) tokens += this.readEvent(line);
      start = end + 1;
    }
    // Joined only where a line ends: a line that comes in many pieces is not copied for each of them.
    if (start < text.length) this.rest += text.slice(start);
    if (this.rest.length > MAX_LINE) this.rest = '';
    if (tokens === 0) return false;
    this.noteTokens(tokens, now);
    return isFirst;
  }

  read(): Metering {
    return {
      tokensIn: this.usage.tokensIn,
      tokensOut: this.usage.tokensOut ?? this.counted,
      firstTokenAt: this.firstTokenAt,
      gaps: this.gaps,
    };
  }

  private readEvent(line: string): number {
    if (line.includes('_tokens"')) {
      this.usage.tokensIn = numberIn(line, PROMPT_TOKENS) ?? this.usage.tokensIn;
      this.usage.tokensOut = numberIn(line, COMPLETION_TOKENS) ?? this.usage.tokensOut;
    }
    return TOKEN.test(line) ? 1 : 0;
  }

  /** Tokens that arrive together share the time since the one before: none of them was produced in no time. */
  private noteTokens(tokens: number, now: number): void {
    this.counted += tokens;
    if (this.firstTokenAt === null) {
      this.firstTokenAt = now;
      if (tokens > 1) this.gaps.push([0, tokens - 1]);
    } else this.gaps.push([(now - this.lastTokenAt) / tokens, tokens]);
    this.lastTokenAt = now;
  }
}

/** `usage` stands near the end of an answer, behind texts or vectors of any length. */
const TAIL = 8 * 1024;

export class JsonMeter implements Meter {
  private tail: Buffer[] = [];
  private size = 0;

  onChunk(chunk: Buffer): boolean {
    this.tail.push(chunk);
    this.size += chunk.length;
    while (this.tail.length > 1 && this.size - (this.tail[0] as Buffer).length >= TAIL)
      this.size -= (this.tail.shift() as Buffer).length;
    return false;
  }

  read(): Metering {
    const kept = this.tail.length === 1 ? (this.tail[0] as Buffer) : Buffer.concat(this.tail);
    const end = kept.subarray(-TAIL).toString('latin1');
    const usage = end.slice(Math.max(0, end.lastIndexOf('"usage"')));
    return {
      tokensIn: numberIn(usage, PROMPT_TOKENS) ?? 0,
      tokensOut: numberIn(usage, COMPLETION_TOKENS) ?? 0,
      firstTokenAt: null,
      gaps: [],
    };
  }
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
