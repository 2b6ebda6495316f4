import type { Histogram } from '@slipway/dataplane';

/** Returns the values of a histogram without those of a part of it. */
export function subtracted(whole: Histogram, part: Histogram): Histogram {
  if (part.n === 0) return whole;
  const b: Record<string, number> = {};
  for (const bucket in whole.b) {
    const left = (whole.b[bucket] as number) - (part.b[bucket] ?? 0);
    if (left > 0) b[bucket] = left;
  }
  return {
    n: Math.max(0, whole.n - part.n),
    sum: Math.max(0, whole.sum - part.sum),
    sq: Math.max(0, whole.sq - part.sq),
    b,
  };
}
