import { metricOf, type Stat } from '@slipway/contracts';
import {
  compare,
  readMetric,
  normalQuantile,
  classifyRegression,
  kindestValue,
  type ComparisonBasis,
  type Comparison,
  type LoadBucket,
  type MetricReading,
  type MissingComparison,
  type RequestStats,
} from '@slipway/dataplane';
import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';
import { doubtOf, isCountedByCaller, MIN_CALLERS, rateTally, shareOf, type Doubt } from './callers.js';

export type GateVerdict = 'pass' | 'breached' | 'inconclusive' | 'unavailable' | 'not_comparable';

export interface MetricResult {
  metric: AnalysisMetricDto['name'];
  stat: string;
  check: 'threshold' | 'regression';
  verdict: GateVerdict;
  dry_run: boolean;
  candidate: MetricReading;
  /** Null for a threshold check. */
  baseline: MetricReading | null;
  /** For a threshold check: the side of the limit that passes. Absent in results of earlier versions. */
  operator?: 'lte' | 'gte';
  /** The limit of the check: its threshold, or max_regression_percent. */
  limit: number;
  /**
   * The regression in percent (positive means worse); null without both values. The next two fields are its one-sided
   * bounds.
   */
  regression_percent: number | null;
  /** Lower bound, with the confidence in `confidence`. */
  regression_bound_percent: number | null;
  /** Upper bound, with 95 % confidence. */
  regression_upper_percent: number | null;
  /** Null for a threshold check. */
  confidence: number | null;
  /** The compared values, and why the comparison is fair; null for a threshold check or without both values. */
  compared: ComparisonEvidence | null;
  /** Why a regression beyond the limit is no breach; absent otherwise. */
  reason?: Doubt;
}

export interface ComparisonEvidence {
  /** Null if no fair comparison is possible. */
  basis: ComparisonBasis | null;
  /** Requests per instance of the candidate, divided by requests per instance of the baseline; null if unknown. */
  traffic_ratio: number | null;
  candidate: MetricReading | null;
  baseline: MetricReading | null;
  /** Samples by requests in flight on the instance, if the comparison considered the load. */
  loads: LoadBucket[];
}

/** How many chances an identical candidate has to look worse. */
export interface Chances {
  /** Checks planned over the whole rollout. */
  looks: number;
  /** Metrics and guards that count and are compared. */
  metrics: number;
}

/**
 * The chance that a rollout of an identical candidate stops: at most this for all its comparisons, and at most this for
 * the shares that are tested after every second.
 */
export const FALSE_ALARMS = 0.01;

/**
 * Returns the confidence of each single comparison. The chance of a false alarm is divided equally between them
 * (Bonferroni), so it holds even if they depend on each other.
 */
export function confidenceOf({ looks, metrics }: Chances): number {
  return 1 - FALSE_ALARMS / Math.max(1, looks * metrics);
}

/** Few of the queues of a soak are over early, so latencies need a larger difference then. */
const EARLY_FACTOR = 1.2;

/**
 * Returns the verdict on one metric. `baseline` is undefined if the stable revision has no window with enough samples.
 * With `isEarly`, a threshold is broken only if that is certain: a value that is read often crosses it by chance.
 */
export function judge(
  metric: AnalysisMetricDto,
  candidate: RequestStats,
  baseline: RequestStats | undefined,
  chances: Chances = { looks: 1, metrics: 1 },
  { isEarly = false }: { isEarly?: boolean } = {},
): MetricResult {
  const stat = statOf(metric);
  const value = measured(metric, candidate);
  const base = baseline && measured(metric, baseline);
  const limit = (metric.check === 'threshold' ? metric.threshold : metric.max_regression_percent) as number;
  const confidence = confidenceOf(chances);
  const question = {
    metric: metric.name,
    stat,
    limitPercent: limit,
    z: normalQuantile(confidence) * (isEarly && metricOf(metric.name).kind === 'distribution' ? EARLY_FACTOR : 1),
    minSamples: metric.min_samples,
  };
  const found = baseline && metric.check === 'regression' ? compare(question, candidate, baseline) : null;
  const fair = found && isFair(found) ? found : null;
  const verdict = verdictOf(metric, isEarly ? kindest(metric, candidate, value, confidence) : value, base, found);
  const doubt = baseline && verdict === 'breached' ? doubtAbout(metric, candidate, baseline, isEarly) : null;
  return {
    metric: metric.name,
    stat,
    check: metric.check,
    dry_run: metric.dry_run,
    ...(metric.check === 'threshold' && { operator: operatorOf(metric) }),
    limit,
    verdict: doubt ? 'inconclusive' : verdict,
    ...(doubt && { reason: doubt }),
    candidate: value,
    baseline: metric.check === 'threshold' ? null : (base ?? { value: null, samples: 0 }),
    regression_percent: fair && round(fair.percent),
    regression_bound_percent: fair && round(fair.boundPercent),
    regression_upper_percent: fair && round(fair.upperPercent),
    confidence: metric.check === 'threshold' ? null : round(confidence),
    compared: found && comparedOf(metric.name, found, fair),
  };
}

/**
 * A rate must be worse for enough callers, as for a guard. Abandoned requests count as long ones, so if they are enough
 * to move a latency, enough callers must have left.
 */
