import { attemptsOf, mean, quantile, variance, type RequestStats } from '@slipway/dataplane';
import type { Slo } from '@slipway/ports';

export interface Measured {
  /** Milliseconds, tokens per second, or a share of 0..1; null without samples. */
  value: number | null;
  /** The side of `value` that is kinder to the deployment, at the asked confidence. */
  kindest: number | null;
  n: number;
}

export type ThinReason = 'samples' | 'duration' | 'confidence';

export interface SloResult extends Measured {
  slo: Slo;
  verdict: 'met' | 'missed' | 'thin';
  /** Why the evidence is thin. */
  reason?: ThinReason;
}

const QUANTILES: Record<string, number> = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 };
/** A value read from a bucket is off by at most this factor: half of an eighth of an octave. */
const BUCKET_ERROR = 2 ** (1 / 16);

/** What the records say of an SLO's metric, and what they would still say if chance had been unkind. */
export function measure({ metric, stat }: Slo, stats: RequestStats, confidence: number): Measured {
  const z = normalQuantile(confidence);
  if (metric === 'error_rate') return errorRate(stats, z);
  const histogram = stats[metric];
  // Gaps within one stream depend on each other, so a stream counts once, however many gaps it has.
  const n = metric === 'itl_ms' ? Math.min(stats.streamed, histogram.n) : histogram.n;
  if (n === 0) return { value: null, kindest: null, n };
  const kindSign = isFloor(metric) ? 1 : -1;
  if (stat === 'avg') {
    const value = mean(histogram) as number;
    return { value: round(value), kindest: round(value + kindSign * z * Math.sqrt((variance(histogram) ?? 0) / n)), n };
  }
  const q = QUANTILES[stat] as number;
  const rank = Math.min(1, Math.max(0, q + kindSign * z * Math.sqrt((q * (1 - q)) / n)));
  const kindest = (quantile(histogram, rank) as number) * BUCKET_ERROR ** kindSign;
  return { value: round(quantile(histogram, q) as number), kindest: round(kindest), n };
}

/** Whether the metric must not fall below its threshold; the others must not rise above. */
export function isFloor(metric: Slo['metric']): boolean {
  return metric === 'output_tokens_per_s';
}

/** Wilson's lower bound: sound for few failures too. */
function errorRate({ counts }: RequestStats, z: number): Measured {
  const n = attemptsOf(counts);
  if (n === 0) return { value: null, kindest: null, n };
  const p = (counts.server_error + counts.connect_error) / n;
  const centre = p + z ** 2 / (2 * n);
  const spread = z * Math.sqrt((p * (1 - p)) / n + z ** 2 / (4 * n ** 2));
  return { value: round(p, 6), kindest: round(Math.max(0, (centre - spread) / (1 + z ** 2 / n)), 6), n };
}

/** The quantile of the standard normal distribution for 0.5 ≤ p < 1 (Abramowitz and Stegun 26.2.23; off by less than 0.00045). */
export function normalQuantile(p: number): number {
  if (p <= 0.5) return 0;
  const t = Math.sqrt(-2 * Math.log(1 - p));
  return t - (2.515517 + 0.802853 * t + 0.010328 * t ** 2) / (1 + 1.432788 * t + 0.189269 * t ** 2 + 0.001308 * t ** 3);
}

function round(value: number, digits = 3): number {
  return Number(value.toFixed(digits));
}
