import type { Distribution } from '@slipway/contracts';
import { CALLER_BUCKETS, type AttemptCounts, type HistogramRecorder } from '@slipway/dataplane';
import type { AnswerFault, AnswerJudge } from '../answers/answer-judge.js';
import type { AttemptLoad } from '../upstream/in-flight.js';

export type AttemptClass = Exclude<keyof AttemptCounts, 'retried' | 'overloaded_retried'>;

/** A client that leaves earlier says nothing about the revision. */
export const ABANDONED_AFTER_MS = 2_000;

/** One ended attempt. */
export interface AttemptRecord {
  class: AttemptClass;
  /** Why an answer failed; absent if the answer was good or there was none. */
  fault?: AnswerFault | null;
  /** Another attempt followed. */
  isRetried: boolean;
  e2eMs: number;
  /** Null unless the answer was a stream. For an abandoned stream, how long the client waited. */
  ttftMs: number | null;
  isStream: boolean;
  metering: ReturnType<AnswerJudge['read']> | null;
  /** Load of its instance meanwhile. */
  load: AttemptLoad;
  /** Number of instances that the gateway chose from. */
  instances: number;
  /** Whether the instance was starting when the attempt began (`Instance.isStarting`). */
  isStarting?: boolean;
  /** See `callerOf`. Absent if unknown. */
  caller?: number;
  /** How long the client of an abandoned request waited, over all attempts. */
  waitedMs?: number;
}

/**
 * Which values one attempt adds to the histogram of each metric of `libs/contracts`. Only successful and abandoned
 * attempts are measured: failures would make a broken revision look fast. The times of an abandoned attempt mean "at
 * least this long": without them, a revision that keeps clients waiting would look fast too.
 */
export const MEASUREMENTS: {
  readonly [M in Distribution]: (attempt: AttemptRecord, values: HistogramRecorder) => void;
} = {
  ttft_ms({ isStream, ttftMs }, values) {
    if (isStream && ttftMs !== null) values.record(ttftMs);
  },
  itl_ms({ isStream, metering }, values) {
    if (isStream && metering?.itlMs != null) values.record(metering.itlMs);
  },
  longest_gap_ms({ isStream, metering }, values) {
    if (isStream && metering?.longestGapMs != null) values.record(metering.longestGapMs);
  },
  e2e_latency_ms({ e2eMs }, values) {
    values.record(e2eMs);
  },
  output_tokens_per_s({ e2eMs, metering }, values) {
    if (metering && metering.tokensOut > 0) values.record((metering.tokensOut * 1000) / Math.max(e2eMs, 0.001));
  },
};

/** Whether `MEASUREMENTS` apply. */
export function isMeasured({ class: outcome, metering }: AttemptRecord): boolean {
  return outcome === 'abandoned' || (outcome === 'ok' && metering !== null);
}

/** Returns a number for the token and session of a request (FNV-1a): equal callers have equal numbers. */
export function callerOf(tokenId: string, session: string | undefined): number {
  const text = `${tokenId} ${session ?? ''}`;
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

export function callerBucketOf(caller: number): number {
  // The upper bits are the better ones.
  return ((caller ^ (caller >>> 16)) >>> 0) % CALLER_BUCKETS;
}
