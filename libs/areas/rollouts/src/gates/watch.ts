import { metricOf, type RateMetric } from '@slipway/contracts';
import {
  compareShares,
  compareWithLimit,
  evidenceNeeded,
  failuresOf,
  highestShare,
  NO_EVIDENCE,
  type RequestStats,
  type SecondCounts,
  type SequentialEvidence,
  type ShareCounts,
} from '@slipway/dataplane';
import type { AnalysisMetricDto } from '@slipway/ports/deployment-records';
import type { RolloutInput, StoredGate, Strategy } from '../rollout.input.js';
import { FALSE_ALARMS } from './analysis.js';
import type { Guard } from './guards.js';

/*
 * The records that a soak reads while it lasts. Shares of requests are tested after every second (`sequential.ts` of the
 * dataplane); latencies and abandoned requests, which need all of the soak, at a few times that are planned in advance.
 */

/** A share that is tested after every second. */
export interface WatchedShare {
  /** `guards.0` or `metrics.1`: its place in the gate. */
  key: string;
  name: AnalysisMetricDto['name'];
  /** A fixed limit; otherwise the share of the stable revision. */
  limit?: number;
}

/** Kept by the step between its runs. */
export interface WatchState {
  /** The end of the seconds that were read, RFC 3339. */
  until: string;
  /** By key. */
  evidence: Record<string, SequentialEvidence>;
  /** By key: the limit in place of the stable revision's share, if that has no requests at the same time. */
  limits: Record<string, number> | null;
  /** Planned looks that are over. */
  looks: number;
  /** Requests of the candidate so far. */
  requests: number;
}

/** The first planned look, and the factor from each to the next. */
const FIRST_LOOK_SECONDS = 10;
const LOOK_FACTOR = 1.5;

/** Returns the seconds of a soak after which latencies are compared before its end. */
function plannedLooks(soakSeconds: number): number[] {
  const looks: number[] = [];
  for (let at = FIRST_LOOK_SECONDS; at < soakSeconds; at *= LOOK_FACTOR) looks.push(Math.round(at));
  return looks;
}

/** The number of times that a rollout compares anything but watched shares: planned looks and ends of soaks. */
export function looksOf({ type, steps }: Pick<Strategy, 'type' | 'steps'>): number {
  const soaks = type === 'canary' ? steps : steps.slice(0, 1);
  return soaks.reduce((sum, { soak_seconds }) => sum + plannedLooks(soak_seconds).length + 1, 0);
}

/** A dry run stops nothing, and neither does a check that tolerates breaches: both only read the whole soak. */
export function watchedShares({ metrics, guards = [] }: StoredGate): WatchedShare[] {
  return [
    ...guards.flatMap(({ name }, index) => (isWatched(name) ? [{ key: `guards.${index}`, name }] : [])),
    ...metrics.flatMap((metric, index) => {
      const { name, check, threshold, operator = 'lte', dry_run, failure_limit } = metric;
      if (!isWatched(name) || dry_run || failure_limit > 0 || operator === 'gte') return [];
      const limit = check === 'threshold' ? { limit: threshold as number } : {};
      return [{ key: `metrics.${index}`, name, ...limit }];
    }),
  ];
}

/** Abandoned requests depend on the load and on requests that still wait, which no second has. */
export function isWatched(name: AnalysisMetricDto['name'] | Guard['name']): boolean {
  return metricOf(name).kind === 'rate' && name !== 'abandoned_rate';
}

/** The evidence from which on a watched share is a breach: all of a rollout have half of its chance of a false alarm. */
function neededEvidence(strategy: RolloutInput['strategy'], watched: readonly WatchedShare[]): number {
  const soaks = strategy.type === 'canary' ? strategy.steps.length : 1;
  return evidenceNeeded(FALSE_ALARMS / (soaks * Math.max(1, watched.length)));
}

