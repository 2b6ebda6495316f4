import { DISTRIBUTIONS, type Distribution } from '@slipway/contracts';
import { HistogramRecorder, mergeHistograms, subtractHistograms, type Histogram } from './histogram.js';

/** The requests of a revision by the load of their instance. Absent in rows of old gateways: their load is unknown. */
export interface Loads {
  /** Ready instances that a gateway chose from; the maximum over the windows. */
  instances: number;
  /** Milliseconds that requests on an empty instance spent alone there, until the first other request joined them. */
  alone_ms: number;
  /** How many of those were joined. */
  joined: number;
  /** The values by metric, and then by bucket of load (`loadBucketOf`). */
  histograms: Record<Distribution, Record<string, Histogram>>;
}

/** Below this the request was alone, except for moments that change no latency. */
const ALONE = 1.03;
const BUCKETS_PER_OCTAVE = 2;
/** 256 requests in flight and more share one bucket, so a row has at most 18 buckets for each metric. */
const HIGHEST = 1 + 8 * BUCKETS_PER_OCTAVE;

/** @param load average requests in flight on the instance over the measured time, including the request itself */
export function loadBucketOf(load: number): number {
  if (!(load >= ALONE)) return 0;
  return Math.min(HIGHEST, 1 + Math.floor(Math.log2(load) * BUCKETS_PER_OCTAVE));
}

/** Returns the load that a bucket represents. */
export function loadOf(bucket: number): number {
  return bucket === 0 ? 1 : 2 ** ((bucket - 0.5) / BUCKETS_PER_OCTAVE);
}

export function emptyLoads(): Loads {
  return { instances: 0, alone_ms: 0, joined: 0, histograms: eachDistribution(() => ({})) };
}

/** One gateway's part of a merge. `hidden` is the load on an instance that this gateway could not see. */
export interface LoadsPart {
  loads: Loads;
  hidden: number;
}

/** The loads that one gateway recorded of a revision in some time. */
export interface RecordedLoads {
  gatewayId: string;
  loads: Loads | null;
  /** Sum of the durations of its requests. */
  busyMs: number;
}

/**
 * A gateway sees only the requests that it sent to an instance itself. The load of the others in the same time follows
 * from the durations of their requests (Little's law), and is spread over the instances.
 */
export function loadsParts(rows: readonly RecordedLoads[], windowMs: number): LoadsPart[] {
  const busyMs = new Map<string, number>();
  for (const row of rows) busyMs.set(row.gatewayId, (busyMs.get(row.gatewayId) ?? 0) + row.busyMs);
  const all = [...busyMs.values()].reduce((sum, one) => sum + one, 0);
  return rows.flatMap(({ gatewayId, loads }) => {
    if (!loads) return [];
    const othersMs = all - (busyMs.get(gatewayId) as number);
    return [{ loads, hidden: othersMs / windowMs / Math.max(1, loads.instances) }];
  });
}

/** Returns the loads without those of some of the requests. */
export function subtractLoads(whole: Loads, part: Loads): Loads {
  return {
    instances: whole.instances,
    alone_ms: Math.max(0, whole.alone_ms - part.alone_ms),
    joined: Math.max(0, whole.joined - part.joined),
    histograms: eachDistribution((metric) => {
      const parts = part.histograms[metric] ?? {};
      const left = Object.entries(whole.histograms[metric] ?? {}).map(([bucket, histogram]) => {
        const some = parts[bucket];
        return [bucket, some ? subtractHistograms(histogram, some) : histogram] as const;
      });
      return Object.fromEntries(left.filter(([, { n }]) => n > 0));
    }),
  };
}

/** Adds to each gateway's own load the average load of the other gateways in the same time. */
export function mergeLoads(parts: readonly LoadsPart[]): Loads {
  const all = parts.map(({ loads }) => loads);
  return {
    instances: Math.max(0, ...all.map(({ instances }) => instances)),
    alone_ms: all.reduce((sum, one) => sum + one.alone_ms, 0),
    joined: all.reduce((sum, one) => sum + one.joined, 0),
    histograms: eachDistribution((metric) => {
      const found = new Map<number, Histogram[]>();
      for (const { loads, hidden } of parts)
        for (const [bucket, histogram] of Object.entries(loads.histograms[metric] ?? {})) {
          const at = loadBucketOf(loadOf(Number(bucket)) + hidden);
          const some = found.get(at);
          if (some) some.push(histogram);
          else found.set(at, [histogram]);
        }
      return Object.fromEntries([...found].map(([bucket, some]) => [bucket, mergeHistograms(some)]));
    }),
  };
}

/** Collects values by load on a hot path; an empty bucket takes no memory. */
export class LoadRecorder {
  instances = 0;
  aloneMs = 0;
  joined = 0;
  private readonly recorders = eachDistribution(() => new Map<number, HistogramRecorder>());

  at(metric: Distribution, load: number): HistogramRecorder {
    const bucket = loadBucketOf(load);
    let recorder = this.recorders[metric].get(bucket);
    if (!recorder) {
      recorder = new HistogramRecorder();
      this.recorders[metric].set(bucket, recorder);
    }
    return recorder;
  }

  snapshot(): Loads {
    return {
      instances: this.instances,
      alone_ms: Math.round(this.aloneMs * 1e3) / 1e3,
      joined: this.joined,
      histograms: eachDistribution((metric) => {
        const filled = [...this.recorders[metric]].map(([bucket, one]) => [bucket, one.snapshot()] as const);
        return Object.fromEntries(filled.filter(([, { n }]) => n > 0));
      }),
    };
  }
}

function eachDistribution<T>(make: (metric: Distribution) => T): Record<Distribution, T> {
  return Object.fromEntries(DISTRIBUTIONS.map((metric) => [metric, make(metric)])) as Record<Distribution, T>;
}
