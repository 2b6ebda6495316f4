import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import type { Histogram } from '../statistics/histogram.js';
import type { AttemptCounts } from '../statistics/stats.query.js';
import { packHistogram, unpackHistogram } from './packed-histogram.js';
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
  /** Packed histograms, as are the next two. */
  held: string;
  input_tokens: string;
  output_tokens: string;
  kv_usage: number | null;
  waiting: number | null;
  /**
   * By metric: packed histograms, with `|` between them, of all values, of those of starting instances, and of each
   * bucket of load, from 0 on. A metric that is younger than the row is absent.
   */
  values: Partial<Record<Distribution, string>>;
}

/** The columns of a row that readers need. */
export interface RecordRow {
  /** Seconds since 1970. */
  at: number;
  seconds: RecordSeconds;
  arrivals: number;
  refused: number;
  record: StoredRecord;
}

/** Place of the first bucket of load among the parts of a metric, after all values and those of starting instances. */
const FIRST_LOAD = 2;
const BETWEEN = '|';

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
    held: packHistogram(record.held),
    input_tokens: packHistogram(record.inputTokens),
    output_tokens: packHistogram(record.outputTokens),
    kv_usage: record.kvUsage,
    waiting: record.waiting,
    values: Object.fromEntries(
      DISTRIBUTIONS.map((metric) => {
        const parts = [stats[metric], starting[metric]].map(packHistogram);
        for (const [load, histogram] of Object.entries(stats.loads.histograms[metric]))
          parts[FIRST_LOAD + Number(load)] = packHistogram(histogram);
        return [metric, parts.join(BETWEEN)];
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
    held: unpackHistogram(record.held),
    refused,
    inputTokens: unpackHistogram(record.input_tokens),
    outputTokens: unpackHistogram(record.output_tokens),
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

function metricValues(text = ''): MetricValues {
  const parts: Histogram[] = [];
  for (let from = 0; from <= text.length;) {
    const next = text.indexOf(BETWEEN, from);
    const to = next < 0 ? text.length : next;
    parts.push(unpackHistogram(text, from, to));
    from = to + 1;
  }
  const [all = unpackHistogram(''), starting = unpackHistogram(''), ...byLoad] = parts;
  const loads: Record<string, Histogram> = {};
  byLoad.forEach((histogram, load) => {
    if (histogram.n > 0) loads[load] = histogram;
  });
  return { all, starting, loads };
}
