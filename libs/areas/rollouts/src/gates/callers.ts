import { metricOf, type RateMetric } from '@slipway/contracts';
import { failuresOf, normalQuantile, type CallerCounts, type Callers, type RequestStats } from '@slipway/dataplane';

/*
 * Shares of requests with each caller as one piece of evidence. The requests of a caller are alike, so a few callers make
 * a difference that no other caller has.
 */

/** A difference that fewer callers cause never rolls back: it may be theirs. */
export const MIN_CALLERS = 3;
const Z_OF_CALLERS = normalQuantile(0.95);
const Z_OF_CALLERS_EARLY = normalQuantile(0.998);

/** Rates whose events are counted by caller. */
const CALLER_COLUMN = { error_rate: 1, client_error_rate: 2, overloaded_rate: 3, abandoned_rate: 4 } as const;

export type CountedRate = keyof typeof CALLER_COLUMN;

export function isCountedByCaller(name: string): name is CountedRate {
  return name in CALLER_COLUMN;
}

/** Why a difference may be that of its callers. */
export type Doubt = 'few_callers' | 'unknown_callers';

export interface CallerTally {
  events: number;
  of: number;
}

export interface ShareTally extends CallerTally {
  callers?: CallerTally[];
}

export const NONE: ShareTally = { events: 0, of: 0 };

export function rateTally(name: CountedRate, stats: RequestStats): ShareTally {
  const { failed, of } = failuresOf(metricOf(name) as RateMetric, stats);
  return { events: failed, of, callers: stats.callers && byCaller(stats.callers, name) };
}

/**
 * A difference has enough callers as its cause if it is certain with each caller as one piece of evidence, and is still
 * beyond the limit without the callers that exceed the stable revision's share by the most requests.
 */
export function doubtOf(
  ours: ShareTally,
  theirs: ShareTally,
  { limit, isEarly }: { limit: number; isEarly?: boolean },
): Doubt | null {
  const z = isEarly ? Z_OF_CALLERS_EARLY : Z_OF_CALLERS;
  const { callers, events } = ours;
  if (!callers) return null;
  const share = theirs.of === 0 ? 0 : theirs.events / theirs.of;
  const byExcess = callers.toSorted((a, b) => b.events - share * b.of - (a.events - share * a.of));
  const known = added(callers);
  const rest = added(byExcess.slice(MIN_CALLERS - 1));
  const isCommon = isBeyond(differenceOf(rest, theirs, z), limit);
  if (isCommon && isBeyond(differenceOf(ours, theirs, z, betweenCallers), limit)) return null;
  return known.events < events / 2 ? 'unknown_callers' : 'few_callers';
}

export function byCaller(callers: Callers, name: CountedRate): CallerTally[] {
  return Object.values(callers).map((one) => callerTally(one, CALLER_COLUMN[name]));
}

/** Abandoned requests are in no other share. */
function callerTally(counts: CallerCounts, column: number): CallerTally {
  const [requests, , , , abandoned] = counts;
  return { events: counts[column]!, of: column === CALLER_COLUMN.abandoned_rate ? requests : requests - abandoned };
}

export interface Difference {
  difference: number;
  bound: number;
}

export function differenceOf(
  ours: ShareTally,
  theirs: ShareTally,
  z: number,
  varianceOf = betweenRequests,
): Difference {
  const deviation = Math.sqrt(varianceOf(ours) + varianceOf(theirs));
  return {
    difference: shareOf(ours) - shareOf(theirs),
    bound: smoothedShare(ours) - smoothedShare(theirs) - z * deviation,
  };
}

export function isBeyond({ difference, bound }: Difference, limit: number): boolean {
  return difference > limit && bound > 0;
}

export function shareOf({ events, of }: CallerTally): number {
  return of === 0 ? 0 : events / of;
}

/** One event and one other request are added (Agresti and Caffo), so that a few requests are not certain. */
function smoothedShare({ events, of }: CallerTally): number {
  return of === 0 ? 0 : (events + 1) / (of + 2);
}

function betweenRequests(tally: ShareTally): number {
  const share = smoothedShare(tally);
  return (share * (1 - share)) / (tally.of + 2);
}

/** Requests of one caller are alike, so the variance is at least that between the callers. */
function betweenCallers(tally: ShareTally): number {
  const some = (tally.callers ?? []).filter(({ of }) => of > 0);
  if (some.length < 2) return betweenRequests(tally);
  const squares = some.reduce((sum, one) => sum + (one.events - shareOf(tally) * one.of) ** 2, 0);
  const variance = (squares / tally.of ** 2) * (some.length / (some.length - 1));
  return Math.max(betweenRequests(tally), variance);
}

export function added(callers: readonly CallerTally[]): CallerTally {
  return callers.reduce((sum, one) => ({ events: sum.events + one.events, of: sum.of + one.of }), NONE);
}
