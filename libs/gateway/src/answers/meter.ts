/** Reads the token counts of an answer while it passes through. It never delays a byte. */
export interface Meter {
  /** Returns whether this chunk brought the first token of a stream. */
  onChunk(chunk: Buffer, now: number): boolean;
  /** Call it after the last chunk. */
  read(): Metering;
}

export interface Metering {
  tokensIn: number;
  tokensOut: number;
  /** Time of a stream's first token (`performance.now()`), or null. */
  firstTokenAt: number | null;
  /** Gaps between the tokens of a stream: the gap in milliseconds, and the number of tokens that had it. */
  gaps: readonly (readonly [gapMs: number, tokens: number])[];
}

/** A delta that carries text. The first chunk of a chat names only the role, and the last only the reason to stop. */
const TOKEN = /"(?:content|text|reasoning|reasoning_content|refusal|arguments)": ?"(?!")/;
// A model server may send anything. A longer number is no token count: no model has such a context window.
const PROMPT_TOKENS = /"prompt_tokens": ?(\d{1,8})(?!\d)/;
const COMPLETION_TOKENS = /"completion_tokens": ?(\d{1,8})(?!\d)/;
/** An event line longer than this is not searched for tokens. */
const MAX_LINE = 256 * 1024;

/** Counts the events of a stream. If the client requested upstream's `usage`, that takes precedence over the count. */
export class StreamMeter implements Meter {
  private rest = '';
  private counted = 0;
  private usage = { tokensIn: 0, tokensOut: null as number | null };
  private firstTokenAt: number | null = null;
  private lastTokenAt = 0;
  private readonly gaps: [number, number][] = [];

  onChunk(chunk: Buffer, now: number): boolean {
    const isFirst = this.firstTokenAt === null;
    // Latin-1 keeps one character per byte; every pattern is ASCII.
    const text = chunk.toString('latin1');
    let tokens = 0;
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = this.rest + text.slice(start, end);
      this.rest = '';
      if (line.length > 6 && line.startsWith('data:')) tokens += this.readEvent(line);
      start = end + 1;
    }
    // Joined only at the end of a line, so that a line in many pieces is not copied for each of them.
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

  /** Tokens that arrive together share the time since the previous token: none of them took zero time to produce. */
  private noteTokens(tokens: number, now: number): void {
    this.counted += tokens;
    if (this.firstTokenAt === null) {
      this.firstTokenAt = now;
      if (tokens > 1) this.gaps.push([0, tokens - 1]);
    } else this.gaps.push([(now - this.lastTokenAt) / tokens, tokens]);
    this.lastTokenAt = now;
  }
}

/** Bytes searched for `usage`: it is near the end of an answer, after texts or vectors of any length. */
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
