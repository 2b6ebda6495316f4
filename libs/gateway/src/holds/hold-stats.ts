/** Why a request was refused instead of waiting, or stopped waiting. */
export type HoldRefusal = 'full' | 'age' | 'estimate' | 'shutdown' | 'start_failed';

/** Upper bounds in seconds. */
const BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300];

/** Counts since the start, for /metrics. Separate from the metrics of engines: no engine took part in a wait. */
export class HoldStats {
  readonly refused: Record<HoldRefusal, number> = { full: 0, age: 0, estimate: 0, shutdown: 0, start_failed: 0 };
  /** Of the requests that continued. */
  private readonly counts = BUCKETS.map(() => 0);
  private seconds = 0;
  private total = 0;

  wentOn(seconds: number): void {
    this.seconds += seconds;
    this.total += 1;
    const bucket = BUCKETS.findIndex((bound) => seconds <= bound);
    if (bucket >= 0) (this.counts[bucket] as number) += 1;
  }

  /** Returns lines in the Prometheus text format. */
  lines(waiting: number): string[] {
    let below = 0;
    return [
      '# HELP slipway_gateway_held_requests Requests that wait because their deployment is being replaced or is scaled to zero.',
      '# TYPE slipway_gateway_held_requests gauge',
      `slipway_gateway_held_requests ${waiting}`,
      '# HELP slipway_gateway_hold_seconds Time that released requests waited, in seconds.',
      '# TYPE slipway_gateway_hold_seconds histogram',
      ...BUCKETS.map((bound, n) => {
        below += this.counts[n] as number;
        return `slipway_gateway_hold_seconds_bucket{le="${bound}"} ${below}`;
      }),
      `slipway_gateway_hold_seconds_bucket{le="+Inf"} ${this.total}`,
      `slipway_gateway_hold_seconds_sum ${this.seconds}`,
      `slipway_gateway_hold_seconds_count ${this.total}`,
      '# HELP slipway_gateway_hold_refused_total Requests refused with Retry-After instead of waiting, or instead of waiting any longer.',
      '# TYPE slipway_gateway_hold_refused_total counter',
      ...Object.entries(this.refused).map(
        ([reason, count]) => `slipway_gateway_hold_refused_total{reason="${reason}"} ${count}`,
      ),
    ];
  }
}
