/** The tokens of an answer, and their times. */
export interface Metering {
  tokensIn: number;
  tokensOut: number;
  /** Time of a stream's first token (`performance.now()`), or null. */
  firstTokenAt: number | null;
  /** Time per output token after the first one; null unless a stream brought tokens at two times or more. */
  itlMs: number | null;
  /** Longest time between two arrivals of tokens; null as above. */
  longestGapMs: number | null;
}

/** Counts the tokens of a stream and measures their times, with a memory that does not grow with the stream. */
export class TokenClock {
  firstTokenAt: number | null = null;
  /** Events that carried text. */
  events = 0;
  private firstEvents = 0;
  private lastTokenAt = 0;
  private longestGapMs: number | null = null;

  /** @param events that carried text and arrived together */
  note(events: number, now: number): void {
    this.events += events;
    if (this.firstTokenAt === null) {
      this.firstTokenAt = now;
      this.firstEvents = events;
    } else this.longestGapMs = Math.max(this.longestGapMs ?? 0, now - this.lastTokenAt);
    this.lastTokenAt = now;
  }

  read({ tokensIn, tokensOut }: TokenCounts): Metering {
    const tokens = tokensOut ?? this.events;
    // The tokens that arrived first took no measured time. An event may carry several tokens; their number is the
    // average, because engines report only the sum.
    const measured = tokens * (1 - this.firstEvents / this.events);
    const { firstTokenAt, longestGapMs } = this;
    return {
      tokensIn: tokensIn ?? 0,
      tokensOut: tokens,
      firstTokenAt,
      itlMs: firstTokenAt === null || !(measured > 0) ? null : (this.lastTokenAt - firstTokenAt) / measured,
      longestGapMs,
    };
  }
}

export interface TokenCounts {
  tokensIn: number | null;
  tokensOut: number | null;
}

/** A model server may send anything. No model has a context window of more tokens. */
const MAX_TOKENS = 99_999_999;
const MAX_NESTING = 4;
const MAX_ELEMENTS = 8;
const INPUT = ['prompt_tokens', 'input_tokens'];
const OUTPUT = ['completion_tokens', 'output_tokens'];

/** Finds the `usage` of an answer or event: at the top, in a choice, or in a member of the server's own. */
export function usageIn(value: unknown, nesting = 0): TokenCounts | undefined {
  if (typeof value !== 'object' || value === null || nesting > MAX_NESTING) return undefined;
  const counts = countsOf((value as { usage?: unknown }).usage);
  if (counts) return counts;
  for (const inner of Array.isArray(value) ? value.slice(-MAX_ELEMENTS) : Object.values(value)) {
    const found = usageIn(inner, nesting + 1);
    if (found) return found;
  }
  return undefined;
}

function countsOf(usage: unknown): TokenCounts | undefined {
  if (typeof usage !== 'object' || usage === null) return undefined;
  const read = (names: readonly string[]): number | null => {
    for (const name of names) {
      const count = (usage as Record<string, unknown>)[name];
      if (Number.isSafeInteger(count) && (count as number) >= 0 && (count as number) <= MAX_TOKENS)
        return count as number;
    }
    return null;
  };
  const counts = { tokensIn: read(INPUT), tokensOut: read(OUTPUT) };
  return counts.tokensIn === null && counts.tokensOut === null ? undefined : counts;
}
