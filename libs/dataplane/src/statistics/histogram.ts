/**
 * Mergeable histograms with fixed logarithmic buckets: bucket i counts the values of [2^(i/8), 2^((i+1)/8)). A quantile
 * read from one is off by at most 4.5 % of its value, whatever was merged; count, sum and sum of squares are exact.
 * `hdr-histogram-js` merges too, but Postgres cannot add up its encoding; it can add up these buckets. Values are
 * milliseconds or tokens per second; everything below 2^-10 counts in the lowest bucket.
 */
export interface Histogram {
  /** Number of values. */
  n: number;
  sum: number;
  /** Sum of squares. */
  sq: number;
  /** Bucket index → count, empty buckets left out. */
  b: Record<string, number>;
}

const BUCKETS_PER_OCTAVE = 8;
const LOWEST = -10 * BUCKETS_PER_OCTAVE;
const HIGHEST = 34 * BUCKETS_PER_OCTAVE;

export function emptyHistogram(): Histogram {
  return { n: 0, sum: 0, sq: 0, b: {} };
}

export function bucketOf(value: number): number {
  if (!(value > 0)) return LOWEST;
  return Math.min(HIGHEST, Math.max(LOWEST, Math.floor(Math.log2(value) * BUCKETS_PER_OCTAVE)));
}

/** Returns the value that a bucket represents: the geometric middle of its bounds. */
export function bucketValue(bucket: number): number {
  return 2 ** ((bucket + 0.5) / BUCKETS_PER_OCTAVE);
}

/** Returns the upper bound of a bucket (exclusive). */
export function bucketUpperBound(bucket: number): number {
  return 2 ** ((bucket + 1) / BUCKETS_PER_OCTAVE);
}

export function mergeHistograms(histograms: Iterable<Histogram>): Histogram {
  const merged = emptyHistogram();
  for (const { n, sum, sq, b } of histograms) {
    merged.n += n;
    merged.sum += sum;
    merged.sq += sq;
    for (const bucket in b) merged.b[bucket] = (merged.b[bucket] ?? 0) + (b[bucket] as number);
  }
  return merged;
}

/** Returns the values of `whole` without those of `part`, which must be some of them. */
export function subtractHistograms(whole: Histogram, part: Histogram): Histogram {
  const b = { ...whole.b };
  for (const bucket in part.b) {
    const left = (b[bucket] ?? 0) - (part.b[bucket] as number);
    if (left > 0) b[bucket] = left;
    else delete b[bucket];
  }
  const n = Math.max(0, whole.n - part.n);
  // Stored sums are rounded, so that a difference of equal ones may be a little off.
  const difference = (a: number, of: number): number => (n === 0 ? 0 : Math.max(0, rounded(a - of)));
  return { n, sum: difference(whole.sum, part.sum), sq: difference(whole.sq, part.sq), b };
}

/** Returns the q-quantile (0..1) by nearest rank, or null without values. */
export function quantile(histogram: Histogram, q: number): number | null {
  if (histogram.n === 0) return null;
  const rank = Math.min(histogram.n, Math.max(1, Math.ceil(q * histogram.n)));
  let seen = 0;
  for (const [bucket, count] of sortedBuckets(histogram)) {
    seen += count;
    if (seen >= rank) return bucketValue(bucket);
  }
  return null;
}

/** Returns the arithmetic mean (exact), or null without values. */
export function mean(histogram: Histogram): number | null {
  return histogram.n === 0 ? null : histogram.sum / histogram.n;
}

/** Returns the sample variance, or null for fewer than two values. */
export function variance(histogram: Histogram): number | null {
  const { n, sum, sq } = histogram;
  return n < 2 ? null : Math.max(0, (sq - (sum * sum) / n) / (n - 1));
}

/** Returns [bucket, count], lowest bucket first. */
export function sortedBuckets(histogram: Histogram): [bucket: number, count: number][] {
  return Object.entries(histogram.b)
    .map(([bucket, count]): [number, number] => [Number(bucket), count])
    .sort((a, b) => a[0] - b[0]);
}

/** Buckets that a recorder adds at once: two octaves. */
const GROWTH = 2 * BUCKETS_PER_OCTAVE;

/**
 * Collects values on a hot path: an increment in a typed array, and no allocation per value. The array covers only the
 * octaves that have values: gateways make many recorders a second, and most of them get few values.
 */
export class HistogramRecorder {
  private counts = new Uint32Array(0);
  /** Bucket of the first count. */
  private first = 0;
  private n = 0;
  private sum = 0;
  private sq = 0;

  record(value: number, times = 1): void {
    const counted = value > 0 ? value : 0;
    const bucket = bucketOf(counted);
    if (bucket < this.first || bucket >= this.first + this.counts.length) this.cover(bucket);
    this.counts[bucket - this.first]! += times;
    this.n += times;
    this.sum += counted * times;
    this.sq += counted * counted * times;
  }

  snapshot(): Histogram {
    const b: Record<string, number> = {};
    for (let at = 0; at < this.counts.length; at += 1)
      if (this.counts[at]) b[at + this.first] = this.counts[at] as number;
    return { n: this.n, sum: rounded(this.sum), sq: rounded(this.sq), b };
  }

  private cover(bucket: number): void {
    const start = Math.floor(bucket / GROWTH) * GROWTH;
    const isEmpty = this.counts.length === 0;
    const first = isEmpty ? start : Math.min(start, this.first);
    const end = isEmpty ? start + GROWTH : Math.max(start + GROWTH, this.first + this.counts.length);
    const counts = new Uint32Array(end - first);
    if (!isEmpty) counts.set(this.counts, this.first - first);
    [this.counts, this.first] = [counts, first];
  }
}

/** Rounds to six decimals: more would only lengthen the stored JSON. */
function rounded(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}
