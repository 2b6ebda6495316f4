import { metricOf, type Metric, type RateMetric, type Stat } from '@slipway/contracts';
import { failuresOf, type ServiceRecord } from '@slipway/dataplane';
import { blocksOf } from './blocks.js';
import { distributionOf } from './curve.js';
import { blocked, leastSamples, measured, measuredShare } from './interval.js';
import type { Interval, MeasuredValue } from './types.js';
import { differs, LEAST_ARRIVALS } from './workload.js';

/** Records that were served, oldest first. `atLoad` are those with about the rate that a plan assumes. */
export interface ServedRecords {
  all: readonly ServiceRecord[];
  atLoad: readonly ServiceRecord[];
}

/**
 * Returns the records whose rate of arrivals differs from that of the plan by at most a quarter. Consecutive records are
 * judged together until they have 300 arrivals.
 * @param rate requests per second; null if the plan assumes none, so that all are comparable
 */
export function recordsAtRate(records: readonly ServiceRecord[], rate: number | null): ServedRecords {
  if (rate === null) return { all: records, atLoad: records };
  const atLoad: ServiceRecord[] = [];
  let open: ServiceRecord[] = [];
  let arrivals = 0;
  const close = () => {
    const [first, last] = [open[0] as ServiceRecord, open.at(-1) as ServiceRecord];
    const seconds = (last.at.getTime() - first.at.getTime()) / 1_000 + last.seconds;
    if (!differs(arrivals / seconds, rate)) atLoad.push(...open);
    open = [];
    arrivals = 0;
  };
  for (const record of records) {
    open.push(record);
    arrivals += record.arrivals;
    if (arrivals >= LEAST_ARRIVALS) close();
  }
  // A short rest shows nothing, unless there is nothing else.
  if (open.length > 0 && open.length === records.length) close();
  return { all: records, atLoad };
}

/** Returns the statistic of these records with its interval; null with fewer samples than it needs. */
export function achievedIn(
  records: readonly ServiceRecord[],
  { metric, stat }: { metric: Metric; stat: Stat },
  { minSamples, confidence }: { minSamples: number; confidence: number },
): MeasuredValue | null {
  const blocks = blocksOf(records);
  const definition = metricOf(metric);
  const distribution = distributionOf(metric);
  const value =
    definition.kind === 'rate'
      ? measuredShare(
          blocks.map((block) => failuresIn(block.records, definition)),
          confidence,
        )
      : distribution && measured(stat, blocked(blocks.map((block) => block.overall(distribution))), confidence);
  return value && value.n >= leastSamples(stat, minSamples) ? value : null;
}

function failuresIn(records: readonly ServiceRecord[], definition: RateMetric): { failed: number; of: number } {
  const all = records.map(({ stats }) => failuresOf(definition, stats));
  return { failed: all.reduce((sum, one) => sum + one.failed, 0), of: all.reduce((sum, one) => sum + one.of, 0) };
}

/** A prediction, and the value before the plan. */
export interface Expectation {
  isHigherBetter: boolean;
  predicted: Interval;
  now: number | null;
  /** Interval of the value before; null if the plan does not state it. */
  before: { low: number; high: number } | null;
}

export interface ComparedOutcome {
  within: boolean;
  /** Null if a value is not above zero. */
  logError: number | null;
  /** Null: it may be the predicted value as well as the one before, so more samples are needed. */
  result: 'as_predicted' | 'better' | 'worse' | 'no_effect' | null;
}

/**
 * Compares what was achieved with what was predicted, and outside of that with what was before. Both values before and
 * after are uncertain, so their intervals decide which of them is better.
 */
export function judgeOutcome(
  { isHigherBetter, predicted, now, before }: Expectation,
  achieved: Interval,
  isNewlyMissed = false,
): ComparedOutcome {
  const within = achieved.value >= predicted.low && achieved.value <= predicted.high;
  const hasLogarithm = achieved.value > 0 && predicted.value > 0;
  const logError = hasLogarithm ? Math.log(achieved.value / predicted.value) : null;
  const judged = (result: ComparedOutcome['result']) => ({ within, logError, result });
  if (isNewlyMissed) return judged('worse');
  if (within) return judged('as_predicted');
  if (isHigherBetter ? achieved.value > predicted.high : achieved.value < predicted.low) return judged('better');
  const baseline = before ?? (now === null ? null : { low: now, high: now });
  if (!baseline) return judged('worse');
  const isHigher = achieved.low > baseline.high;
  const isLower = achieved.high < baseline.low;
  if (isHigher || isLower) return judged(isHigher === isHigherBetter ? 'better' : 'worse');
  // An interval that is wide enough contains every value.
  const mayBePredicted = achieved.low <= predicted.high && achieved.high >= predicted.low;
  return judged(mayBePredicted ? null : 'no_effect');
}
