import { metricOf, type Distribution, type DistributionMetric, type Metric, type Stat } from '@slipway/contracts';
import { estimate, tilted, type Estimate, type Side, type WeightedHistogram } from './estimate.js';
import type { Histogram } from './histogram.js';
import { loadOf } from './load.js';
import { failuresOf, metricHistogram, readMetric, Z_95 } from './statistics.js';
import { attemptFailures, type RequestStats } from './stats.query.js';

/*
 * Decides whether one revision is worse than another, if latency depends on load and the two have different loads. It
 * works on the logarithmic scale, on which ratios become differences and errors add. tools/decisions/0004 explains the
 * reasons and the rate of errors.
 */

/** Why a comparison is fair. */
export type ComparisonBasis =
  /** A share of failures, which is counted at any load. */
  | 'counts'
  /** Each instance got as much traffic as the other side's. */
  | 'equal_traffic'
  /** The candidate's instances got less traffic and were slower even so. */
  | 'less_traffic'
  /** The candidate's instances got more traffic and were not slower even so. */
  | 'more_traffic'
  /** Requests with the same number in flight on their instance. */
  | 'equal_load'
  /** The candidate's requests at low load were slower than the baseline's at any load. */
  | 'any_load';

export interface LoadBucket {
  /** Requests in flight that the bucket represents. */
  load: number;
  candidate: number;
  baseline: number;
}

/** How much worse the candidate is, in percent; positive is worse. */
export interface Comparison {
  basis: ComparisonBasis;
  percent: number;
  /** At least this, with the requested confidence. */
  boundPercent: number;
  /** At most this, with 95 % confidence. */
  upperPercent: number;
  candidate: Side;
  baseline: Side;
  traffic: Traffic | null;
  /** For the bases `equal_load` and `any_load`: samples in the compared buckets. */
  loads: LoadBucket[];
}

export interface MissingComparison {
  basis: null;
  traffic: Traffic | null;
  /** Samples of both sides in every bucket of load, to show why. */
  loads: LoadBucket[];
}

/**
 * Requests per instance, candidate divided by baseline. Null if an old gateway did not report its number of instances.
 */
export interface Traffic {
  ratio: number;
}

export interface ComparisonCriterion {
  metric: Metric;
  stat: Stat;
  /** A regression of more percent is a breach. */
  limitPercent: number;
  /** For the lower bound: how many standard deviations it is below the value. */
  z: number;
  /** With fewer comparable samples, the result is not comparable. */
  minSamples: number;
}

/** A difference in traffic of up to a tenth is negligible. With few requests, a larger one may be chance. */
const EQUAL_TRAFFIC_LOG = 0.1;
/** A bucket of load with fewer samples on either side is left out. */
const MIN_IN_BUCKET = 10;
/** A bucket in which a value of the baseline would count for more values is left out: they may be those of one queue. */
const MAX_WEIGHT = 4;
/** Minimum share of the candidate's samples in buckets that both sides have: the rest may be the slow ones. */
const MIN_SHARE = 0.5;
/** Minimum share of a side's samples with a known load, to say anything about all its loads. */
const MIN_KNOWN_LOAD = 0.9;
/** If the correction for joined requests would count a value more often than this, the result is not reliable. */
const MAX_CORRECTION = 10;

