import {
  addedCounts,
  attemptFailures,
  histogramsOf,
  mergeHistograms,
  mergeLoads,
  statsBetween,
  type RequestStats,
  kindestValue,
  readMetric,
} from '@slipway/dataplane';
import type { Tx } from '@slipway/platform-database';
import { metricOf } from '@slipway/contracts';
import type { Slo } from '@slipway/ports/policies';

/** The records of a revision in [from, to). */
export interface Telemetry {
  revisionId: string;
  from: Date;
  to: Date;
  stats: RequestStats;
  /** Attempts in each of the equal parts of the time, oldest first: shows whether the samples are spread over it. */
  parts: number[];
}

const LEAST_PARTS = 10;
/** One read of a busy deployment covers one row per second and gateway. */
const MOST_PART_SECONDS = 900;

/** Reads the records of the seconds before `until`, part by part, so that a long time needs no more memory than a short one. */
export async function readTelemetry(tx: Tx, revisionId: string, until: Date, seconds: number): Promise<Telemetry> {
  const partSeconds = Math.min(MOST_PART_SECONDS, Math.max(1, Math.floor(seconds / LEAST_PARTS)));
  const to = Math.floor(until.getTime() / 1_000) * 1_000;
  const from = to - seconds * 1_000;
  const parts: number[] = [];
  let stats: RequestStats | undefined;
  for (let at = from; at < to; at += partSeconds * 1_000) {
    const part = await statsBetween(tx, revisionId, new Date(at), new Date(Math.min(to, at + partSeconds * 1_000)));
    parts.push(attemptFailures(part.counts).of);
    stats = stats ? merged(stats, part) : part;
  }
  if (!stats) throw new Error('Telemetry was requested for an empty time range');
  return { revisionId, from: new Date(from), to: new Date(to), stats, parts };
}

function merged(one: RequestStats, other: RequestStats): RequestStats {
  return {
    counts: addedCounts([one.counts, other.counts]),
    streamed: one.streamed + other.streamed,
    tokens_in: one.tokens_in + other.tokens_in,
    tokens_out: one.tokens_out + other.tokens_out,
    ...histogramsOf((metric) => mergeHistograms([one[metric], other[metric]])),
    loads: mergeLoads([one, other].map(({ loads }) => ({ loads, hidden: 0 }))),
  };
}

export interface SloMeasurement {
  /** In the metric's unit; null without samples. */
  value: number | null;
  /** The end of the confidence interval that is kinder to the deployment, at the requested confidence. */
  kindest: number | null;
  n: number;
}

export type ThinReason = 'samples' | 'duration' | 'confidence';

export interface SloResult extends SloMeasurement {
  slo: Slo;
  verdict: 'met' | 'missed' | 'thin';
  /** The reason why the evidence is thin. */
  reason?: ThinReason;
}

/** Returns an SLO's metric from the records, and the value it could have if chance had been unkind. */
export function measureSlo({ metric, stat }: Slo, stats: RequestStats, confidence: number): SloMeasurement {
  const { value, samples: n } = readMetric(metric, stat, stats);
  if (n === 0) return { value: null, kindest: null, n };
  const digits = metricOf(metric).unit === 'share' ? 6 : 3;
  const kindest = kindestValue(metric, stat, stats, confidence);
  return { value: rounded(value, digits), kindest: rounded(kindest, digits), n };
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}
