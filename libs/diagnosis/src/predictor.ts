import { metricOf, type Distribution } from '@slipway/contracts';
import { loadBucketOf, mean, normalQuantile, type Histogram } from '@slipway/dataplane';
import { blocksOf, type Block } from './blocks.js';
import { calibrate, type Calibration } from './calibration.js';
import { curveOf, distributionOf, isMostlyStreams, valuesByLoad, type LoadBucketValues } from './curve.js';
import { isOutside, leastSamples, mixture, sideOf } from './interval.js';
import { averagedOver, BUCKET_REACH, monotonic, msAt, poolLoads, type LoadShare, type ServiceCurve } from './pool.js';
import type { CurvePoint, DiagnosisInput, Gap, Goal, Interval } from './types.js';
import { peakRate } from './workload.js';

/** Sessions bind requests to instances, and several gateways do not see each other's requests. */
const MUCH_SESSION_TRAFFIC = 0.2;
/** Share of requests at loads that were never seen, relative to those beyond the quantile. */
const MOST_UNSEEN = 0.2;
/** A mean duration needs fewer samples than a quantile. */
const LEAST_FOR_MEAN = 20;
const MOST_REPLICAS = 1_000;

export interface Prediction extends Interval {
  /** The interval's upper end (lower, if higher is better) from the measurements alone. */
  measuredWorst: number;
}

export type PredictionResult = Prediction | { missing: Gap };

export interface ReplicaCount {
  needed: number | null;
  because?: Gap;
}

/** Predicts goals for other numbers of instances, from what was measured. Made once for a diagnosis. */
export class Predictor {
  /**
   * Requests per second: the largest of the declared peak, the observed one and that of the window. Traffic that rose an
   * hour ago is not in the 99th percentile of a week yet. Null if none is known.
   */
  readonly peakRate: number | null;
  /** How wide intervals are by the errors of earlier plans. */
  readonly calibration: Calibration;
  private readonly blocks: Block[];
  private readonly service: ServiceCurve;
  private readonly values = new Map<Distribution, LoadBucketValues[]>();
  private readonly curves = new Map<Goal, CurvePoint[]>();
  private readonly isSeparate: boolean;

  constructor(private readonly input: DiagnosisInput) {
    this.blocks = blocksOf(input.history);
    this.service = this.serviceCurve();
    this.calibration = calibrate(input.calibration, input.evidence.confidence);
    const start = input.window[0]?.at ?? new Date(0);
    const recent = input.arrivals.filter(({ at }) => at >= start);
    const peaks = [input.declared.requestRate, peakRate(input.arrivals), peakRate(recent)];
    const rates = peaks.filter((rate) => rate != null);
    this.peakRate = rates.length === 0 ? null : Math.max(...rates);
    const arrivals = input.history.reduce((sum, record) => sum + record.arrivals, 0);
    const bound = input.history.reduce((sum, record) => sum + record.sessionArrivals, 0);
    const gateways = Math.max(0, ...input.history.map((record) => record.gateways));
    this.isSeparate = gateways > 1 || bound > MUCH_SESSION_TRAFFIC * arrivals;
  }

  valuesOf(metric: Distribution): LoadBucketValues[] {
    let values = this.values.get(metric);
    if (!values) {
      values = valuesByLoad(this.blocks, metric);
      this.values.set(metric, values);
    }
    return values;
  }

  curve(goal: Goal): CurvePoint[] {
    const metric = distributionOf(goal.metric);
    if (!metric) return [];
    let curve = this.curves.get(goal);
    if (!curve) {
      curve = curveOf(goal, this.valuesOf(metric), this.input.evidence);
      this.curves.set(goal, curve);
    }
    return curve;
  }

  /**
   * @param rate requests per second; the peak by default
   */
  predict(goal: Goal, replicas: number, rate: number | null = this.peakRate): PredictionResult {
    const metric = distributionOf(goal.metric);
    if (!metric) return { missing: 'not_by_load' };
    const points = this.valuesOf(metric).filter(
      ({ all }) => all.n >= leastSamples(goal.stat, this.input.evidence.minSamples),
    );
    if (points.length === 0 || this.service.length === 0 || rate === null) return { missing: 'samples' };
    const candidates = this.mixes(metric, replicas, rate).map((shares) => shares && this.mixed(goal, points, shares));
    if (candidates.some((one) => !one)) return { missing: 'never_seen' };
    return (candidates as Prediction[]).reduce((worst, one) => (isWorse(goal, one.value, worst.value) ? one : worst));
  }