/** Returns null if one side has no samples. */
export function compare(
  what: ComparisonCriterion,
  candidate: RequestStats,
  baseline: RequestStats,
): Comparison | MissingComparison | null {
  const { metric, stat } = what;
  if (readMetric(metric, stat, candidate).value === null || readMetric(metric, stat, baseline).value === null)
    return null;
  const ours = plainEstimate(metric, stat, candidate);
  const theirs = plainEstimate(metric, stat, baseline);
  const plain = contrast(what, ours, theirs);
  if (metricOf(metric).kind === 'rate') return plain && { basis: 'counts', traffic: null, loads: [], ...plain };
  const traffic = trafficOf(candidate, baseline);
  const pairs = pairsOf(metric, candidate, baseline);
  const dependence = [ours?.dependence ?? 1, theirs?.dependence ?? 1] as const;
  const sides: Sides = { candidate, baseline, dependence, traffic, pairs };
  if (traffic && plain) {
    const found = (basis: ComparisonBasis): Comparison => ({ basis, traffic, loads: [], ...plain });
    const off = Math.log(traffic.ratio);
    if (Math.abs(off) <= EQUAL_TRAFFIC_LOG + chanceOf(candidate, baseline)) {
      // A little more traffic on a busy instance may be the cause, and chance makes it more in half of all comparisons.
      if (off > 0 && classifyRegression(plain, what.limitPercent) === 'beyond')
        return atLoadsInCommon(what, sides) ?? missing(sides);
      if (!mayBeBeyond(plain, what.limitPercent)) return found('equal_traffic');
      // Queues that came and went may be the cause. At equal load they make less of a difference.
      const closer = atEqualLoad(what, sides);
      return closer && classifyRegression(closer, what.limitPercent) !== 'within' ? closer : found('equal_traffic');
    }
    // More traffic per instance never lowers a latency, so these cases need no correction.
    if (off < 0 && classifyRegression(plain, what.limitPercent) === 'beyond') return found('less_traffic');
    if (off > 0 && classifyRegression(plain, what.limitPercent) === 'within') return found('more_traffic');
  }
  return atEqualLoad(what, sides) ?? atAnyLoad(what, sides) ?? missing(sides);
}

function missing({ traffic, pairs }: Sides): MissingComparison {
  return { basis: null, traffic, loads: pairs.map(shown) };
}

/**
 * A candidate that looks worse, at the loads that both had. It passes if most of its requests had them and are not worse.
 * Fewer of them can only show that it is worse.
 */
function atLoadsInCommon(what: ComparisonCriterion, sides: Sides): Comparison | null {
  const most = atEqualLoad(what, sides);
  if (most) return mayBeBeyond(most, what.limitPercent) ? null : most;
  const some = atEqualLoad(what, sides, 0);
  return some && classifyRegression(some, what.limitPercent) === 'beyond' ? some : atAnyLoad(what, sides);
}

/** Whether the regression is surely beyond a limit, surely within it (or none at all), or may be either. */
export function classifyRegression(
  { boundPercent, upperPercent }: Pick<Comparison, 'boundPercent' | 'upperPercent'>,
  limitPercent: number,
): 'beyond' | 'within' | 'unsure' {
  if (boundPercent > limitPercent) return 'beyond';
  return boundPercent > 0 && upperPercent > limitPercent ? 'unsure' : 'within';
}

/** Whether it passes only because its excess over the limit may be chance. */
function mayBeBeyond(
  found: Pick<Comparison, 'percent' | 'boundPercent' | 'upperPercent'>,
  limitPercent: number,
): boolean {
  return classifyRegression(found, limitPercent) === 'within' && found.percent > limitPercent;
}

function contrast({ metric, z }: ComparisonCriterion, ours: Estimate | null, theirs: Estimate | null) {
  if (!ours || !theirs) return null;
  const worse = metricOf(metric).better === 'higher' ? -1 : 1;
  const difference = worse * (ours.log - theirs.log);
  const deviation = Math.sqrt(ours.variance + theirs.variance);
  return {
    percent: 100 * Math.expm1(difference),
    boundPercent: 100 * Math.expm1(difference - z * deviation),
    upperPercent: 100 * Math.expm1(difference + Z_95 * deviation),
    candidate: { value: ours.value, samples: Math.floor(ours.samples) },
    baseline: { value: theirs.value, samples: Math.floor(theirs.samples) },
  };
}

function plainEstimate(metric: Metric, stat: Stat, stats: RequestStats): Estimate | null {
  const definition = metricOf(metric);
  if (definition.kind === 'rate') {
    // Half a failure is added to each side (Katz, with the usual correction), so that "none seen" is not "never".
    const { failed, of } = failuresOf(definition, stats);
    if (of === 0) return null;
    const value = (failed + 0.5) / (of + 0.5);
    const variance = 1 / (failed + 0.5) - 1 / (of + 0.5);
    return { value, samples: of, log: Math.log(value), variance, dependence: 1 };
  }
  const histogram = metricHistogram(metric, stats);
  const slices = stats.slices?.map((slice) => metricHistogram(metric, slice));
  return estimate(stat, [{ histogram, weight: 1, tilt: 0 }], slices);
}

