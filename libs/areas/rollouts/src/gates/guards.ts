import { hasMoreTraffic, normalQuantile, requestFailures, type RequestStats } from '@slipway/dataplane';
import {
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
import { compareWaits, waitLimitMs, waitTally, type ComparedWaits } from './waits.js';

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

/** Minimum share of the candidate's requests at loads that both sides had, to say that they explain a difference. */
const MIN_AT_LOADS_IN_COMMON = 0.5;

export function judgeGuard(guard: Guard, question: GuardQuestion): GuardResult {
  const { candidate, stable, chances } = question;
  const waitMs = waitLimitMs(stable?.stats);
  const tallyOf = (stats: RequestStats) =>
    guard.name === 'abandoned_rate' ? waitTally(stats, waitMs) : rateTally(guard.name, stats);
  const ours = tallyOf(candidate);
  const theirs = stable ? tallyOf(stable.stats) : NONE;
  const confidence = confidenceOf(chances);
  const z = normalQuantile(confidence);
  const found = differenceOf(ours, theirs, z);
  // With more traffic, more clients may leave without a fault of the candidate, unless it answers nothing at all.
  const isBusier = stable !== undefined && candidate.counts.ok > 0 && hasMoreTraffic(candidate, stable.stats);
  const atLoad = guard.name === 'abandoned_rate' && isBusier ? compareWaits(candidate, stable.stats, waitMs, z) : null;
  const reading = ({ events, of }: ShareTally) => ({ value: of === 0 ? null : events / of, samples: of });
  return {
    metric: guard.name,
    stat: 'rate',
    check: 'guard',
    ...verdictOf(guard, question, { ours, theirs, found, atLoad }),
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

interface ComparedShares {
  ours: ShareTally;
  theirs: ShareTally;
  found: Difference;
  /** Null if the share does not depend on traffic, or the candidate did not get more of it. */
  atLoad: ComparedWaits | null;
}

function verdictOf(
  guard: Guard,
  { candidate, stable, isStableReady, isPausedWithoutRequests, isEarly }: GuardQuestion,
  { ours, theirs, found, atLoad }: ComparedShares,
): Pick<GuardResult, 'verdict' | 'reason'> {
  if (judgedRequests(candidate) === 0)
    return { verdict: isPausedWithoutRequests ? 'unavailable' : 'pass', reason: 'no_requests' };
  if (!isBeyond(found, guard.max_difference)) return { verdict: 'pass', reason: null };
  if (!stable && !isStableReady) return { verdict: 'unavailable', reason: 'no_baseline' };
  if (atLoad && !isBeyond(atLoad, guard.max_difference)) {
    const isExplained = atLoad.coverage >= MIN_AT_LOADS_IN_COMMON;
    return { verdict: isExplained ? 'pass' : 'not_comparable', reason: 'more_traffic' };
  }
  if (ours.of < guard.min_samples) return { verdict: 'inconclusive', reason: 'few_requests' };
  const doubt = doubtOf(ours, theirs, { limit: guard.max_difference, isEarly });
  return doubt ? { verdict: 'inconclusive', reason: doubt } : { verdict: 'breached', reason: null };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
