import { DISTRIBUTIONS, metricOf, type Distribution, type DistributionMetric } from '@slipway/contracts';
import {
  emptyHistogram,
  HistogramRecorder,
  LoadRecorder,
  type CallerCounts,
  type Histogram,
  type StatsWindow,
  type Waits,
} from '@slipway/dataplane';
import type { AnswerFault } from '../answers/answer-judge.js';
import type { Clock } from '../postgres/database-clock.js';
import {
  ABANDONED_AFTER_MS,
  callerBucketOf,
  isMeasured,
  MEASUREMENTS,
  type AttemptClass,
  type AttemptRecord,
} from './measurement.js';

/** Attempts that ended on one revision, in one second or since the start. */
export class Tally {
  readonly counts: Record<AttemptClass, number> = {
    ok: 0,
    client_error: 0,
    overloaded: 0,
    server_error: 0,
    connect_error: 0,
    abandoned: 0,
    cancelled: 0,
  };
  /** Failed answers by what was wrong with them. */
  readonly faults: Partial<Record<AnswerFault, number>> = {};
  retried = 0;
  overloadedRetried = 0;
  streamed = 0;
  tokensIn = 0;
  tokensOut = 0;
  readonly histograms = eachDistribution(() => new HistogramRecorder());

  constructor(readonly tenantId: string) {}

  add(attempt: AttemptRecord): void {
    this.counts[attempt.class] += 1;
    if (attempt.isRetried && attempt.class === 'overloaded') this.overloadedRetried += 1;
    else if (attempt.isRetried) this.retried += 1;
    const { fault, metering } = attempt;
    if (fault) this.faults[fault] = (this.faults[fault] ?? 0) + 1;
    if (!isMeasured(attempt)) return;
    for (const metric of DISTRIBUTIONS) MEASUREMENTS[metric](attempt, this.histograms[metric]);
    if (attempt.class !== 'ok' || !metering) return;
    this.tokensIn += metering.tokensIn;
    this.tokensOut += metering.tokensOut;
    if (attempt.isStream) this.streamed += 1;
  }
}

/** Index in `CallerCounts` of each outcome that is not good. */
const COUNTED_AT: Partial<Record<AttemptClass, number>> = {
  server_error: 1,
  connect_error: 1,
  client_error: 2,
  overloaded: 3,
  abandoned: 4,
};

/**
 * Also counts by load and by caller. A second needs that to be compared with another revision's; the totals do not.
 */
class SecondTally extends Tally {
  readonly loads = new LoadRecorder();
  readonly callers: Record<string, CallerCounts> = {};
  private waitsLeft: HistogramRecorder | undefined;
  private waitsNow: HistogramRecorder | undefined;
  private readonly waitingCallers: Record<string, number> = {};

  noteWaiting(waitedMs: number, caller: number): void {
    (this.waitsNow ??= new HistogramRecorder()).record(waitedMs);
    if (waitedMs < ABANDONED_AFTER_MS) return;
    const bucket = callerBucketOf(caller);
    this.waitingCallers[bucket] = (this.waitingCallers[bucket] ?? 0) + 1;
  }

  waits(): Waits {
    const [left, waiting] = [this.waitsLeft, this.waitsNow].map((some) => some?.snapshot() ?? emptyHistogram());
    return { left: left as Histogram, waiting: waiting as Histogram, callers: this.waitingCallers };
  }

  override add(attempt: AttemptRecord): void {
    super.add(attempt);
    this.addLoad(attempt);
    if (attempt.class === 'abandoned')
      (this.waitsLeft ??= new HistogramRecorder()).record(attempt.waitedMs ?? attempt.e2eMs);
    // As clients saw them: no client saw an attempt that was retried, and a cancelled one says nothing.
    if (attempt.caller === undefined || attempt.isRetried || attempt.class === 'cancelled') return;
    const counts = (this.callers[callerBucketOf(attempt.caller)] ??= [0, 0, 0, 0, 0]);
    counts[0] += 1;
    const at = COUNTED_AT[attempt.class];
    if (at !== undefined) counts[at as 1] += 1;
  }

  private addLoad(attempt: AttemptRecord): void {
    const { load, instances } = attempt;
    this.loads.instances = Math.max(this.loads.instances, instances);
    if (load.aloneMs !== null) this.loads.aloneMs += load.aloneMs;
    if (load.isJoined) this.loads.joined += 1;
    if (isMeasured(attempt)) this.addByLoad(attempt);
  }

  private addByLoad(attempt: AttemptRecord): void {
    const { load } = attempt;
    for (const metric of DISTRIBUTIONS) {
      const { loadUntil } = metricOf(metric) as DistributionMetric;
      const isUntilEnd = loadUntil === 'end' || attempt.class === 'abandoned';
      const mean = isUntilEnd ? load.mean : load.untilFirstToken;
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

/** The key of statistics: a revision, or a binding of a published product. */
export interface StatsKey {
  id: string;
  tenantId: string;
}

/** A request whose client has got no first byte yet. */
export interface WaitingRequest {
  keys: readonly StatsKey[];
  /** See `callerOf`. */
  caller: number;
  /** By `performance.now()`. */
  startedAt: number;
}

/** Statistics per revision in windows of one second. `add` costs a few increments; other code stores the windows. */
export class Recorder {
  /** Since the start, for /metrics. */
  readonly totals = new Map<string, Tally>();
  lostWindows = 0;
  readonly waiting = new Set<WaitingRequest>();
  private open = new Map<string, SecondTally>();
  private openSecond: number;
  private closed: StatsWindow[] = [];

  constructor(
    private readonly gatewayId: string,
    now?: number,
    private readonly clock: Clock = Date,
    /** The clock of `WaitingRequest`. */
    private readonly monotonic: Clock = performance,
  ) {
    this.openSecond = Math.floor((now ?? clock.now()) / 1000);
  }

  add(id: string, tenantId: string, attempt: AttemptRecord, now = this.clock.now()): void {
    this.roll(now);
    tallyOf(this.open, id, () => new SecondTally(tenantId)).add(attempt);
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
    this.addWaiting();
    for (const [id, tally] of this.open) this.closed.push(this.windowOf(id, tally, start));
    if (this.open.size > 0) this.open = new Map();
    this.openSecond = second;
  }

  /** A revision that only keeps clients waiting has a window too: otherwise it would have no statistics at all. */
  private addWaiting(): void {
    const now = this.monotonic.now();
    const isLong = ({ startedAt }: WaitingRequest): boolean => now - startedAt >= ABANDONED_AFTER_MS;
    for (const request of this.waiting)
      if (isLong(request))
        for (const { id, tenantId } of request.keys) tallyOf(this.open, id, () => new SecondTally(tenantId));
    for (const { keys, caller, startedAt } of this.waiting)
      for (const { id } of keys) this.open.get(id)?.noteWaiting(now - startedAt, caller);
  }

  private windowOf(id: string, tally: SecondTally, start: string): StatsWindow {
    return {
      revision_id: id,
      tenant_id: tally.tenantId,
      gateway_id: this.gatewayId,
      window_start: start,
      ...tally.counts,
      retried: tally.retried,
      overloaded_retried: tally.overloadedRetried,
      streamed: tally.streamed,
      tokens_in: tally.tokensIn,
      tokens_out: tally.tokensOut,
      ...eachDistribution((metric): Histogram => tally.histograms[metric].snapshot()),
      loads: tally.loads.snapshot(),
      callers: tally.callers,
      waits: tally.waits(),
      faults: Object.keys(tally.faults).length > 0 ? tally.faults : null,
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