function trafficOf(candidate: RequestStats, baseline: RequestStats): Traffic | null {
  const perInstance = ({ loads, ...stats }: RequestStats): number => attemptsOf(stats) / loads.instances;
  const ratio = perInstance(candidate) / perInstance(baseline);
  return Number.isFinite(ratio) && ratio > 0 ? { ratio } : null;
}

/** Whether each instance of the candidate was sent more than chance explains. */
export function hasMoreTraffic(candidate: RequestStats, baseline: RequestStats): boolean {
  const traffic = trafficOf(candidate, baseline);
  return traffic !== null && Math.log(traffic.ratio) > EQUAL_TRAFFIC_LOG + chanceOf(candidate, baseline);
}

function attemptsOf({ counts }: Pick<RequestStats, 'counts'>): number {
  return attemptFailures(counts).of + counts.abandoned + counts.cancelled;
}

/** Standard deviation that chance gives the logarithm of the ratio of equal traffic. */
function chanceOf(candidate: RequestStats, baseline: RequestStats): number {
  return Math.sqrt(1 / Math.max(1, attemptsOf(candidate)) + 1 / Math.max(1, attemptsOf(baseline)));
}

interface Pair {
  bucket: number;
  candidate: Histogram | undefined;
  baseline: Histogram | undefined;
}

function pairsOf(metric: Metric, candidate: RequestStats, baseline: RequestStats): Pair[] {
  const ours = candidate.loads.histograms[metric as keyof typeof candidate.loads.histograms];
  const theirs = baseline.loads.histograms[metric as keyof typeof baseline.loads.histograms];
  const buckets = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].sort((a, b) => Number(a) - Number(b));
  return buckets.map((bucket) => ({ bucket: Number(bucket), candidate: ours[bucket], baseline: theirs[bucket] }));
}

interface PairInCommon extends Pair {
  candidate: Histogram;
  baseline: Histogram;
}

function isInCommon(pair: Pair): pair is PairInCommon {
  const [ours, theirs] = [pair.candidate?.n ?? 0, pair.baseline?.n ?? 0];
  return Math.min(ours, theirs) >= MIN_IN_BUCKET && ours <= MAX_WEIGHT * theirs;
}

/** Returns the values of both sides at each load that both had often enough. */
export function loadsInCommon(
  metric: Distribution,
  candidate: RequestStats,
  baseline: RequestStats,
): Pick<PairInCommon, 'candidate' | 'baseline'>[] {
  return pairsOf(metric, candidate, baseline).filter(isInCommon);
}

function shown({ bucket, candidate, baseline }: Pair): LoadBucket {
  return { load: loadOf(bucket), candidate: candidate?.n ?? 0, baseline: baseline?.n ?? 0 };
}

interface Sides {
  candidate: RequestStats;
  baseline: RequestStats;
  /** Of all values of each side (`Estimate`). */
  dependence: readonly [candidate: number, baseline: number];
  traffic: Traffic | null;
  pairs: readonly Pair[];
}

/**
 * Estimates the baseline at the loads that the candidate had. If most of the candidate's requests were alone on their
 * instance, only requests that were alone are compared: others found work that earlier requests had left, and more of
 * it with more traffic. Otherwise each bucket that both sides have counts as often as in the candidate.
 *
 * Within a bucket one more thing differs. With much traffic, a request that was alone to its end is rather a short one,
 * because another request joins a long one. If the value is that time, t milliseconds of the baseline therefore count
 * exp((h − h′)·t) times. Here h and h′ are how often a request that is alone is joined per millisecond, in the baseline
 * and in the candidate. This undoes the effect exactly if arrivals are independent of each other.
 */
