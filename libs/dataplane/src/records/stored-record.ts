import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import { emptyHistogram, sortedBuckets, type Histogram } from '../statistics/histogram.js';
import type { AttemptCounts } from '../statistics/stats.query.js';
import type { RecordSeconds, ServiceRecord } from './record.js';

/*
 * A record as it is stored. A week has hundreds to thousands of records with some hundred buckets each, and a reader
 * mostly needs one or two metrics of them. So each metric is a text of its own, which is decoded when it is first read.
 */

/** The column `record`. */
export interface StoredRecord {
  gateways: number;
  instances: number;
  counts: AttemptCounts;
  streamed: number;
  tokens_in: number;
  tokens_out: number;
  alone_ms: number;
  joined: number;
  session_arrivals: number;
  held: PackedHistogram;
  input_tokens: PackedHistogram;
  output_tokens: PackedHistogram;
  kv_usage: number | null;
  waiting: number | null;
  /** By metric: a list of `[part, ...PackedHistogram]` as JSON. A metric that is younger than the row is absent. */
  values: Partial<Record<Distribution, string>>;
}

/** What a reader selects of a row. */
export interface RecordRow {
  /** Seconds since 1970. */
  at: number;
  seconds: RecordSeconds;
  arrivals: number;
  refused: number;
  record: StoredRecord;
}

/**
 * `[n, sum, sum of squares, lowest bucket, ...counts]`: the counts of that bucket and of those after it, in which `-k`
 * stands for k empty buckets. Empty for an empty histogram. Buckets are close together, so this is half as long as a
 * `Histogram`, and faster to read.
 */
type PackedHistogram = number[];

/** Parts of the values of a metric: all, those of starting instances, and from 0 on the buckets of load. */
const ALL = -2;
const STARTING = -1;

interface MetricValues {
  all: Histogram;
  starting: Histogram;
  loads: Record<string, Histogram>;
}

export function storedRecord(record: ServiceRecord): StoredRecord {
  const { stats, starting } = record;
  return {
    gateways: record.gateways,
    instances: record.instances,
    counts: stats.counts,
    streamed: stats.streamed,
    tokens_in: stats.tokens_in,
    tokens_out: stats.tokens_out,
    alone_ms: stats.loads.alone_ms,
    joined: stats.loads.joined,
    session_arrivals: record.sessionArrivals,
    held: packed(record.held),
    input_tokens: packed(record.inputTokens),
    output_tokens: packed(record.outputTokens),
    kv_usage: record.kvUsage,
    waiting: record.waiting,
    values: Object.fromEntries(
      DISTRIBUTIONS.map((metric) => {
        const parts = [
          [ALL, ...packed(stats[metric])],
          [STARTING, ...packed(starting[metric])],
          ...Object.entries(stats.loads.histograms[metric]).map(([load, one]) => [Number(load), ...packed(one)]),
        ];
        return [metric, JSON.stringify(parts.filter(({ length }) => length > 1))];
      }),
    ),
  };
}

/** Its histograms of metrics are decoded when they are first read. */
export function recordOf({ at, seconds, arrivals, refused, record }: RecordRow): ServiceRecord {
  const decoded: Partial<Record<Distribution, MetricValues>> = {};
  const valuesOf = (metric: Distribution): MetricValues => (decoded[metric] ??= metricValues(record.values[metric]));
  const { instances, alone_ms, joined } = record;
  return {
    at: new Date(at * 1_000),
    seconds,
    gateways: record.gateways,
    instances,
    stats: Object.assign(
      ByMetric.of((metric) => valuesOf(metric).all),
      {
        counts: record.counts,
        streamed: record.streamed,
        tokens_in: record.tokens_in,
        tokens_out: record.tokens_out,
        loads: { instances, alone_ms, joined, histograms: ByMetric.of((metric) => valuesOf(metric).loads) },
      },
    ),
    starting: ByMetric.of((metric) => valuesOf(metric).starting),
    arrivals,
    sessionArrivals: record.session_arrivals,
    held: unpacked(record.held),
    refused,
    inputTokens: unpacked(record.input_tokens),
    outputTokens: unpacked(record.output_tokens),
    kvUsage: record.kv_usage,
    waiting: record.waiting,
  };
}

/** An object with a member for each metric, which is computed when it is read. */
class ByMetric<T> {
  readonly #valueOf: (metric: Distribution) => T;

  private constructor(valueOf: (metric: Distribution) => T) {
    this.#valueOf = valueOf;
    for (const [metric, member] of ByMetric.members) Object.defineProperty(this, metric, member);
  }

  static of<T>(valueOf: (metric: Distribution) => T): Record<Distribution, T> {
    return new ByMetric(valueOf) as unknown as Record<Distribution, T>;
  }

  /** Own members, so that copies of an object have the values; shared, because that is the cheapest. */
  private static readonly members = DISTRIBUTIONS.map((metric) => {
    function get(this: ByMetric<unknown>): unknown {
      return this.#valueOf(metric);
    }
    return [metric, { enumerable: true, configurable: true, get }] as const;
  });
}

function metricValues(text: string | undefined): MetricValues {
  const values: MetricValues = { all: emptyHistogram(), starting: emptyHistogram(), loads: {} };
  for (const list of JSON.parse(text ?? '[]') as [part: number, ...histogram: PackedHistogram][]) {
    const histogram = unpacked(list, 1);
    if (list[0] === ALL) values.all = histogram;
    else if (list[0] === STARTING) values.starting = histogram;
    else values.loads[list[0]] = histogram;
  }
  return values;
}

function packed(histogram: Histogram): PackedHistogram {
  const buckets = sortedBuckets(histogram);
  const [first] = buckets;
  if (!first) return [];
  const list = [histogram.n, histogram.sum, histogram.sq, first[0]];
  let next = first[0];
  for (const [bucket, count] of buckets) {
    if (bucket > next) list.push(next - bucket);
    list.push(count);
    next = bucket + 1;
  }
  return list;
}

/** @param from index at which the histogram begins */
function unpacked(list: readonly number[], from = 0): Histogram {
  const histogram = emptyHistogram();
  if (list.length === from) return histogram;
  const { b } = histogram;
  histogram.n = list[from] as number;
  histogram.sum = list[from + 1] as number;
  histogram.sq = list[from + 2] as number;
  let bucket = list[from + 3] as number;
  for (let at = from + 4; at < list.length; at += 1) {
    const count = list[at] as number;
    if (count < 0) bucket -= count;
    else b[bucket++] = count;
  }
  return histogram;
}