  /** The least number of instances with which all goals that depend on load are met at the peak. */
  replicasFor(goals: readonly Goal[]): ReplicaCount {
    const byLoad = goals.filter((goal) => distributionOf(goal.metric));
    if (byLoad.length === 0) return { needed: null, because: 'not_by_load' };
    let because: Gap = 'out_of_reach';
    const most = Math.min(MOST_REPLICAS, 10 * this.input.pool.replicas + 16);
    for (let replicas = 1; replicas <= most; replicas += 1) {
      const found = byLoad.map((goal) => this.predict(goal, replicas));
      const missing = found.find((one) => 'missing' in one);
      if (missing && 'missing' in missing) because = missing.missing;
      else if (found.every((one, index) => !isOutside(byLoad[index] as Goal, (one as Prediction).measuredWorst)))
        return { needed: replicas };
      else because = 'out_of_reach';
    }
    return { needed: null, because };
  }

  /** The highest load at which each goal is met for certain, and at each lower load that was seen; null if none. */
  highestLoadWithin(goals: readonly Goal[]): number | null {
    const highest = goals
      .filter((goal) => distributionOf(goal.metric))
      .map((goal) => {
        const curve = this.curve(goal);
        const end = curve.findIndex((point) => sideOf(goal, point) !== 'met');
        return (end < 0 ? curve : curve.slice(0, end)).at(-1)?.load ?? 0;
      });
    const load = Math.min(...highest);
    return Number.isFinite(load) && load > 0 ? load : null;
  }

  /** Shares of the requests by load, for each way in which traffic may come; undefined if a load was never seen. */
  private mixes(metric: Distribution, replicas: number, rate: number): (LoadShare[] | undefined)[] {
    const { slots } = this.input.pool;
    const { concurrency } = this.input.declared;
    const stays = this.staysOf(metric);
    const chain = (perSecond: number, instances: number): LoadShare[] | undefined => {
      const shares = poolLoads(this.service, perSecond, instances, slots);
      return shares ? averagedOver(shares, stays) : undefined;
    };
    const mixes = [chain(rate, replicas)];
    if (this.isSeparate && replicas > 1) mixes.push(chain(rate / replicas, 1));
    if (concurrency !== undefined) mixes.push([{ load: Math.max(1, concurrency / replicas), share: 1 }]);
    return mixes;
  }

  /** Duration of what a metric measures, in mean durations of a request. */
  private staysOf(metric: Distribution): number {
    const definition = metricOf(metric);
    if (definition.kind !== 'distribution' || definition.loadUntil === 'end') return 1;
    const [until, whole] = ([metric, 'e2e_latency_ms'] as const).map((one) =>
      this.blocks.reduce((sum, block) => sum + (mean(block.overall(one)) ?? 0), 0),
    ) as [number, number];
    return whole > 0 ? Math.min(1, until / whole) : 1;
  }

  /** Mixes the measured values of each load. */
  private mixed(goal: Goal, points: readonly LoadBucketValues[], shares: readonly LoadShare[]): Prediction | undefined {
    const weights = new Map<LoadBucketValues, number>();
    const add = (point: LoadBucketValues, share: number) => weights.set(point, (weights.get(point) ?? 0) + share);
    let unseen = 0;
    const highest = points.at(-1) as LoadBucketValues;
    const buckets = new Map(points.map((point) => [point.bucket, point]));
    for (const { load, share } of shares) {
      if (load > highest.load * BUCKET_REACH) unseen += share;
      const own = buckets.get(loadBucketOf(load));
      if (own) {
        add(own, share);
        continue;
      }
      const above = points.findIndex((point) => point.load >= load);
      const high = above < 0 ? highest : (points[above] as LoadBucketValues);
      const low = points[above - 1];
      // More load never makes a request faster, so its values at the lowest load that was seen are an upper bound.
      if (above < 0 || !low) add(high, share);
      else {
        const part = Math.log(load / low.load) / Math.log(high.load / low.load);
        add(high, share * part);
        add(low, share * (1 - part));
      }
    }
    if (unseen > MOST_UNSEEN * beyondShare(goal)) return undefined;
    const parts = [...weights].map(([{ all }, share]) => ({ histogram: all, weight: share / all.n, tilt: 0 }));
    const found = mixture(goal.stat, parts);
    if (!found) return undefined;
    return this.withInterval(goal, found.value, this.deviation(goal, weights, found.deviation));
  }

