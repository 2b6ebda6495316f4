import {
  hasMoreTraffic,
  normalQuantile,
  quantile,
  requestFailures,
  sortedBuckets,
  type Histogram,
  type RequestStats,
} from '@slipway/dataplane';
import {
  byCaller,
  differenceOf,
  doubtOf,
  isBeyond,
  NONE,
  rateTally,
  type Difference,
  type Doubt,
  type ShareTally,
} from './callers.js';
import { confidenceOf, type Chances, type GateVerdict } from './analysis.js';

/*
 * Guards stop a candidate with an outcome that its gate does not name. They compare with the stable revision, because
 * clients make the same mistakes on both sides.
 */

export const GUARD_NAMES = ['error_rate', 'client_error_rate', 'overloaded_rate', 'abandoned_rate'] as const;
export type GuardName = (typeof GUARD_NAMES)[number];

export interface Guard {
  name: GuardName;
  /** How much higher than that of the stable revision the share may be, 0 to 1. */
  max_difference: number;
  /** With fewer requests on either side, a guard rolls nothing back. */
  min_samples: number;
}

export const GUARDS: readonly Guard[] = GUARD_NAMES.map((name) => ({ name, max_difference: 0.05, min_samples: 20 }));

/** With what the candidate was compared. */
export type GuardBasis =
  /** The stable revision in the same time. */
  | 'same_time'
  /** The last time in which the stable revision had enough requests. */
  | 'earlier'
  /** No requests of the stable revision: `max_difference` is the limit of the share itself. */
  | 'threshold';

export interface GuardResult {
  metric: GuardName;
  stat: 'rate';
  check: 'guard';
  verdict: GateVerdict;
  /** Events by requests; null without requests. */
  candidate: { value: number | null; samples: number };
  baseline: { value: number | null; samples: number } | null;
  limit: number;
  basis: GuardBasis;
  /** Candidate minus stable revision. */
  difference: number | null;
  /** Its lower bound if each request is evidence, with the confidence in `confidence`. */
  difference_bound: number | null;
  confidence: number;
  /** Why the verdict is no breach although the difference is beyond the limit. */
  reason: Doubt | 'few_requests' | 'more_traffic' | 'no_baseline' | 'no_requests' | null;
}

export interface GuardQuestion {
  candidate: RequestStats;
  /** Absent if the stable revision has no time with enough requests. */
  stable?: { stats: RequestStats; basis: Exclude<GuardBasis, 'threshold'> };
  isStableReady: boolean;
  /** The checks of a gate have their own rule for a candidate without requests. */
  isPausedWithoutRequests: boolean;
  /** A soak is read many times before its end, so callers must be as certain as requests. */
  isEarly?: boolean;
  chances: Chances;
}

/** Shorter waits for a first byte are no sign of a fault. */
const MIN_WAIT_MS = 2_000;
export function judgeGuard(guard: Guard, question: GuardQuestion): GuardResult {
  const { candidate, stable, chances } = question;
  const waitMs = stable ? waitLimitMs(stable.stats) : MIN_WAIT_MS;
  const ours = tallyOf(guard.name, candidate, waitMs);
  const theirs = stable ? tallyOf(guard.name, stable.stats, waitMs) : NONE;
  const confidence = confidenceOf(chances);
  const found = differenceOf(ours, theirs, normalQuantile(confidence));
  const reading = ({ events, of }: ShareTally) => ({ value: of === 0 ? null : events / of, samples: of });
  return {
    metric: guard.name,
    stat: 'rate',
    check: 'guard',
    ...verdictOf(guard, question, { ours, theirs, found }),
    candidate: reading(ours),
    baseline: stable ? reading(theirs) : null,
    limit: guard.max_difference,
    basis: stable?.basis ?? 'threshold',
    difference: ours.of === 0 ? null : rounded(found.difference),
    difference_bound: ours.of === 0 ? null : rounded(found.bound),
    confidence: rounded(confidence),
  };
}

/** Returns the requests that say anything, also those that still wait for an answer. */
export function judgedRequests({ counts, waits }: RequestStats): number {
  return requestFailures(counts).of + counts.abandoned + (waits?.waiting.n ?? 0);
}

function verdictOf(
  guard: Guard,
  { candidate, stable, isStableReady, isPausedWithoutRequests, isEarly }: GuardQuestion,
  { ours, theirs, found }: { ours: ShareTally; theirs: ShareTally; found: Difference },
): Pick<GuardResult, 'verdict' | 'reason'> {
  if (judgedRequests(candidate) === 0)
    return { verdict: isPausedWithoutRequests ? 'unavailable' : 'pass', reason: 'no_requests' };
  if (!isBeyond(found, guard.max_difference)) return { verdict: 'pass', reason: null };
  if (!stable && !isStableReady) return { verdict: 'unavailable', reason: 'no_baseline' };
  // Nothing counts abandoned requests by load. With more traffic, more of them may be no fault of the candidate, unless it
  // answers nothing at all.
  if (guard.name === 'abandoned_rate' && stable && candidate.counts.ok > 0 && hasMoreTraffic(candidate, stable.stats))
    return { verdict: 'not_comparable', reason: 'more_traffic' };
  if (ours.of < guard.min_samples) return { verdict: 'inconclusive', reason: 'few_requests' };
  const doubt = doubtOf(ours, theirs, { limit: guard.max_difference, isEarly });
  return doubt ? { verdict: 'inconclusive', reason: doubt } : { verdict: 'breached', reason: null };
}

function tallyOf(name: GuardName, stats: RequestStats, waitMs: number): ShareTally {
  const { counts, callers = {}, waits } = stats;
  if (name !== 'abandoned_rate' || !waits) return rateTally(name, stats);
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
  return { events, of: requestFailures(counts).of + events, callers: stats.callers && byCaller(all, name) };
}

/** How long the stable revision lets nearly all of its clients wait. */
function waitLimitMs({ counts, streamed, ttft_ms, e2e_latency_ms }: RequestStats): number {
  const usual = quantile(2 * streamed >= counts.ok ? ttft_ms : e2e_latency_ms, 0.99);
  return Math.max(MIN_WAIT_MS, usual ?? 0);
}

/** Counts whole buckets, from the one that begins at or below the limit by less than its width. */
function valuesFrom(histogram: Histogram, limit: number): number {
  return sortedBuckets(histogram)
    .filter(([bucket]) => 2 ** ((bucket + 1) / 8) > limit)
    .reduce((sum, [, count]) => sum + count, 0);
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
