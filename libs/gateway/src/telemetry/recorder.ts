import { DISTRIBUTIONS, metricOf, type Distribution, type DistributionMetric } from '@slipway/contracts';
import {
  emptyHistogram,
  HistogramRecorder,
  LoadRecorder,
  mergeLoads,
  type CallerCounts,
  type Histogram,
  type StatsWindow,
  type Waits,
  type WindowDemand,
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
  /** Without instances that were starting. */
  readonly settled = new LoadRecorder();
  readonly callers: Record<string, CallerCounts> = {};
  arrivals = 0;
  sessionArrivals = 0;
  refused = 0;
  private startingLoads: LoadRecorder | undefined;
  private heldMs: HistogramRecorder | undefined;
  private tokens: { input: HistogramRecorder; output: HistogramRecorder } | undefined;
  private waitsLeft: HistogramRecorder | undefined;
  private waitsNow: HistogramRecorder | undefined;
  private readonly waitingCallers: Record<string, number> = {};

  noteWaiting(waitedMs: number, caller: number): void {
    (this.waitsNow ??= new HistogramRecorder()).record(waitedMs);
    if (waitedMs < ABANDONED_AFTER_MS) return;
    const bucket = callerBucketOf(caller);
    this.waitingCallers[bucket] = (this.waitingCallers[bucket] ?? 0) + 1;
  }

  noteHeld(ms: number): void {
    (this.heldMs ??= new HistogramRecorder()).record(ms);
  }

  /** Each request is recorded at one load, so that those of starting instances cost no more; the sum is taken here. */
  demand(): Required<WindowDemand> & Pick<StatsWindow, 'loads'> {
    const { tokens } = this;
    const settled = this.settled.snapshot();
    const starting = this.startingLoads?.snapshot() ?? null;
    return {
      loads: starting ? mergeLoads([settled, starting].map((loads) => ({ loads, hidden: 0 }))) : settled,
      starting,
      arrivals: this.arrivals,
      session_arrivals: this.sessionArrivals,
      refused: this.refused,
      held: this.heldMs?.snapshot() ?? null,
      tokens: tokens ? { input: tokens.input.snapshot(), output: tokens.output.snapshot() } : null,
    };
  }

  waits(): Waits {
    const [left, waiting] = [this.waitsLeft, this.waitsNow].map((some) => some?.snapshot() ?? emptyHistogram());
    return { left: left as Histogram, waiting: waiting as Histogram, callers: this.waitingCallers };
  }

  override add(attempt: AttemptRecord): void {
    super.add(attempt);
    this.addLoad(attempt, attempt.isStarting ? (this.startingLoads ??= new LoadRecorder()) : this.settled);
    this.addTokens(attempt);
    if (attempt.class === 'abandoned')
      (this.waitsLeft ??= new HistogramRecorder()).record(attempt.waitedMs ?? attempt.e2eMs);
    // As clients saw them: no client saw an attempt that was retried, and a cancelled one says nothing.
    if (attempt.caller === undefined || attempt.isRetried || attempt.class === 'cancelled') return;
    const counts = (this.callers[callerBucketOf(attempt.caller)] ??= [0, 0, 0, 0, 0]);
    counts[0] += 1;
    const at = COUNTED_AT[attempt.class];
    if (at !== undefined) counts[at as 1] += 1;
  }

  /** No answer has 0 tokens: their number is unknown then, or there are none by the kind of the request. */
  private addTokens({ class: outcome, metering }: AttemptRecord): void {
    if (outcome !== 'ok' || !metering || metering.tokensIn + metering.tokensOut === 0) return;
    const tokens = (this.tokens ??= { input: new HistogramRecorder(), output: new HistogramRecorder() });
    if (metering.tokensIn > 0) tokens.input.record(metering.tokensIn);
    if (metering.tokensOut > 0) tokens.output.record(metering.tokensOut);
  }

  private addLoad(attempt: AttemptRecord, loads: LoadRecorder): void {
    const { load, instances } = attempt;
    loads.instances = Math.max(loads.instances, instances);
    if (load.aloneMs !== null) loads.aloneMs += load.aloneMs;
    if (load.isJoined) loads.joined += 1;
    if (isMeasured(attempt)) this.addByLoad(attempt, loads);
  }

  private addByLoad(attempt: AttemptRecord, loads: LoadRecorder): void {
    const { load } = attempt;
    for (const metric of DISTRIBUTIONS) {
      const { loadUntil } = metricOf(metric) as DistributionMetric;
      const isUntilEnd = loadUntil === 'end' || attempt.class === 'abandoned';
      const mean = isUntilEnd ? load.mean : load.untilFirstToken;
      if (mean !== null) MEASUREMENTS[metric](attempt, loads.at(metric, mean));
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

/**
 * Statistics per revision in windows of one second. `add` and `arrive` cost a few increments; other code stores the
 * windows.
 */
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
    this.secondOf(id, tenantId).add(attempt);
    this.totalOf(id, tenantId).add(attempt);
  }

  /**
   * Counts a request that came. A revision to which requests only come has a window too: otherwise a saturated one would
   * seem to be asked for what it serves.
   * @param instances number of instances that the gateway chose from
   * @param isBound whether a session bound it to its instance
   */
  arrive(keys: readonly StatsKey[], instances: number, isBound: boolean, now = this.clock.now()): void {
    this.roll(now);
    for (const { id, tenantId } of keys) {
      const second = this.secondOf(id, tenantId);
      second.arrivals += 1;
      if (isBound) second.sessionArrivals += 1;
      if (instances > second.settled.instances) second.settled.instances = instances;
    }
  }

  /** Records how long a request was held. */
  hold(keys: readonly StatsKey[], ms: number, now = this.clock.now()): void {
    this.roll(now);
    for (const { id, tenantId } of keys) this.secondOf(id, tenantId).noteHeld(ms);
  }

  /** Counts a request that was refused because no instance could be had. */
  refuse(keys: readonly StatsKey[], now = this.clock.now()): void {
    this.roll(now);
    for (const { id, tenantId } of keys) this.secondOf(id, tenantId).refused += 1;
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

  private secondOf(id: string, tenantId: string): SecondTally {
    let second = this.open.get(id);
    if (!second) {
      second = new SecondTally(tenantId);
      this.open.set(id, second);
    }
    return second;
  }

  private totalOf(id: string, tenantId: string): Tally {
    let total = this.totals.get(id);
    if (!total) {
      total = new Tally(tenantId);
      this.totals.set(id, total);
    }
    return total;
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
      if (isLong(request)) for (const { id, tenantId } of request.keys) this.secondOf(id, tenantId);
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
      ...tally.demand(),
      callers: tally.callers,
      waits: tally.waits(),
      faults: Object.keys(tally.faults).length > 0 ? tally.faults : null,
    };
  }
}
