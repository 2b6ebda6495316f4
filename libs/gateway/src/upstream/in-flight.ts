/**
 * Counts the requests in flight on one instance, as a running integral. The difference of two readings, divided by the
 * time between them, is the average number in flight. All times are milliseconds of one monotonic clock.
 */
export class InFlightCounter {
  count = 0;
  /** Integral of `count` up to `since`, in requests × milliseconds. */
  private ms = 0;
  /** When a second request joined a request that was alone; null if none has since the instance was empty. */
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

/** The load of the instance while one request was on it. */
export interface AttemptLoad {
  /** Average number of requests in flight on the instance until the end, including this request. */
  mean: number;
  /** The same until the first token; null without one. */
  untilFirstToken: number | null;
  /**
   * Milliseconds that it was alone on an empty instance, until another request joined or it ended. Null if the instance
   * was not empty.
   */
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

/** Breaks ties at random: otherwise the first instance would serve all traffic of a quiet revision. */
export function idlest<T extends { readonly inFlight: number }>(
  instances: readonly T[],
  random: () => number = Math.random,
): T | undefined {
  let best: T | undefined;
  let ties = 0;
  for (const instance of instances) {
    if (best && instance.inFlight > best.inFlight) continue;
    ties = best && instance.inFlight === best.inFlight ? ties + 1 : 1;
    if (ties === 1 || random() * ties < 1) best = instance;
  }
  return best;
}
