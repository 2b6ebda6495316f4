import { metricOf } from '@slipway/contracts';
import { kindestValue, measure as measureMetric, type RequestStats } from '@slipway/dataplane';
import type { Slo } from '@slipway/ports/policies';

export interface SloMeasurement {
  /** In the metric's unit; null without samples. */
  value: number | null;
  /** The side of `value` that is kinder to the deployment, at the asked confidence. */
  kindest: number | null;
  n: number;
}

export type ThinReason = 'samples' | 'duration' | 'confidence';

export interface SloResult extends SloMeasurement {
  slo: Slo;
  verdict: 'met' | 'missed' | 'thin';
  /** Why the evidence is thin. */
  reason?: ThinReason;
}

/** What the records say of an SLO's metric, and what they would still say if chance had been unkind. */
export function measureSlo({ metric, stat }: Slo, stats: RequestStats, confidence: number): SloMeasurement {
  const { value, samples: n } = measureMetric(metric, stat, stats);
  if (n === 0) return { value: null, kindest: null, n };
  const digits = metricOf(metric).unit === 'share' ? 6 : 3;
  const kindest = kindestValue(metric, stat, stats, confidence);
  return { value: rounded(value, digits), kindest: rounded(kindest, digits), n };
}

function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits));
}
