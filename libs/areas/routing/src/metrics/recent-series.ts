import { statsCompleteUntil, statsSeries, type Series, type SeriesStep } from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { LRUCache } from 'lru-cache';
import type { MetricsRange } from './metrics-range.js';

/** What a gateway that was cut off hands in late is seen after so long. */
const KEEP_MS = 30_000;
/** Steps of one revision, a few kilobytes each. */
const MAX_KEPT = 5_000;

interface KeptSteps {
  from: Date;
  /** Nothing that ended before is missing. */
  until: Date;
  steps: Map<string, SeriesStep[]>;
}

export interface SeriesQuestion extends MetricsRange {
  /** Tells questions apart whose answers have steps in common: the deployment, and what of it is asked for. */
  about: string;
  /** Newest first. */
  revisionIds: readonly string[];
  most: number;
}

/**
 * Who looks at a page asks for nearly the same every two seconds, and to add the histograms of a busy quarter of an hour up costs
 * Postgres a good part of that. So steps that are complete are kept for half a minute, and only what follows on them is read.
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

  /** Inside a transaction. @returns up to when the records are complete, too */
  async read(tx: Tx, question: SeriesQuestion): Promise<Series & { completeUntil: Date | null }> {
    const { from, to, stepSeconds, revisionIds, most } = question;
    const key = `${question.about} ${stepSeconds}`;
    const found = this.kept.get(key);
    const known = found && found.from <= from && from <= found.until && found.until <= to ? found : undefined;
    // In this order: what is complete by then is in the rows that are read after it.
    const [completeUntil, news] = await Promise.all([
      statsCompleteUntil(tx),
      statsSeries(tx, revisionIds, { from: known?.until ?? from, to, stepSeconds, most }),
    ]);
    const steps = joined(known?.steps, news.steps, from);
    const answered = revisionIds.filter((id) => steps.has(id));
    const hasMore = news.hasMore || answered.length > most;
    // The age is that of the whole read: what was kept then does not get younger by what is added.
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

/** Where the last step that is whole and complete ends. */
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
