import { DISTRIBUTIONS, metricOf, type Distribution, type DistributionMetric } from '@slipway/contracts';
import { HistogramRecorder, LoadRecorder, type Histogram, type StatsWindow } from '@slipway/dataplane';
import type { Clock } from '../postgres/database-clock.js';
import { MEASUREMENTS, type AttemptClass, type AttemptRecord, type GoodAttempt } from './measurement.js';

/** Attempts that ended on one revision, in one second or since the start. */
export class Tally {
  readonly counts: Record<AttemptClass, number> = {
    ok: 0,
    client_error: 0,
    server_error: 0,
    connect_error: 0,
    cancelled: 0,
  };
  retried = 0;
  streamed = 0;
  tokensIn = 0;
  tokensOut = 0;
  readonly histograms = eachDistribution(() => new HistogramRecorder());

  constructor(readonly tenantId: string) {}

  add(attempt: AttemptRecord): void {
    this.counts[attempt.class] += 1;
    if (attempt.isRetried) this.retried += 1;
    const { metering } = attempt;
    if (attempt.class !== 'ok' || !metering) return;
    this.tokensIn += metering.tokensIn;
    this.tokensOut += metering.tokensOut;
    if (attempt.isStream) this.streamed += 1;
    for (const metric of DISTRIBUTIONS) MEASUREMENTS[metric](attempt as GoodAttempt, this.histograms[metric]);
  }
}

/** Also counts by load. A second needs that to be compared with another revision's; the totals do not. */
class SecondTally extends Tally {
  readonly loads = new LoadRecorder();

  addLoad(attempt: AttemptRecord): void {
    const { load, metering, instances } = attempt;
    this.loads.instances = Math.max(this.loads.instances, instances);
    if (load.aloneMs !== null) this.loads.aloneMs += load.aloneMs;
    if (load.isJoined) this.loads.joined += 1;
    if (attempt.class === 'ok' && metering) this.addByLoad(attempt as GoodAttempt);
  }

  private addByLoad(attempt: GoodAttempt): void {
    const { load } = attempt;
    for (const metric of DISTRIBUTIONS) {
      const { loadUntil } = metricOf(metric) as DistributionMetric;
      const mean = loadUntil === 'end' ? load.mean : load.untilFirstToken;
      if (mean !== null) MEASUREMENTS[metric](attempt, this.loads.at(metric, mean));
    }
  }
}

function eachDistribution<T>(make: (metric: Distribution) => T): Record<Distribution, T> {
  return Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, make(metric)])) as Record<Distribution, T>;
}

/** Most windows that wait for Postgres: about an hour of an outage's statistics. Beyond it, the oldest are dropped. */
const MAX_CLOSED = 20_000;

/** With more revisions than this, the totals of revisions that are gone are removed: /metrics does not need them. */
const MAX_TOTALS = 1_000;

/** Statistics per revision in windows of one second. `add` costs a few increments; other code stores the windows. */
export class Recorder {
  /** Since the start, for /metrics. */
  readonly totals = new Map<string, Tally>();
  lostWindows = 0;
  private open = new Map<string, SecondTally>();
  private openSecond: number;
  private closed: StatsWindow[] = [];

  constructor(
    private readonly gatewayId: string,
    now?: number,
    private readonly clock: Clock = Date,
  ) {
    this.openSecond = Math.floor((now ?? clock.now()) / 1000);
  }

  add(id: string, tenantId: string, attempt: AttemptRecord, now = this.clock.now()): void {
    this.roll(now);
    const second = tallyOf(this.open, id, () => new SecondTally(tenantId));
    second.add(attempt);
    second.addLoad(attempt);
    tallyOf(this.totals, id, () => new Tally(tenantId)).add(attempt);
  }

  /** Returns the closed windows, and the time up to which nothing is missing once they are stored. */
  take(now = this.clock.now()): { windows: StatsWindow[]; until: Date } {
    this.roll(now);
    const windows = this.closed;
    this.closed = [];
    return { windows, until: new Date(this.openSecond * 1000) };
  }

  /** Puts windows back that could not be stored. */
  putBack(windows: StatsWindow[]): void {
    this.closed = [...windows, ...this.closed];
    const excess = this.closed.length - MAX_CLOSED;
    if (excess <= 0) return;
    this.lostWindows += excess;
    this.closed.splice(0, excess);
  }

  /** The clock is now known, and was wrong by this much. No window has been stored yet, so all of them move. */
  shift(ms: number): void {
    const seconds = Math.round(ms / 1000);
    this.openSecond += seconds;
    this.closed = this.closed.map((window) => ({
      ...window,
      window_start: new Date(Date.parse(window.window_start) + seconds * 1000).toISOString(),
    }));
  }

  forgetTotals(isKnown: (id: string) => boolean): void {
    if (this.totals.size <= MAX_TOTALS) return;
    for (const id of this.totals.keys()) if (!isKnown(id)) this.totals.delete(id);
  }

  /** Closes the open second before it is over, for a shutdown. */
  takeAll(): StatsWindow[] {
    return this.take((this.openSecond + 1) * 1000).windows;
  }

  private roll(now: number): void {
    const second = Math.floor(now / 1000);
    // A clock that was set back must not reopen a second whose row is written.
    if (second <= this.openSecond) return;
    const start = new Date(this.openSecond * 1000).toISOString();
    for (const [id, tally] of this.open) this.closed.push(this.windowOf(id, tally, start));
    if (this.open.size > 0) this.open = new Map();
    this.openSecond = second;
  }

  private windowOf(id: string, tally: SecondTally, start: string): StatsWindow {
    return {
      revision_id: id,
      tenant_id: tally.tenantId,
      gateway_id: this.gatewayId,
      window_start: start,
      ...tally.counts,
      retried: tally.retried,
      streamed: tally.streamed,
      tokens_in: tally.tokensIn,
      tokens_out: tally.tokensOut,
      ...eachDistribution((metric): Histogram => tally.histograms[metric].snapshot()),
      loads: tally.loads.snapshot(),
    };
  }
}

function tallyOf<T extends Tally>(tallies: Map<string, T>, id: string, make: () => T): T {
  let tally = tallies.get(id);
  if (!tally) {
    tally = make();
    tallies.set(id, tally);
  }
  return tally;
}
