import type { Stat } from '@slipway/contracts';
import { bucketValue, type Histogram } from './histogram.js';
import { quantileOf, Z_95 } from './statistics.js';

/* Quantiles and means of weighted histograms, and their uncertainty. */

export interface Side {
  /** The compared value, in the metric's unit. */
  value: number;
  /** Effective number of samples: as many independent samples of equal weight would be equally precise. */
  samples: number;
}

export interface Estimate extends Side {
  log: number;
  variance: number;
  /** How many times as much the values vary as independent ones would, by the slices of time; at least 1. */
  dependence: number;
}

/**
 * Variance of the logarithm of a value read from a bucket of an eighth of an octave: width² / 12. It is part of the
 * variance of each quantile.
 */
export const BUCKET_LOG_VARIANCE = (Math.LN2 / 8) ** 2 / 12;

/** Values of one bucket of load: each counts `weight · exp(tilt · value)` times. */
export interface WeightedHistogram {
  histogram: Histogram;
  weight: number;
  tilt: number;
}

export function tilted({ b }: Histogram, tilt: number): number {
  let sum = 0;
  for (const bucket in b) sum += (b[bucket] as number) * Math.exp(tilt * bucketValue(Number(bucket)));
  return sum;
}

/**
 * @param slices the same values by time, if known and equally weighted: requests that waited in one queue are less
 * evidence
 */
export function estimate(
  stat: Stat,
  parts: readonly WeightedHistogram[],
  slices: readonly Histogram[] = [],
): Estimate | null {
  const bins = binsOf(parts);
  const total = bins.reduce((sum, { weight }) => sum + weight, 0);
  const squares = bins.reduce((sum, { square }) => sum + square, 0);
  if (!(total > 0)) return null;
  const samples = total ** 2 / squares;
  return stat === 'avg'
    ? meanEstimate(parts, { total, samples, slices })
    : quantileEstimate(bins, stat, { total, samples, slices });
}

interface SampleSummary {
  total: number;
  samples: number;
  slices: readonly Histogram[];
}

interface Bin {
  bucket: number;
  weight: number;
  /** Sum of the squares of the weights of its values. */
  square: number;
}

/** Returns the bins, lowest first. */
function binsOf(parts: readonly WeightedHistogram[]): Bin[] {
  const bins = new Map<number, Bin>();
  for (const { histogram, weight, tilt } of parts)
    for (const [name, n] of Object.entries(histogram.b)) {
      const bucket = Number(name);
      const each = weight * Math.exp(tilt * bucketValue(bucket));
      const bin = bins.get(bucket) ?? { bucket, weight: 0, square: 0 };
      bin.weight += n * each;
      bin.square += n * each ** 2;
      bins.set(bucket, bin);
    }
  return [...bins.values()].sort((a, b) => a.bucket - b.bucket);
}

/**
 * The quantile's rank is uncertain by ±z times the deviation of a weighted share. The values at those two ranks show
 * how uncertain the quantile is. The width of the buckets is added as noise.
 */
function quantileEstimate(bins: readonly Bin[], stat: Stat, summary: SampleSummary): Estimate {
  const { total, samples, slices } = summary;
  const q = quantileOf(stat);
  const value = quantileOfBins(bins, q * total);
  const at = Math.log2(value) * 8;
  let spread = 0;
  for (const { bucket, square } of bins) spread += square * (bucket < at ? (1 - q) ** 2 : q ** 2);
  const together = varianceOfSum(slices.map((slice) => beyond(slice, at) - (1 - q) * slice.n));
  const dependence = Math.max(1, together / spread);
  const off = (Z_95 * Math.sqrt(spread * dependence)) / total;
  const low = quantileOfBins(bins, Math.max(0, q - off) * total);
  const high = quantileOfBins(bins, Math.min(1, q + off) * total);
  const deviation = (Math.log(high) - Math.log(low)) / (2 * Z_95);
  return { value, samples, log: Math.log(value), variance: deviation ** 2 + BUCKET_LOG_VARIANCE, dependence };
}

/** Slices of time that a queue may outlast. */
const QUEUE_SLICES = 5;

/**
 * Variance of a sum to which each slice of time adds its deviation. Requests of one moment share causes (a queue, above
 * all). A slice then deviates as a whole, which its values counted one by one would not show. A queue may last for
 * several slices, so neighbours count together, the less the farther they are apart (Newey and West).
 */
function varianceOfSum(offs: readonly number[]): number {
  if (offs.length < 2) return 0;
  const apart = products(offs, 0);
  let together = apart;
  for (let lag = 1; lag < QUEUE_SLICES; lag += 1) together += 2 * (1 - lag / QUEUE_SLICES) * products(offs, lag);
  return (offs.length / (offs.length - 1)) * Math.max(apart, together);
}

function products(offs: readonly number[], lag: number): number {
  let sum = 0;
  for (let index = lag; index < offs.length; index += 1) sum += (offs[index] as number) * (offs[index - lag] as number);
  return sum;
}

/** Returns how many values are beyond a point on the scale of buckets; within a bucket, its share. */
function beyond({ b }: Histogram, at: number): number {
  let sum = 0;
  for (const bucket in b) sum += (b[bucket] as number) * Math.min(1, Math.max(0, Number(bucket) + 1 - at));
  return sum;
}

/** Returns the value below which this weight lies. Within a bucket, the logarithms of values count as spread evenly. */
function quantileOfBins(bins: readonly Bin[], rank: number): number {
  let below = 0;
  for (const { bucket, weight } of bins) {
    if (below + weight >= rank) return 2 ** ((bucket + Math.max(0, rank - below) / weight) / 8);
    below += weight;
  }
  return 2 ** (((bins.at(-1) as Bin).bucket + 1) / 8);
}

/** Uses the exact sums; only the effect of a tilt on a mean is read from the buckets. */
function meanEstimate(parts: readonly WeightedHistogram[], { total, samples, slices }: SampleSummary): Estimate | null {
  let sum = 0;
  let square = 0;
  for (const { histogram, weight, tilt } of parts) {
    const { n, b } = histogram;
    if (n === 0) continue;
    const plain = mean(b, 0);
    const shift = tilt === 0 || plain === 0 ? 1 : mean(b, tilt) / plain;
    const own = weight * tilted(histogram, tilt);
    sum += own * (histogram.sum / n) * shift;
    square += own * (histogram.sq / n) * shift ** 2;
  }
  const value = sum / total;
  if (!(value > 0) || samples < 2) return null;
  const apart = Math.max(0, square / total / value ** 2 - 1) / samples;
  const together = varianceOfSum(slices.map((slice) => slice.sum - value * slice.n)) / sum ** 2;
  const dependence = apart > 0 ? Math.max(1, together / apart) : 1;
  return { value, samples, log: Math.log(value), variance: Math.max(apart, together), dependence };
}

function mean(b: Record<string, number>, tilt: number): number {
  let sum = 0;
  let weight = 0;
  for (const bucket in b) {
    const value = bucketValue(Number(bucket));
    const each = (b[bucket] as number) * Math.exp(tilt * value);
    sum += each * value;
    weight += each;
  }
  return weight === 0 ? 0 : sum / weight;
}
