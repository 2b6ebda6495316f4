import { isBeyond, metricOf, type Stat } from '@slipway/contracts';
import { measure, regression, type Measured, type Regression, type RequestStats } from '@slipway/dataplane';
import type { AnalysisMetricDto } from './rollout.dto.js';

export type Verdict = 'pass' | 'breached' | 'inconclusive' | 'unavailable';

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

/** Judges one metric. `baseline` is undefined if the stable revision has no window with enough samples. */
export function judge(
  metric: AnalysisMetricDto,
  candidate: RequestStats,
  baseline: RequestStats | undefined,
): MetricResult {
  const stat = statOf(metric);
  const value = measured(metric, candidate);
  const base = baseline && measured(metric, baseline);
  const found = baseline && metric.check === 'regression' ? regression(metric.name, stat, candidate, baseline) : null;
  const limit = (metric.check === 'threshold' ? metric.threshold : metric.max_regression_percent) as number;
  return {
    metric: metric.name,
    stat,
    check: metric.check,
    dry_run: metric.dry_run,
    limit,
    verdict: verdictOf(metric, value, base, found),
    candidate: value,
    baseline: metric.check === 'threshold' ? null : (base ?? { value: null, samples: 0 }),
    regression_percent: found && round(found.percent),
    regression_bound_percent: found && round(found.boundPercent),
  };
}

function statOf({ name, stat }: Pick<AnalysisMetricDto, 'name' | 'stat'>): Stat {
  return stat ?? metricOf(name).defaultStat;
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
    const operator = metric.operator ?? (metricOf(metric.name).better === 'higher' ? 'gte' : 'lte');
    const limit = metric.threshold as number;
    return (operator === 'lte' ? candidate.value <= limit : candidate.value >= limit) ? 'pass' : 'breached';
  }
  if (!baseline || baseline.value === null || !regression) return 'unavailable';
  if (baseline.samples < metric.min_samples) return 'inconclusive';
  return regression.boundPercent > (metric.max_regression_percent as number) ? 'breached' : 'pass';
}

/** Whether a result that was forgiven was beyond its limit all the same. */
export function isBreach(result: MetricResult): boolean {
  if (result.check === 'regression') return (result.regression_bound_percent ?? 0) > result.limit;
  const { value } = result.candidate;
  return value !== null && isBeyond(result.metric, value, result.limit);
}

/** A share keeps its digits: three would make small ones equal. */
export function measured(metric: Pick<AnalysisMetricDto, 'name' | 'stat'>, stats: RequestStats): Measured {
  const { value, samples } = measure(metric.name, statOf(metric), stats);
  return { value: value === null || metricOf(metric.name).unit === 'share' ? value : round(value), samples };
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
