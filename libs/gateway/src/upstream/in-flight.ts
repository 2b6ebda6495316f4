/**
 * How many requests are in flight on one instance, as a running integral: the difference of two readings, divided by the time
 * between them, is how many there were on average. All times are milliseconds of one clock that never goes back.
 */
export class InFlightCounter {
  count = 0;
  /** Integral of `count` up to `since`, in requests × milliseconds. */
  private ms = 0;
  /** When a second request came while one was alone; null while none has since the instance was empty. */
  joinedAt: number | null = null;

  constructor(private since: number) {}

  until(now: number): number {
    return this.ms + this.count * (now - this.since);
  }

  enter(now: number): void {
    this.advance(now);
    this.count += 1;
    if (this.count === 1) this.joinedAt = null;
    if (this.count === 2) this.joinedAt ??= now;
  }

  leave(now: number): void {
    this.advance(now);
    this.count -= 1;
  }

  private advance(now: number): void {
    this.ms = this.until(now);
    this.since = now;
  }
}

/** How loaded the instance was while one request was on it. */
export interface AttemptLoad {
  /** Requests in flight on the instance until the end, on average; counts the request itself. */
  mean: number;
  /** The same until the first token; null without one. */
  untilFirstToken: number | null;
  /** Milliseconds that it was alone there, if it came to an empty instance: until another joined it, or its end. Else null. */
  aloneMs: number | null;
  isJoined: boolean;
}

/** One request's time on an instance, from just before it enters to just before it leaves. */
export class Stay {
  private readonly before: number;
  private readonly isFirst: boolean;
  private untilFirstToken: number | null = null;

  constructor(
    private readonly inFlight: InFlightCounter,
    private readonly startedAt: number,
  ) {
    this.before = inFlight.until(startedAt);
    this.isFirst = inFlight.count === 0;
  }

  noteFirstToken(now: number): void {
    this.untilFirstToken ??= this.meanUntil(now);
  }

  meanUntil(now: number): number {
    const ms = now - this.startedAt;
    if (ms <= 0) return this.inFlight.count;
    return (this.inFlight.until(now) - this.before) / ms;
  }

  load(now: number): AttemptLoad {
    const { joinedAt } = this.inFlight;
    return {
      mean: this.meanUntil(now),
      untilFirstToken: this.untilFirstToken,
      aloneMs: this.isFirst ? (joinedAt ?? now) - this.startedAt : null,
      isJoined: this.isFirst && joinedAt !== null,
    };
  }
}
