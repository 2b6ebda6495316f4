import { emptyRecord, type RecordSeconds, type ServiceRecord } from '@slipway/dataplane';
import type { PolicyContent } from '@slipway/ports/policies';
import { RECORDED_MINUTES_SECONDS, RECORDED_SECONDS } from './goals.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/**
 * Minutes are read for this much of the history, and hours before it. A day of minutes takes longer to read than a
 * month of hours, and the curves do not need them.
 */
const MINUTES_OF_HISTORY_MS = 6 * HOUR_MS;
/** A window that is longer than this is read in hours too. */
const LONGEST_WINDOW_OF_MINUTES_MS = 24 * HOUR_MS;

/** The times that a review reads, whole minutes. */
export interface ReadRanges {
  to: Date;
  window: { from: Date; minutesFrom: Date };
  history: { from: Date; minutesFrom: Date };
  arrivalsFrom: Date;
  /** Hours are read from here on for arrivals before those of minutes; equal to `arrivalsFrom` if they go back enough. */
  olderArrivalsFrom: Date;
}

/** Returns what a policy judges by records that are complete until a time. Pure. */
export function rangesOf({ evidence, reliability }: PolicyContent, until: Date): ReadRanges {
  const to = Math.floor(until.getTime() / MINUTE_MS) * MINUTE_MS;
  const back = (seconds: number, most: number) => to - Math.min(most, seconds) * 1_000;
  const wholeMinutes = Math.ceil(evidence.min_duration_seconds / 60) * 60;
  const windowFrom = back(wholeMinutes, RECORDED_SECONDS);
  const historyFrom = Math.min(windowFrom, back(evidence.max_age_seconds, RECORDED_SECONDS));
  const isLong = to - windowFrom > LONGEST_WINDOW_OF_MINUTES_MS;
  // The hour in which the minutes begin is read in minutes, so that no record is read twice.
  const minutesFrom = hourOf(Math.min(to - MINUTES_OF_HISTORY_MS, isLong ? to : windowFrom));
  const longest = Math.max(evidence.max_age_seconds, reliability.right_size_after_seconds);
  return {
    to: new Date(to),
    window: { from: new Date(isLong ? hourOf(windowFrom) : windowFrom), minutesFrom: new Date(minutesFrom) },
    history: {
      from: new Date(historyFrom < minutesFrom ? hourOf(historyFrom) : historyFrom),
      minutesFrom: new Date(minutesFrom),
    },
    arrivalsFrom: new Date(back(longest, RECORDED_MINUTES_SECONDS)),
    olderArrivalsFrom: new Date(back(longest, RECORDED_SECONDS)),
  };
}

/** Returns what is read of a revision since a time; undefined if no whole minute has passed. */
export function rangeSince(since: Date, until: Date): { from: Date; minutesFrom: Date; to: Date } | undefined {
  const to = Math.floor(until.getTime() / MINUTE_MS) * MINUTE_MS;
  const from = Math.max(Math.ceil(since.getTime() / MINUTE_MS) * MINUTE_MS, to - RECORDED_SECONDS * 1_000);
  if (from >= to) return undefined;
  const minutesFrom = hourOf(to - MINUTES_OF_HISTORY_MS);
  return { from: new Date(from), minutesFrom: new Date(minutesFrom), to: new Date(to) };
}

/**
 * Returns the records of a window with an empty one for each time in which nothing ended: samples of a few minutes must
 * not look as if they spanned the window.
 */
export function withoutGaps(
  records: readonly ServiceRecord[],
  { from, minutesFrom }: ReadRanges['window'],
  to: Date,
): ServiceRecord[] {
  const known = new Map(records.map((record) => [record.at.getTime(), record]));
  const all: ServiceRecord[] = [];
  for (let at = from.getTime(); at < to.getTime();) {
    const seconds: RecordSeconds = known.get(at)?.seconds ?? (at < minutesFrom.getTime() ? 3600 : 60);
    all.push(known.get(at) ?? emptyRecord(new Date(at), seconds));
    at += seconds * 1_000;
  }
  return all;
}

function hourOf(time: number): number {
  return Math.floor(time / HOUR_MS) * HOUR_MS;
}