function atEqualLoad(
  what: ComparisonCriterion,
  { candidate, baseline, dependence, traffic, pairs }: Sides,
  minShare = MIN_SHARE,
): Comparison | null {
  const { metric, stat, minSamples } = what;
  const definition = metricOf(metric) as DistributionMetric;
  const tilt = definition.isThatTime ? joinsPerMs(baseline) - joinsPerMs(candidate) : 0;
  const both = pairs.filter(isInCommon);
  const needed = minShare * metricHistogram(metric, candidate).n;
  const alone = both.filter(({ bucket }) => bucket === 0);
  const compared = countOf(alone) >= MIN_SHARE * metricHistogram(metric, candidate).n ? alone : both;
  if (countOf(compared) < needed) return null;
  const ours = estimate(
    stat,
    compared.map((pair) => ({ histogram: pair.candidate, weight: 1, tilt: 0 })),
  );
  const theirs = estimate(
    stat,
    compared.map((pair) => ({
      histogram: pair.baseline,
      weight: pair.candidate.n / tilted(pair.baseline, tilt),
      tilt,
    })),
  );
  if (!ours || !theirs || Math.min(ours.samples, theirs.samples) < minSamples) return null;
  if (Math.exp(Math.abs(tilt) * theirs.value) > MAX_CORRECTION) return null;
  // Requests in one queue are slow together at equal load, too. Those that were alone had none.
  const [oursBy, theirsBy] = compared === alone ? [1, 1] : dependence;
  const found = contrast(
    what,
    { ...ours, variance: ours.variance * oursBy },
    { ...theirs, variance: theirs.variance * theirsBy },
  );
  return found && { basis: 'equal_load', traffic, loads: compared.map(shown), ...found };
}

/**
 * Compares the candidate's requests at its lowest loads with those of the baseline at its highest loads and, so that no
 * odd one decides, with those at each lower load. More load never lowers a latency, so a candidate that is beyond the
 * limit even so is worse at any load. Returns null if it is not, or if its lowest loads are above the baseline's highest.
 */
function atAnyLoad(what: ComparisonCriterion, { candidate, baseline, traffic, pairs }: Sides): Comparison | null {
  const { metric, stat, minSamples } = what;
  const needed = Math.max(MIN_IN_BUCKET, minSamples);
  const ours = firstWith(needed, metric, candidate, pairs, 'candidate');
  const theirs = firstWith(needed, metric, baseline, pairs.toReversed(), 'baseline');
  if (!ours || !theirs || ours.at(-1)!.bucket > theirs.at(-1)!.bucket) return null;
  const lower = pairs.filter((pair) => pair.bucket < theirs.at(-1)!.bucket && (pair.baseline?.n ?? 0) >= needed);
  const best = estimate(stat, partsOf(ours, 'candidate'));
  const found = [theirs, ...lower.map((pair) => [pair])]
    .map((some) => contrast(what, best, estimate(stat, partsOf(some, 'baseline'))))
    .toSorted((a, b) => (a?.boundPercent ?? -Infinity) - (b?.boundPercent ?? -Infinity))[0];
  if (!found || classifyRegression(found, what.limitPercent) !== 'beyond') return null;
  return { basis: 'any_load', traffic, loads: pairs.map(shown), ...found };
}

/** Returns the first buckets that have enough samples together; null if the load of too many values is unknown. */
function firstWith(
  needed: number,
  metric: Metric,
  stats: RequestStats,
  pairs: readonly Pair[],
  side: 'candidate' | 'baseline',
): Pair[] | null {
  const all = pairs.reduce((sum, pair) => sum + (pair[side]?.n ?? 0), 0);
  if (all < MIN_KNOWN_LOAD * metricHistogram(metric, stats).n) return null;
  let count = 0;
  const end = pairs.findIndex((pair) => (count += pair[side]?.n ?? 0) >= needed);
  return end < 0 ? null : pairs.slice(0, end + 1).filter((pair) => pair[side]);
}

function partsOf(pairs: readonly Pair[], side: 'candidate' | 'baseline'): WeightedHistogram[] {
  return pairs.flatMap((pair) => (pair[side] ? [{ histogram: pair[side], weight: 1, tilt: 0 }] : []));
}

function countOf(pairs: readonly { candidate: Histogram }[]): number {
  return pairs.reduce((sum, { candidate }) => sum + candidate.n, 0);
}

/** Arrivals at an instance with one request on it, per millisecond. */
function joinsPerMs({ loads }: RequestStats): number {
  return loads.alone_ms > 0 ? loads.joined / loads.alone_ms : 0;
}