/** Checks that may stop a soak now. */
export interface EarlyChecks {
  /** Keys of watched shares whose evidence suffices. */
  proven: ReadonlySet<string>;
  /** Whether latencies and abandoned requests may be compared now. */
  isPlanned: boolean;
}

/** Returns the checks that may stop the soak now, if there are any, and counts a planned look. */
export function dueChecks(
  watch: WatchState,
  soak: {
    watched: readonly WatchedShare[];
    strategy: RolloutInput['strategy'];
    soakSeconds: number;
    elapsedMs: number;
  },
): { watch: WatchState; early?: EarlyChecks } {
  const { watched, strategy, soakSeconds, elapsedMs } = soak;
  const needed = neededEvidence(strategy, watched);
  const proven = new Set(watched.map(({ key }) => key).filter((key) => (watch.evidence[key]?.log ?? 0) >= needed));
  const isPlanned = (plannedLooks(soakSeconds)[watch.looks] ?? Infinity) * 1_000 <= elapsedMs;
  if (proven.size === 0 && !isPlanned) return { watch };
  return { watch: isPlanned ? { ...watch, looks: watch.looks + 1 } : watch, early: { proven, isPlanned } };
}

export function beginWatch(from: Date): WatchState {
  return { until: from.toISOString(), evidence: {}, limits: null, looks: 0, requests: 0 };
}

/**
 * Limits for watched shares if the stable revision gets no requests meanwhile: the highest share that fits its earlier
 * requests. Without any, the largest difference that the guard accepts.
 */
export function limitsFrom(
  watched: readonly WatchedShare[],
  guards: readonly Guard[],
  earlier: RequestStats | undefined,
): Record<string, number> {
  return Object.fromEntries(
    watched.map(({ key, name, limit }) => {
      if (limit !== undefined) return [key, limit];
      if (earlier) return [key, highestShare(countsOf(name, earlier), FALSE_ALARMS / watched.length)];
      const guard = key.startsWith('guards.') ? guards[Number(key.split('.')[1])] : undefined;
      // A regression of the gate has nothing to compare with.
      return [key, guard?.max_difference ?? 1];
    }),
  );
}

/** Adds the seconds up to a time. */
export function watchOn(
  state: WatchState,
  seconds: readonly SecondCounts[],
  { watched, candidateId, until }: { watched: readonly WatchedShare[]; candidateId: string; until: Date },
): WatchState {
  const byTime = new Map<number, { candidate?: SecondCounts; stable?: SecondCounts }>();
  for (const second of seconds) {
    const both = byTime.get(second.at.getTime()) ?? {};
    byTime.set(second.at.getTime(), { ...both, [second.revisionId === candidateId ? 'candidate' : 'stable']: second });
  }
  const evidence = { ...state.evidence };
  let { requests } = state;
  for (const { candidate, stable } of byTime.values()) {
    requests += requestsOf(candidate);
    for (const { key, name, limit } of watched) {
      const ours = sharesOf(name, candidate);
      const known = evidence[key] ?? NO_EVIDENCE;
      const fixed = limit ?? state.limits?.[key];
      evidence[key] =
        fixed === undefined ? compareShares(known, ours, sharesOf(name, stable)) : compareWithLimit(known, ours, fixed);
    }
  }
  return { ...state, until: until.toISOString(), evidence, requests };
}

function requestsOf(second: SecondCounts | undefined): number {
  if (!second) return 0;
  return countsOf('abandoned_rate', { counts: second }).of + second.cancelled;
}

function sharesOf(name: AnalysisMetricDto['name'], second: SecondCounts | undefined): ShareCounts {
  return second ? countsOf(name, { counts: second }) : { events: 0, of: 0 };
}

function countsOf(name: AnalysisMetricDto['name'], stats: Pick<RequestStats, 'counts'>): ShareCounts {
  const { failed, of } = failuresOf(metricOf(name) as RateMetric, stats);
  return { events: failed, of };
}
