/** The part of the clock that other code reads; `Date` is one, too. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
}

/**
 * The time of Postgres, which places statistics and decides what has expired. Each report measures how far its clock is
 * from `performance.now()`, so a wall clock that is wrong or is set has no effect. Until the first measurement, the wall
 * clock of the start counts. While Postgres is away, the last measurement counts.
 */
export class DatabaseClock implements Clock {
  /** The time of Postgres minus `performance.now()`. */
  private offsetMs = Date.now() - performance.now();
  private isMeasured = false;

  /** Whether Postgres was asked yet. */
  get isKnown(): boolean {
    return this.isMeasured;
  }

  now(): number {
    return this.at(performance.now());
  }

  /** Converts a moment of `performance.now()`. */
  at(monotonicMs: number): number {
    return this.offsetMs + monotonicMs;
  }

  /** Converts a time of Postgres to `performance.now()`. */
  monotonic(databaseMs: number): number {
    return databaseMs - this.offsetMs;
  }

  /**
   * Takes the time that Postgres read between `sentAt` and now, both by `performance.now()`. A measurement that does not
   * contradict the earlier ones changes nothing: a slow answer is not more exact than they are.
   * @returns how far the clock was set by the first measurement, and 0 later
   */
  measure(databaseMs: number, sentAt: number): number {
    const receivedAt = performance.now();
    const [least, most] = [databaseMs - receivedAt, databaseMs - sentAt];
    if (this.isMeasured && this.offsetMs >= least && this.offsetMs <= most) return 0;
    const before = this.offsetMs;
    this.offsetMs = (least + most) / 2;
    if (this.isMeasured) return 0;
    this.isMeasured = true;
    return this.offsetMs - before;
  }
}
