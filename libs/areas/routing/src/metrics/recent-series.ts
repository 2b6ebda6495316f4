import { statsCompleteUntil, statsSeries, type Series, type SeriesStep } from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { LRUCache } from 'lru-cache';
import type { MetricsRange } from './metrics-range.js';

/** A gateway that was cut off reports late. Its records become visible after this time. */
const KEEP_MS = 30_000;
/** Steps of one revision, a few kilobytes each. */
const MAX_KEPT = 5_000;

interface KeptSteps {
  from: Date;
  /** All steps that ended before this time are complete. */
  until: Date;
  steps: Map<string, SeriesStep[]>;
}

export interface SeriesQuestion extends MetricsRange {
  /** Identifies questions whose answers share steps: the deployment and the requested part of it. */
  about: string;
  /** Newest first. */
  revisionIds: readonly string[];
  most: number;
}

/**
 * Keeps complete steps for half a minute and reads only the steps after them. An open page requests nearly the same
 * every two seconds. Without this, Postgres would spend much of that time on adding up the histograms of a busy
 * quarter of an hour.
 */
export class RecentSeries {
  private readonly kept: LRUCache<string, KeptSteps>;

  constructor(now: () => number = () => performance.now()) {
    this.kept = new LRUCache<string, KeptSteps>({
      ttl: KEEP_MS,
      ttlResolution: 0,
      perf: { now },
      maxSize: MAX_KEPT,
      sizeCalculation: ({ steps }) => 1 + sizeOf(steps),
    });
  }

  /**
   * Call it inside a transaction.
   * @returns the series, and up to which time the records are complete
   */
  async read(tx: Tx, question: SeriesQuestion): Promise<Series & { completeUntil: Date | null }> {
    const { from, to, stepSeconds, revisionIds, most } = question;
    const key = `${question.about} ${stepSeconds}`;
    const found = this.kept.get(key);
    const known = found && found.from <= from && from <= found.until && found.until <= to ? found : undefined;
    // In this order: everything complete by then is in the rows that are read after it.
    const [completeUntil, news] = await Promise.all([
      statsCompleteUntil(tx),
      statsSeries(tx, revisionIds, { from: known?.until ?? from, to, stepSeconds, most }),
    ]);
    const steps = joined(known?.steps, news.steps, from);
    const answered = revisionIds.filter((id) => steps.has(id));
    const hasMore = news.hasMore || answered.length > most;
    // The age is that of the first read: adding steps does not make the kept ones newer.
    if (!known && !hasMore && completeUntil)
      this.keep(key, from, lastStepBefore(completeUntil, to, stepSeconds), steps);
    return { steps: new Map(answered.slice(0, most).map((id) => [id, steps.get(id) ?? []])), hasMore, completeUntil };
  }

  private keep(key: string, from: Date, until: Date, steps: ReadonlyMap<string, SeriesStep[]>): void {
    if (until <= from) return;
    const complete = new Map([...steps].map(([id, some]) => [id, some.filter(({ at }) => at < until)]));
    this.kept.set(key, { from, until, steps: complete });
  }
}

/** Returns the end of the last step that is whole and complete. */
function lastStepBefore(completeUntil: Date, to: Date, stepSeconds: number): Date {
  const stepMs = stepSeconds * 1_000;
  return new Date(Math.floor(Math.min(completeUntil.getTime(), to.getTime()) / stepMs) * stepMs);
}

function joined(
  kept: ReadonlyMap<string, SeriesStep[]> = new Map(),
  news: ReadonlyMap<string, SeriesStep[]>,
  from: Date,
): Map<string, SeriesStep[]> {
  const ids = new Set([...kept.keys(), ...news.keys()]);
  const all = [...ids].map((id): [string, SeriesStep[]] => {
    const earlier = (kept.get(id) ?? []).filter(({ at }) => at >= from);
    return [id, [...earlier, ...(news.get(id) ?? [])]];
  });
  return new Map(all.filter(([, steps]) => steps.length > 0));
}

function sizeOf(steps: ReadonlyMap<string, SeriesStep[]>): number {
  return [...steps.values()].reduce((sum, some) => sum + some.length, 0);
}
