import { mergeHistograms, quantile, type ArrivalCount, type Histogram, type ServiceRecord } from '@slipway/dataplane';
import type { ObservedWorkload, WorkloadNumbers } from './types.js';

/**
 * A rate from fewer arrivals is mostly chance: of 30, it is off by 18 %. The highest of many rates is the one that
 * chance raised most, so more arrivals than that are combined if there are many.
 */
export const LEAST_ARRIVALS = 300;
const MOST_ARRIVALS = 1_000;
const RATES = 20;
const PEAK = 0.99;
const QUARTER = 1.25;

interface Rate {
  perSecond: number;
  seconds: number;
}

/**
 * Returns the 99th percentile of the arrival rate, in requests per second, over time. Null if nothing arrived.
 * Consecutive counts are added up until they have 300 to 1,000 arrivals.
 */
export function peakRate(arrivals: readonly ArrivalCount[]): number | null {
  const rates: Rate[] = [];
  const total = arrivals.reduce((sum, one) => sum + one.count, 0);
  const least = Math.min(MOST_ARRIVALS, Math.max(LEAST_ARRIVALS, total / RATES));
  let [count, seconds] = [0, 0];
  for (const one of arrivals) {
    count += one.count;
    seconds += one.seconds;
    if (count < least) continue;
    rates.push({ perSecond: count / seconds, seconds });
    [count, seconds] = [0, 0];
  }
  if (rates.length === 0) return count === 0 ? null : count / seconds;
  rates.sort((a, b) => a.perSecond - b.perSecond);
  const seen = rates.reduce((sum, rate) => sum + rate.seconds, 0);
  let below = 0;
  for (const rate of rates) {
    below += rate.seconds;
    if (below >= PEAK * seen) return rate.perSecond;
  }
  return (rates.at(-1) as Rate).perSecond;
}

export function observedWorkload(
  history: readonly ServiceRecord[],
  arrivals: readonly ArrivalCount[],
): ObservedWorkload {
  const p95 = (read: (record: ServiceRecord) => Histogram) => quantile(mergeHistograms(history.map(read)), 0.95);
  const rate = peakRate(arrivals);
  const durations = mergeHistograms(history.map(({ stats }) => stats.e2e_latency_ms));
  const meanMs = durations.n === 0 ? null : durations.sum / durations.n;
  return {
    requestRate: rate,
    // Little's law.
    concurrency: rate === null || meanMs === null ? null : (rate * meanMs) / 1_000,
    inputTokensP95: p95(({ inputTokens }) => inputTokens),
    outputTokensP95: p95(({ outputTokens }) => outputTokens),
  };
}

/** Whether one value is larger than the other by more than a quarter. Smaller differences are not reported. */
export function differs(one: number, other: number): boolean {
  return Math.max(one, other) > QUARTER * Math.min(one, other);
}

/** Returns the members that are declared, and observed as more than a quarter more or less. */
export function movedMembers(declared: WorkloadNumbers, observed: ObservedWorkload): (keyof WorkloadNumbers)[] {
  return (Object.keys(observed) as (keyof WorkloadNumbers)[]).filter((member) => {
    const [said, seen] = [declared[member], observed[member]];
    if (said === undefined || seen === null) return false;
    return differs(said, seen);
  });
}

/** Whether the requests of the window are longer or shorter than the older ones, by more than a quarter. */
export function haveTokensMoved(
  window: readonly ServiceRecord[],
  history: readonly ServiceRecord[],
  minSamples: number,
): boolean {
  const start = window[0]?.at.getTime() ?? Infinity;
  const older = history.filter(({ at }) => at.getTime() < start);
  return (['inputTokens', 'outputTokens'] as const).some((kind) => {
    const [now, before] = [window, older].map((records) => mergeHistograms(records.map((record) => record[kind])));
    if (!now || !before || Math.min(now.n, before.n) < minSamples) return false;
    const [mean, meanBefore] = [now.sum / now.n, before.sum / before.n];
    return differs(mean, meanBefore);
  });
}
