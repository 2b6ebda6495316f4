/** How a metric is computed from the values of many requests. */
export const STATS = ['avg', 'p50', 'p90', 'p95', 'p99', 'rate'] as const;
export type Stat = (typeof STATS)[number];

interface CommonMetric {
  /** For people: the OpenAPI document and the gateway's `/metrics` show it. */
  description: string;
  unit: 'share' | 'ms' | 'tokens/s';
  /** The better direction. */
  better: 'lower' | 'higher';
  stats: readonly Stat[];
  defaultStat: Stat;
}

/** The outcomes that a rate counts. */
export type RateCount = 'failed' | 'client_error' | 'overloaded' | 'abandoned';

/** A share of 0..1, counted by results. */
export interface RateMetric extends CommonMetric {
  kind: 'rate';
  counts: RateCount;
  /**
   * The unit that is counted. `requests`: as clients saw them; an attempt followed by another one does not count.
   * `attempts`: each try on an instance.
   */
  of: 'requests' | 'attempts';
}

/** Values of successful requests, in a histogram. */
export interface DistributionMetric extends CommonMetric {
  kind: 'distribution';
  /** The title of its chart in the console. */
  title: string;
  /** Until when concurrent requests count as the load at which a value was measured. */
  loadUntil: 'first_token' | 'end';
  /**
   * Whether the value is that time itself. A long request then overlaps with more others, and a comparison at equal
   * load corrects for that.
   */
  isThatTime: boolean;
  /** Name on the gateway's `/metrics`. */
  prometheus: string;
}

export type MetricDefinition = RateMetric | DistributionMetric;

const RATE = { kind: 'rate', unit: 'share', better: 'lower', stats: ['rate'], defaultStat: 'rate' } as const;
const DISTRIBUTION = {
  kind: 'distribution',
  stats: ['avg', 'p50', 'p90', 'p95', 'p99'],
  defaultStat: 'p95',
  loadUntil: 'end',
  isThatTime: false,
} as const;

/**
 * The metrics of the gateways, for gates, SLOs and plans. A new metric is an entry here, and the line in
 * `libs/gateway/src/telemetry/measurement.ts` that measures it.
 */
export const METRICS = {
  error_rate: {
    ...RATE,
    description:
      'Share of requests that failed for the client: 5xx responses, broken connections, and answers that are no valid answer',
    counts: 'failed',
    of: 'requests',
  },
  client_error_rate: {
    ...RATE,
    description: 'Share of requests that the model server refused with another 4xx than 408, 425 and 429',
    counts: 'client_error',
    of: 'requests',
  },
  overloaded_rate: {
    ...RATE,
    description: 'Share of requests that ended with 408, 425 or 429 of the model server',
    counts: 'overloaded',
    of: 'requests',
  },
  abandoned_rate: {
    ...RATE,
    description:
      'Share of requests that the client left, or that still wait, before the first byte and after at least 2 s',
    counts: 'abandoned',
    of: 'requests',
  },
  upstream_fault_rate: {
    ...RATE,
    description: 'Share of attempts on instances that failed, including those after which a retry succeeded',
    counts: 'failed',
    of: 'attempts',
  },
  ttft_ms: {
    ...DISTRIBUTION,
    title: 'Time to first token',
    description: 'Time to first token of streams',
    unit: 'ms',
    better: 'lower',
    loadUntil: 'first_token',
    isThatTime: true,
    prometheus: 'slipway_gateway_ttft_milliseconds',
  },
  itl_ms: {
    ...DISTRIBUTION,
    title: 'Time per output token',
    description: 'Time per output token of a stream after the first one; one value for each stream',
    unit: 'ms',
    better: 'lower',
    prometheus: 'slipway_gateway_inter_token_milliseconds',
  },
  longest_gap_ms: {
    ...DISTRIBUTION,
    title: 'Longest gap in a stream',
    description: 'Longest time between two events with tokens of a stream; one value for each stream',
    unit: 'ms',
    better: 'lower',
    prometheus: 'slipway_gateway_longest_gap_milliseconds',
  },
  e2e_latency_ms: {
    ...DISTRIBUTION,
    title: 'End-to-end latency',
    description: 'Total time of successful attempts',
    unit: 'ms',
    better: 'lower',
    isThatTime: true,
    prometheus: 'slipway_gateway_latency_milliseconds',
  },
  output_tokens_per_s: {
    ...DISTRIBUTION,
    title: 'Output rate of a request',
    description: 'Completion tokens per second of each successful attempt',
    unit: 'tokens/s',
    better: 'higher',
    prometheus: 'slipway_gateway_output_tokens_per_second',
  },
} as const satisfies Record<string, MetricDefinition>;

export type Metric = keyof typeof METRICS;

/** The metrics that are histograms. */
export type Distribution = { [M in Metric]: (typeof METRICS)[M]['kind'] extends 'distribution' ? M : never }[Metric];

export const METRIC_NAMES = Object.keys(METRICS) as [Metric, ...Metric[]];
export const DISTRIBUTIONS = METRIC_NAMES.filter(isDistribution);

export function isMetric(name: string): name is Metric {
  return Object.hasOwn(METRICS, name);
}

export function metricOf(name: Metric): MetricDefinition {
  return METRICS[name];
}

export function isDistribution(name: Metric): name is Distribution {
  return metricOf(name).kind === 'distribution';
}

/** Returns whether a value is on the wrong side of a limit. A value equal to the limit is not. */
export function isBeyond(name: Metric, value: number, limit: number): boolean {
  return metricOf(name).better === 'higher' ? value < limit : value > limit;
}
