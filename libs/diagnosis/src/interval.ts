import { isBeyond, metricOf, type Stat } from '@slipway/contracts';
import {
  BUCKET_LOG_VARIANCE,
  bucketOf,
  estimate,
  mergeHistograms,
  normalQuantile,
  quantile,
  QUANTILES,
  wilsonInterval,
  type Histogram,
  type WeightedHistogram,
} from '@slipway/dataplane';
import type { Goal, Interval, MeasuredValue } from './types.js';

/** Below this many values beyond a quantile, the quantile says nothing. */
const LEAST_BEYOND = 5;

/** Number of samples that a statistic needs. */
export function leastSamples(stat: Stat, minSamples: number): number {
  const q = QUANTILES[stat];
  return q === undefined ? minSamples : Math.max(minSamples, Math.ceil(LEAST_BEYOND / (1 - q)));
}

/** How much more uncertain a statistic is than that of independent values, because values of one block share causes. */
export interface DesignEffect {
  /** Of the variance; at least 1. */
  factor: number;
  /** Degrees of freedom with which it is known. */
  degrees: number;
}

/** Values that are equal except for chance and the block. */
export interface BlockedValues {
  all: Histogram;
  blocks: readonly Histogram[];
}

/**
 * Compares the spread of the blocks with that of independent values, for all groups together: a single group may have
 * values in few blocks, which show nothing.
 */
export function designEffect(stat: Stat, groups: readonly BlockedValues[]): DesignEffect {
  let [together, apart, degrees] = [0, 0, 0];
  for (const { all, blocks } of groups) {
    const filled = blocks.filter(({ n }) => n > 0);
    if (filled.length < 2) continue;
    const { offs, variance } = deviations(stat, all, filled);
    together += (filled.length / (filled.length - 1)) * offs.reduce((sum, off) => sum + off ** 2, 0);
    apart += variance * all.n;
    degrees += filled.length - 1;
  }
  return { factor: apart > 0 ? Math.max(1, together / apart) : 1, degrees };
}

/** Returns each block's part of a sum of deviations from the statistic, and the variance of one value's part. */
function deviations(stat: Stat, all: Histogram, blocks: readonly Histogram[]) {
  if (stat === 'avg') {
    const mean = all.sum / all.n;
    return { offs: blocks.map(({ sum, n }) => sum - mean * n), variance: Math.max(0, all.sq / all.n - mean ** 2) };
  }
  const q = QUANTILES[stat] ?? 0.5;
  const at = bucketOf(quantile(all, q) as number);
  // The share of the quantile's own bucket that is beyond it, so that the deviations add up to zero.
  const beyond = (histogram: Histogram) =>
    Object.entries(histogram.b).reduce((sum, [bucket, n]) => sum + (Number(bucket) > at ? n : 0), 0);
  const own = all.b[at] ?? 0;
  const part = own === 0 ? 0 : ((1 - q) * all.n - beyond(all)) / own;
  const offs = blocks.map((block) => beyond(block) + part * (block.b[at] ?? 0) - (1 - q) * block.n);
  return { offs, variance: q * (1 - q) };
}

/**
 * Statistic of all values with its interval. With few degrees of freedom, Student's distribution makes it wider.
 * @param confidence one-sided
 */
export function measured(
  stat: Stat,
  values: BlockedValues,
  confidence: number,
  effect = designEffect(stat, [values]),
): MeasuredValue | null {
  const { all: histogram } = values;
  if (histogram.n === 0) return null;
  const found = estimate(stat, [{ histogram, weight: 1, tilt: 0 }]);
  if (!found) return unmeasurable(stat, histogram);
  // Blocks that share causes do not make buckets wider.
  const width = stat === 'avg' ? 0 : BUCKET_LOG_VARIANCE;
  const variance = (found.variance - width) * effect.factor + width;
  const spread = Math.exp(tQuantile(confidence, effect.degrees) * Math.sqrt(variance));
  return { n: histogram.n, value: found.value, low: found.value / spread, high: found.value * spread };
}

/** Merges the blocks of a statistic. */
export function blocked(blocks: readonly Histogram[]): BlockedValues {
  return { blocks, all: mergeHistograms(blocks) };
}

/** A mean of zero, or of one value, has no relative error. */
function unmeasurable(stat: Stat, histogram: Histogram): MeasuredValue {
  const value = stat === 'avg' ? histogram.sum / histogram.n : (quantile(histogram, QUANTILES[stat] ?? 0.5) as number);
  return { n: histogram.n, value, low: 0, high: Infinity };
}

/** Statistic of a mixture, and the standard deviation of its logarithm if its values were independent. */
export function mixture(stat: Stat, parts: readonly WeightedHistogram[]): { value: number; deviation: number } | null {
  const found = estimate(stat, parts);
  return found && { value: found.value, deviation: Math.sqrt(found.variance) };
}

/** Share of failures with Wilson's interval, for as many independent requests as the blocks show. */
export function measuredShare(
  blocks: readonly { failed: number; of: number }[],
  confidence: number,
): MeasuredValue | null {
  const filled = blocks.filter(({ of }) => of > 0);
  const n = filled.reduce((sum, { of }) => sum + of, 0);
  if (n === 0) return null;
  const value = filled.reduce((sum, { failed }) => sum + failed, 0) / n;
  const apart = value * (1 - value) * n;
  const offs = filled.reduce((sum, { failed, of }) => sum + (failed - value * of) ** 2, 0);
  const together = filled.length < 2 ? 0 : (filled.length / (filled.length - 1)) * offs;
  const independent = together > apart ? (n * apart) / together : n;
  return { n, value, ...wilsonInterval(value, independent, tQuantile(confidence, filled.length - 1)) };
}

/**
 * Quantile of Student's distribution (Cornish and Fisher's expansion; off by less than 4 % from 3 degrees of freedom
 * on). One block alone shows no spread between blocks, so the normal quantile is returned.
 */
export function tQuantile(p: number, degrees: number): number {
  const z = normalQuantile(p);
  if (degrees < 1) return z;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / degrees + second / degrees ** 2 + third / degrees ** 3;
}

/** Whether the whole interval is beyond the threshold, inside it, or neither. */
export function sideOf(goal: Goal, { low, high }: Interval): 'missed' | 'met' | 'unsure' {
  const isHigherBetter = metricOf(goal.metric).better === 'higher';
  const [kindest, worst] = isHigherBetter ? [high, low] : [low, high];
  if (isOutside(goal, kindest)) return 'missed';
  return isOutside(goal, worst) ? 'unsure' : 'met';
}

export function isOutside({ metric, threshold }: Goal, value: number): boolean {
  return isBeyond(metric, value, threshold);
}
