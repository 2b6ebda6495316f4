import {
  loadsInCommon,
  quantile,
  requestFailures,
  sortedBuckets,
  type Histogram,
  type RequestStats,
} from '@slipway/dataplane';
import {
  added,
  byCaller,
  differenceOf,
  rateTally,
  shareOf,
  type CallerTally,
  type Difference,
  type ShareTally,
} from './callers.js';

/*
 * Requests that waited for their first byte (for the end, if the answer is not streamed) for longer than clients usually
 * do, until their clients left.
 */

/** Shorter waits for a first byte are no sign of a fault. */
const MIN_WAIT_MS = 2_000;

/** How long the stable revision lets nearly all of its clients wait. */
export function waitLimitMs(stable: RequestStats | undefined): number {
  const usual = stable && quantile(stable[waitMetric(stable)], 0.99);
  return Math.max(MIN_WAIT_MS, usual ?? 0);
}

/** Counts requests whose clients left after this time, and those that still wait for longer. */
export function waitTally(stats: RequestStats, waitMs: number): ShareTally {
  const { counts, callers = {}, waits } = stats;
  if (!waits) return rateTally('abandoned_rate', stats);
  const waiting = valuesFrom(waits.waiting, waitMs);
  const events = valuesFrom(waits.left, waitMs) + waiting;
  const known = Object.values(waits.callers ?? {}).reduce((sum, count) => sum + count, 0);
  // Gateways count the callers that wait for 2 s or more; fewer of them may wait longer than clients usually do.
  const share = known === 0 ? 0 : Math.min(1, waiting / known);
  const all = { ...callers };
  for (const [bucket, count] of Object.entries(waits.callers ?? {})) {
    const [requests = 0, failed = 0, refused = 0, overloaded = 0, left = 0] = all[bucket] ?? [];
    const more = share * count;
    all[bucket] = [requests + more, failed, refused, overloaded, left + more];
  }
  return { events, of: requestFailures(counts).of + events, callers: stats.callers && byCaller(all, 'abandoned_rate') };
}

export interface ComparedWaits extends Difference {
  /** The share of the candidate's requests that had a load which the stable revision had too. */
  coverage: number;
}

/**
 * Compares long waits at the loads that both revisions had, each load as often as the candidate had it. Waits count
 * whether the client left or stayed: at the same load, clients are equally patient with both.
 */
export function compareWaits(candidate: RequestStats, stable: RequestStats, waitMs: number, z: number): ComparedWaits {
  const metric = waitMetric(stable);
  const pairs = loadsInCommon(metric, candidate, stable).map((pair) => ({
    ours: longOf(pair.candidate, waitMs),
    theirs: longOf(pair.baseline, waitMs),
  }));
  const ours = added(pairs.map((pair) => pair.ours));
  if (ours.of === 0) return { difference: 0, bound: 0, coverage: 0 };
  const share = pairs.reduce((sum, pair) => sum + pair.ours.of * shareOf(pair.theirs), 0) / ours.of;
  // As many requests of equal weight would be equally precise.
  const of = ours.of ** 2 / pairs.reduce((sum, pair) => sum + pair.ours.of ** 2 / pair.theirs.of, 0);
  return { ...differenceOf(ours, { events: share * of, of }, z), coverage: ours.of / candidate[metric].n };
}

function waitMetric({ counts, streamed }: RequestStats): 'ttft_ms' | 'e2e_latency_ms' {
  return 2 * streamed >= counts.ok ? 'ttft_ms' : 'e2e_latency_ms';
}

function longOf(histogram: Histogram, waitMs: number): CallerTally {
  return { events: valuesFrom(histogram, waitMs), of: histogram.n };
}

/** Counts whole buckets, from the one that begins at or below the limit by less than its width. */
function valuesFrom(histogram: Histogram, limit: number): number {
  return sortedBuckets(histogram)
    .filter(([bucket]) => 2 ** ((bucket + 1) / 8) > limit)
    .reduce((sum, [, count]) => sum + count, 0);
}
