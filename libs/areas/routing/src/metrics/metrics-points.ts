import {
  addedCounts,
  emptyLoads,
  histogramsOf,
  measure,
  mergeHistograms,
  requestFailures,
  type RequestStats,
  type SeriesStep,
} from '@slipway/dataplane';
import type { Distribution, Metric } from '@slipway/contracts';
import type { DistributionDto, MetricsPointDto, RateDto } from './deployment-metrics.dto.js';

/** One step, or the whole time, by the measures that gates use. @param seconds how much of it is recorded */
export function pointOf({ at, stats, instances }: SeriesStep, seconds: number): MetricsPointDto {
  return {
    at: at.toISOString(),
    seconds,
    attempts: stats.counts,
    requests_per_s: rounded(requestFailures(stats.counts).of / seconds, 3),
    streamed: stats.streamed,
    tokens_in: stats.tokens_in,
    tokens_out: stats.tokens_out,
    tokens_out_per_s: rounded(stats.tokens_out / seconds, 1),
    instances,
    error_rate: rate('error_rate', stats),
    upstream_fault_rate: rate('upstream_fault_rate', stats),
    ttft_ms: distribution('ttft_ms', stats),
    itl_ms: distribution('itl_ms', stats),
    e2e_latency_ms: distribution('e2e_latency_ms', stats),
    output_tokens_per_s: distribution('output_tokens_per_s', stats),
  };
}

/** The steps as one. @param at where they begin, also where the first one is absent */
export function addUp(steps: readonly SeriesStep[], at: Date): SeriesStep {
  const sum = (pick: (stats: RequestStats) => number): number =>
    steps.reduce((total, { stats }) => total + pick(stats), 0);
  const known = steps.flatMap(({ instances }) => instances ?? []);
  return {
    at,
    instances: known.length === 0 ? null : Math.max(...known),
    stats: {
      counts: addedCounts(steps.map(({ stats }) => stats.counts)),
      streamed: sum(({ streamed }) => streamed),
      tokens_in: sum(({ tokens_in }) => tokens_in),
      tokens_out: sum(({ tokens_out }) => tokens_out),
      ...histogramsOf((metric) => mergeHistograms(steps.map(({ stats }) => stats[metric]))),
      loads: emptyLoads(),
    },
  };
}

function rate(metric: RateName, stats: RequestStats): RateDto {
  const { value, samples } = measure(metric, 'rate', stats);
  return { rate: value === null ? null : rounded(value, 6), samples };
}

function distribution(metric: Distribution, stats: RequestStats): DistributionDto {
  const value = (stat: 'avg' | 'p50' | 'p90' | 'p95' | 'p99'): number | null => {
    const measured = measure(metric, stat, stats).value;
    return measured === null ? null : rounded(measured, 1);
  };
  const { samples } = measure(metric, 'avg', stats);
  return { avg: value('avg'), p50: value('p50'), p90: value('p90'), p95: value('p95'), p99: value('p99'), samples };
}

type RateName = Exclude<Metric, Distribution>;

/** Histograms know a value to a few percent: more digits would pretend. */
function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