  /** The blocks show how uncertain each bucket is. Buckets have values of different times, which chance moves apart. */
  private deviation(goal: Goal, weights: ReadonlyMap<LoadBucketValues, number>, independent: number): number {
    const curve = this.curve(goal);
    const z = normalQuantile(this.input.evidence.confidence);
    let variance = 0;
    for (const [{ load }, share] of weights) {
      const point = curve.find((one) => one.load === load);
      const own = point && point.low > 0 ? Math.log(point.high / point.low) / (2 * z) : independent;
      variance += (share * own) ** 2;
    }
    return Math.max(independent, Math.sqrt(variance));
  }

  private withInterval(goal: Goal, value: number, deviation: number): Prediction {
    const own = normalQuantile(this.input.evidence.confidence) * deviation;
    const width = Math.max(own, this.calibration.width);
    const isHigherBetter = metricOf(goal.metric).better === 'higher';
    return {
      value,
      low: value * Math.exp(-width),
      high: value * Math.exp(width),
      measuredWorst: value * Math.exp(isHigherBetter ? -own : own),
    };
  }

  /** Mean durations by load. Those of streams are computed, because long requests are missing at low loads. */
  private serviceCurve(): ServiceCurve {
    const points = isMostlyStreams(this.blocks) ? this.streamDurations() : this.plainDurations();
    const curve = monotonic(points.filter(({ n }) => n >= LEAST_FOR_MEAN));
    const { slots } = this.input.pool;
    return slots === undefined ? curve : upToSlots(curve, slots);
  }

  private plainDurations() {
    return this.valuesOf('e2e_latency_ms').map(({ load, all }) => ({ load, n: all.n, ms: meanOf(all) }));
  }

  private streamDurations() {
    const firsts = this.valuesOf('ttft_ms').filter(({ all }) => all.n >= LEAST_FOR_MEAN);
    const tokens = this.input.history.map(({ outputTokens }) => outputTokens);
    const [n, sum] = [tokens.reduce((all, one) => all + one.n, 0), tokens.reduce((all, one) => all + one.sum, 0)];
    const perRequest = n === 0 ? 0 : sum / n;
    if (firsts.length === 0) return [];
    const curve = monotonic(firsts.map(({ load, all }) => ({ load, n: all.n, ms: meanOf(all) })));
    return this.valuesOf('itl_ms').map(({ load, all }) => ({
      load,
      n: all.n,
      ms: msAt(curve, load) + meanOf(all) * Math.max(0, perRequest - 1),
    }));
  }
}

/**
 * Durations while every request has a slot. Those of higher loads include the wait for one, and a bucket that contains
 * the last slot has some of them; the slope of the buckets below it leads to the last slot.
 */
function upToSlots(curve: ServiceCurve, slots: number): ServiceCurve {
  const below = curve.filter(({ load }) => load * BUCKET_REACH <= slots);
  const [before, last] = [below.at(-2), below.at(-1)];
  if (!before || !last) return curve;
  const slope = (last.ms - before.ms) / (last.load - before.load);
  return slots > last.load ? [...below, { load: slots, ms: last.ms + slope * (slots - last.load) }] : below;
}

function meanOf(histogram: Histogram): number {
  return mean(histogram) ?? 0;
}

/** The share of requests that decides the statistic. */
function beyondShare({ stat }: Goal): number {
  return { p50: 0.5, p90: 0.1, p95: 0.05, p99: 0.01, avg: 0.05, rate: 0.05 }[stat];
}

function isWorse({ metric }: Goal, value: number, than: number): boolean {
  return metricOf(metric).better === 'higher' ? value < than : value > than;
}
