const MOST_BYTES = 4 * 2 ** 20;
/** Longer lines are cut into pieces, as a container runtime does. */
const MOST_LINE_BYTES = 16_384;

interface Line {
  at: Date;
  stream: 'Stdout' | 'Stderr';
  bytes: Buffer;
}

/** A request for logs, with the parameters of `pods/log`. */
export interface LogQuery {
  tailLines?: number;
  limitBytes?: number;
  since?: Date;
  timestamps: boolean;
  follow: boolean;
  stream?: string;
}

/** Output of one run of a container. If it is too large, the oldest lines are dropped. */
export class ContainerLog {
  private readonly lines: Line[] = [];
  private readonly open = new Map<Line['stream'], Buffer>();
  private bytes = 0;
  /** Number of lines before the oldest remaining line. */
  private dropped = 0;
  private isOver = false;
  private readonly waiting = new Set<() => void>();

  write(stream: Line['stream'], chunk: Buffer): void {
    let rest = Buffer.concat([this.open.get(stream) ?? Buffer.alloc(0), chunk]);
    for (;;) {
      const newline = rest.indexOf(0x0a);
      if (newline < 0 && rest.length < MOST_LINE_BYTES) break;
      const end = newline < 0 || newline > MOST_LINE_BYTES ? MOST_LINE_BYTES : newline + 1;
      this.add(stream, rest.subarray(0, end));
      rest = rest.subarray(end);
    }
    this.open.set(stream, rest);
    this.wake();
  }

  end(): void {
    for (const [stream, rest] of this.open) if (rest.length > 0) this.add(stream, rest);
    this.open.clear();
    this.isOver = true;
    this.wake();
  }

  /** Yields until the last line or, with `follow`, until the run ends or the signal fires. */
  async *read(query: LogQuery, signal: AbortSignal): AsyncGenerator<Buffer> {
    let at = this.firstOf(query);
    let left = query.limitBytes ?? Infinity;
    for (;;) {
      for (; at < this.dropped + this.lines.length; at += 1) {
        // The reader misses lines that were dropped while it was slow.
        at = Math.max(at, this.dropped);
        const line = this.lines[at - this.dropped] as Line;
        if (!isAskedFor(line, query)) continue;
        const shown = query.timestamps
          ? Buffer.concat([Buffer.from(`${line.at.toISOString()} `), line.bytes])
          : line.bytes;
        yield shown.subarray(0, left);
        left -= shown.length;
        if (left <= 0) return;
      }
      if (!query.follow || this.isOver || signal.aborted) return;
      await this.more(signal);
    }
  }

  private firstOf(query: LogQuery): number {
    if (query.tailLines === undefined) return this.dropped;
    let first = this.dropped + this.lines.length;
    for (let found = 0; found < query.tailLines && first > this.dropped; first -= 1)
      if (isAskedFor(this.lines[first - 1 - this.dropped] as Line, query)) found += 1;
    return first;
  }

  private more(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  private wake(): void {
    for (const wake of [...this.waiting]) wake();
  }

  private add(stream: Line['stream'], bytes: Buffer): void {
    // A copy, because a slice of a chunk would keep the whole chunk in memory.
    this.lines.push({ at: new Date(), stream, bytes: Buffer.from(bytes) });
    this.bytes += bytes.length;
    while (this.bytes > MOST_BYTES) {
      this.bytes -= (this.lines.shift() as Line).bytes.length;
      this.dropped += 1;
    }
  }
}

function isAskedFor(line: Line, query: LogQuery): boolean {
  if (query.since && line.at < query.since) return false;
  return query.stream === undefined || query.stream === 'All' || query.stream === line.stream;
}
