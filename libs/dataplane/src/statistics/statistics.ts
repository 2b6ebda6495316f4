import { metricOf, type Distribution, type Metric, type RateMetric, type Stat } from '@slipway/contracts';
import { mean, quantile, variance, type Histogram } from './histogram.js';
import {
  attemptFailures,
  requestFailures,
  type FailureCount,
  type Histograms,
  type RequestStats,
} from './stats.query.js';

/*
 * Reads metrics from the records of a revision, with their uncertainty. All bounds are one-sided. `simple-statistics`
 * and similar libraries work on samples, which are not stored: there are only sums and histograms.
 */

export interface MetricReading {
  /** In the metric's unit; null without samples. */
  value: number | null;
  /** Number of independent samples. */
  samples: number;
}

/** The 95 % quantile of the standard normal distribution. */
export const Z_95 = 1.645;
/** A value read from a bucket, which spans an eighth of an octave, is off by at most this factor. */
const BUCKET_ERROR = 2 ** (1 / 16);
export const QUANTILES: Partial<Record<Stat, number>> = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 };

export function readMetric(metric: Metric, stat: Stat, stats: RequestStats): MetricReading {
  const definition = metricOf(metric);
  if (definition.kind === 'rate') {
    const { failed, of } = failuresOf(definition, stats);
    return { value: of === 0 ? null : failed / of, samples: of };
  }
  const histogram = metricHistogram(metric, stats);
  const value = stat === 'avg' ? mean(histogram) : quantile(histogram, quantileOf(stat));
  return { value, samples: histogram.n };
}

/**
 * Returns the end of the value's confidence interval that is kinder to the revision.
 * If even this value breaks a limit, the limit is broken.
 * @param confidence 0.5..1
 */
export function kindestValue(metric: Metric, stat: Stat, stats: RequestStats, confidence: number): number | null {
  const definition = metricOf(metric);
  const z = normalQuantile(confidence);
  if (definition.kind === 'rate') {
    const { failed, of } = failuresOf(definition, stats);
    return of === 0 ? null : wilsonInterval(failed / of, of, z).low;
  }
  const histogram = metricHistogram(metric, stats);
  const { n } = histogram;
  if (n === 0) return null;
  const kind = definition.better === 'higher' ? 1 : -1;
  if (stat === 'avg') return (mean(histogram) as number) + kind * z * Math.sqrt((variance(histogram) ?? 0) / n);
  const q = quantileOf(stat);
  const rank = Math.min(1, Math.max(0, q + kind * z * Math.sqrt((q * (1 - q)) / n)));
  return (quantile(histogram, rank) as number) * BUCKET_ERROR ** kind;
}

/**
 * Returns the quantile of the standard normal distribution for 0.5 ≤ p < 1 (Abramowitz and Stegun 26.2.23; off by less
 * than 0.00045).
 */
export function normalQuantile(p: number): number {
  if (p <= 0.5) return 0;
  const t = Math.sqrt(-2 * Math.log(1 - p));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t ** 2) / (1 + 1.432788 * t + 0.189269 * t ** 2 + 0.001308 * t ** 3);
}

/**
 * Wilson's interval of a share: reliable for few events too.
 * @param n number of independent cases
 * @param z how many standard deviations to either side
 */
export function wilsonInterval(share: number, n: number, z: number): { low: number; high: number } {
  const centre = share + z ** 2 / (2 * n);
  const spread = z * Math.sqrt((share * (1 - share)) / n + z ** 2 / (4 * n ** 2));
  const scale = 1 + z ** 2 / n;
  return { low: Math.max(0, (centre - spread) / scale), high: Math.min(1, (centre + spread) / scale) };
}

/** Returns the requests or attempts that a rate counts, and all that it is a share of. */
export function failuresOf(
  { counts: counted, of }: RateMetric,
  { counts }: Pick<RequestStats, 'counts'>,
): FailureCount {
  if (of === 'attempts') return attemptFailures(counts);
  const requests = requestFailures(counts);
  if (counted === 'failed') return requests;
  // An abandoned request is no failure of its own, so it is in no other rate.
  if (counted === 'abandoned') return { failed: counts.abandoned, of: requests.of + counts.abandoned };
  const failed = counted === 'overloaded' ? counts.overloaded - counts.overloaded_retried : counts.client_error;
  return { failed, of: requests.of };
}

export function metricHistogram(metric: Metric, histograms: Histograms): Histogram {
  return histograms[metric as Distribution];
}

export function quantileOf(stat: Stat): number {
  const q = QUANTILES[stat];
  if (q === undefined) throw new RangeError(`${stat} is not a quantile`);
  return q;
}