function doubtAbout(
  metric: AnalysisMetricDto,
  candidate: RequestStats,
  baseline: RequestStats,
  isEarly: boolean,
): Doubt | null {
  const { name, check, max_regression_percent } = metric;
  if (check !== 'regression') return null;
  if (isCountedByCaller(name)) {
    // A client without sessions is one caller, and then requests are the only evidence.
    if (callersOf(candidate, baseline) < MIN_CALLERS) return null;
    const [ours, theirs] = [rateTally(name, candidate), rateTally(name, baseline)];
    return doubtOf(ours, theirs, { limit: (shareOf(theirs) * (max_regression_percent as number)) / 100, isEarly });
  }
  if (metricOf(name).kind === 'rate') return null;
  const [ours, theirs] = [rateTally('abandoned_rate', candidate), rateTally('abandoned_rate', baseline)];
  return shareOf(ours) > influentialShare(statOf(metric)) ? doubtOf(ours, theirs, { limit: 0, isEarly }) : null;
}

function callersOf(...sides: RequestStats[]): number {
  return new Set(sides.flatMap(({ callers }) => Object.keys(callers ?? {}))).size;
}

/** Half of the values above a quantile. */
function influentialShare(stat: Stat): number {
  return stat === 'avg' ? 0.01 : (1 - Number(stat.slice(1)) / 100) / 2;
}

function isFair(found: Comparison | MissingComparison): found is Comparison {
  return found.basis !== null;
}

function comparedOf(
  name: MetricResult['metric'],
  { basis, traffic, loads }: Comparison | MissingComparison,
  fair: Comparison | null,
): ComparisonEvidence {
  const rounded = ({ value, samples }: MetricReading): MetricReading => ({ value: shownValue(name, value), samples });
  return {
    basis,
    traffic_ratio: traffic && round(traffic.ratio),
    candidate: fair && rounded(fair.candidate),
    baseline: fair && rounded(fair.baseline),
    loads: loads.map(({ load, ...samples }) => ({ load: round(load), ...samples })),
  };
}

function statOf({ name, stat }: Pick<AnalysisMetricDto, 'name' | 'stat'>): Stat {
  return stat ?? metricOf(name).defaultStat;
}

/** The reading of a threshold check, with the value that is best for the revision and still plausible. */
function kindest(
  metric: AnalysisMetricDto,
  stats: RequestStats,
  value: MetricReading,
  confidence: number,
): MetricReading {
  if (metric.check !== 'threshold') return value;
  return { ...value, value: kindestValue(metric.name, statOf(metric), stats, confidence) };
}

/** If a candidate is certainly worse, but perhaps within the limit, a person or more traffic decides. */
const STANDINGS = { beyond: 'breached', unsure: 'inconclusive', within: 'pass' } as const;

function verdictOf(
  metric: AnalysisMetricDto,
  candidate: MetricReading,
  baseline: MetricReading | undefined,
  found: Comparison | MissingComparison | null,
): GateVerdict {
  if (candidate.value === null) return 'unavailable';
  if (candidate.samples < metric.min_samples) return 'inconclusive';
  if (metric.check === 'threshold') {
    const isBroken = isBeyondThreshold(operatorOf(metric), candidate.value, metric.threshold as number);
    return isBroken ? 'breached' : 'pass';
  }
  if (!baseline || baseline.value === null || !found) return 'unavailable';
  if (baseline.samples < metric.min_samples) return 'inconclusive';
  if (!isFair(found)) return 'not_comparable';
  return STANDINGS[classifyRegression(found, metric.max_regression_percent as number)];
}

/** Whether a result was beyond its limit, even if `failure_limit` forgave it. */
export function isBreach(result: MetricResult): boolean {
  if (result.reason) return false;
  if (result.check === 'regression') return (result.regression_bound_percent ?? 0) > result.limit;
  const { value } = result.candidate;
  return value !== null && isBeyondThreshold(result.operator ?? usualOperator(result.metric), value, result.limit);
}

function operatorOf({ name, operator }: AnalysisMetricDto): 'lte' | 'gte' {
  return operator ?? usualOperator(name);
}

function usualOperator(name: AnalysisMetricDto['name']): 'lte' | 'gte' {
  return metricOf(name).better === 'higher' ? 'gte' : 'lte';
}

function isBeyondThreshold(operator: 'lte' | 'gte', value: number, limit: number): boolean {
  return operator === 'lte' ? value > limit : value < limit;
}

/** A share keeps all its digits, because three digits would make small shares equal. */
export function measured(metric: Pick<AnalysisMetricDto, 'name' | 'stat'>, stats: RequestStats): MetricReading {
  const { value, samples } = readMetric(metric.name, statOf(metric), stats);
  return { value: shownValue(metric.name, value), samples };
}

function shownValue(name: MetricResult['metric'], value: number | null): number | null {
  return value === null || metricOf(name).unit === 'share' ? value : round(value);
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

const SEVERITY: GateVerdict[] = ['breached', 'unavailable', 'not_comparable', 'inconclusive'];

/** Returns the worst verdict of the metrics that count, because all of them must pass. */
export function overall(metrics: readonly { verdict: GateVerdict; dry_run?: boolean }[]): GateVerdict {
  const counting = metrics.filter((metric) => !metric.dry_run).map((metric) => metric.verdict);
  return SEVERITY.find((verdict) => counting.includes(verdict)) ?? 'pass';
}
