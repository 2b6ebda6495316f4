import { attemptsOf, mean, quantile, variance, type Histogram, type RequestStats } from '@slipway/dataplane';
import type { AnalysisMetricDto } from './rollout.dto.js';

export type Verdict = 'pass' | 'breached' | 'inconclusive' | 'unavailable';

export interface Measured {
  /** Milliseconds, tokens per second, or a share of 0..1; null without samples. */
  value: number | null;
  samples: number;
}

export interface MetricResult {
  metric: AnalysisMetricDto['name'];
  stat: string;
  check: 'threshold' | 'regression';
  verdict: Verdict;
  dry_run: boolean;
  candidate: Measured;
  /** Null for a threshold check. */
  baseline: Measured | null;
  /** What the value was held against: the threshold, or max_regression_percent. */
  limit: number;
  /** The regression in percent (positive = worse), and its one-sided 95 % lower bound; null without both values. */
  regression_percent: number | null;
  regression_bound_percent: number | null;
}

/** The 95 % quantile of the standard normal distribution: bounds are one-sided. */
const Z = 1.645;
/** Variance of the logarithm of a value read from a bucket that spans an eighth of an octave: width² / 12. */
const BUCKET_LOG_VARIANCE = (Math.LN2 / 8) ** 2 / 12;
const QUANTILES: Record<string, number> = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 };

/** Judges one metric. `baseline` is undefined where the stable revision has no window with enough samples. */
export function judge(
  metric: AnalysisMetricDto,
  candidate: RequestStats,
  baseline: RequestStats | undefined,
): MetricResult {
  const stat = statOf(metric);
  const measured = measure(metric.name, stat, candidate);
  const base = baseline && measure(metric.name, stat, baseline);
  const regression =
    baseline && metric.check === 'regression' ? regressionOf(metric.name, stat, candidate, baseline) : null;
  const limit = (metric.check === 'threshold' ? metric.threshold : metric.max_regression_percent) as number;
  return {
    metric: metric.name,
    stat,
    check: metric.check,
    dry_run: metric.dry_run,
    limit,
    verdict: verdictOf(metric, measured, base, regression),
    candidate: measured,
    baseline: metric.check === 'threshold' ? null : (base ?? { value: null, samples: 0 }),
    regression_percent: regression && round(regression.percent),
    regression_bound_percent: regression && round(regression.boundPercent),
  };
}

export function statOf(metric: AnalysisMetricDto): string {
  return metric.stat ?? (metric.name === 'error_rate' ? 'rate' : 'p95');
}

function verdictOf(
  metric: AnalysisMetricDto,
  candidate: Measured,
  baseline: Measured | undefined,
  regression: Regression | null,
): Verdict {
  if (candidate.value === null) return 'unavailable';
  if (candidate.samples < metric.min_samples) return 'inconclusive';
  if (metric.check === 'threshold') {
    const operator = metric.operator ?? (metric.name === 'output_tokens_per_s' ? 'gte' : 'lte');
    const isWithin =
      operator === 'lte'
        ? candidate.value <= (metric.threshold as number)
        : candidate.value >= (metric.threshold as number);
    return isWithin ? 'pass' : 'breached';
  }
  if (!baseline || baseline.value === null || !regression) return 'unavailable';
  if (baseline.samples < metric.min_samples) return 'inconclusive';
  return regression.boundPercent > (metric.max_regression_percent as number) ? 'breached' : 'pass';
}

function measure(name: AnalysisMetricDto['name'], stat: string, stats: RequestStats): Measured {
  if (name === 'error_rate') {
    const samples = attemptsOf(stats.counts);
    return { value: samples === 0 ? null : failuresOf(stats) / samples, samples };
  }
  const histogram = stats[name];
  const value = stat === 'avg' ? mean(histogram) : quantile(histogram, QUANTILES[stat] as number);
  return { value: value === null ? null : round(value), samples: samplesOf(name, stats) };
}

/** Gaps within one stream depend on each other, so a stream counts once, however many gaps it has. */
function samplesOf(name: Exclude<AnalysisMetricDto['name'], 'error_rate'>, stats: RequestStats): number {
  return name === 'itl_ms' ? Math.min(stats.streamed, stats.itl_ms.n) : stats[name].n;
}

function failuresOf({ counts }: RequestStats): number {
  return counts.server_error + counts.connect_error;
}

interface Regression {
  percent: number;
  boundPercent: number;
}

/**
 * How much worse the candidate is, as a ratio on the logarithmic scale, where the errors of both sides add: the bound is
 * `log ratio − Z·√(variance of both)`. So a breach means: with 95 % confidence the regression is larger than allowed.
 */
function regressionOf(
  name: AnalysisMetricDto['name'],
  stat: string,
  candidate: RequestStats,
  baseline: RequestStats,
): Regression | null {
  const ours = logEstimate(name, stat, candidate);
  const theirs = logEstimate(name, stat, baseline);
  if (!ours || !theirs) return null;
  const sign = name === 'output_tokens_per_s' ? -1 : 1;
  const difference = sign * (ours.log - theirs.log);
  const bound = difference - Z * Math.sqrt(ours.variance + theirs.variance);
  return { percent: 100 * Math.expm1(difference), boundPercent: 100 * Math.expm1(bound) };
}

interface LogEstimate {
  log: number;
  variance: number;
}

function logEstimate(name: AnalysisMetricDto['name'], stat: string, stats: RequestStats): LogEstimate | null {
  if (name === 'error_rate') return rateEstimate(failuresOf(stats), attemptsOf(stats.counts));
  const histogram = stats[name];
  const samples = samplesOf(name, stats);
  return stat === 'avg'
    ? meanEstimate(histogram, samples)
    : quantileEstimate(histogram, samples, QUANTILES[stat] as number);
}

/** Half a failure is added to each side (Katz, with the usual correction), so that "none seen" is not "never". */
function rateEstimate(failures: number, attempts: number): LogEstimate | null {
  if (attempts === 0) return null;
  return { log: Math.log((failures + 0.5) / (attempts + 0.5)), variance: 1 / (failures + 0.5) - 1 / (attempts + 0.5) };
}

function meanEstimate(histogram: Histogram, samples: number): LogEstimate | null {
  const average = mean(histogram);
  const spread = variance(histogram);
  if (!average || average <= 0 || spread === null || samples === 0) return null;
  return { log: Math.log(average), variance: spread / (samples * average * average) };
}

/**
 * The quantile's rank is off by ±Z·√(q(1−q)/n); the values at those two ranks show how far the quantile may be off. What
 * the buckets hide is added as noise.
 */
function quantileEstimate(histogram: Histogram, samples: number, q: number): LogEstimate | null {
  const value = quantile(histogram, q);
  if (value === null || samples === 0) return null;
  const off = Z * Math.sqrt((q * (1 - q)) / samples);
  const low = quantile(histogram, Math.max(0, q - off)) as number;
  const high = quantile(histogram, Math.min(1, q + off)) as number;
  const deviation = (Math.log(high) - Math.log(low)) / (2 * Z);
  return { log: Math.log(value), variance: deviation ** 2 + BUCKET_LOG_VARIANCE };
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
