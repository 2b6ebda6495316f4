import { isMetric, METRIC_NAMES, metricOf, STATS, type Stat } from '@slipway/contracts';
import type { Interval } from '@slipway/diagnosis';
import type { PlanContent } from '@slipway/ports/plans';
import type { MetricPrediction } from '../rounds/situation.js';

/** A prediction that a plan states. */
export interface StatedPrediction {
  metric: MetricPrediction['metric'];
  stat: Stat;
  now: number | null;
  predicted: Interval;
  /** Interval of the value before the plan; null if the plan does not state it. */
  before: { low: number; high: number } | null;
}

/** A policy has at most 16 SLOs; the error rate and the availability are two more. */
const MOST = 18;

/**
 * Returns the predictions of a plan that can be measured. People write there what they like: an entry that cannot be
 * read is no prediction, and only the first of a metric and statistic counts.
 */
export function predictionsIn(impact: PlanContent['predicted_impact']): StatedPrediction[] {
  const { metrics } = impact ?? {};
  if (!Array.isArray(metrics)) return [];
  const found = new Map<string, StatedPrediction>();
  for (const one of metrics) {
    const prediction = predictionIn(one);
    const name = prediction && `${prediction.metric} ${prediction.stat}`;
    if (name && found.size < MOST && !found.has(name)) found.set(name, prediction);
  }
  return [...found.values()];
}

function predictionIn(entry: unknown): StatedPrediction | undefined {
  const { metric, stat, now, predicted, baseline } = objectOf(entry);
  if (typeof metric !== 'string' || !isStat(stat) || !fits(metric, stat)) return undefined;
  const { value, low, high } = objectOf(predicted);
  if (!isNumber(value) || !isNumber(low) || !isNumber(high) || low > value || value > high) return undefined;
  const before = objectOf(baseline);
  return {
    metric: metric as StatedPrediction['metric'],
    stat,
    now: isNumber(now) ? now : null,
    predicted: { value, low, high },
    before: isNumber(before['low'])
      ? { low: before['low'], high: isNumber(before['high']) ? before['high'] : Infinity }
      : null,
  };
}

function fits(metric: string, stat: Stat): boolean {
  if (metric === 'availability_percent') return stat === 'rate';
  if (!isMetric(metric) || !METRIC_NAMES.includes(metric)) return false;
  return (metricOf(metric).kind === 'rate') === (stat === 'rate');
}

function isStat(value: unknown): value is Stat {
  return STATS.includes(value as Stat);
}

/** JSON has no infinity, and no metric is below zero. */
function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
