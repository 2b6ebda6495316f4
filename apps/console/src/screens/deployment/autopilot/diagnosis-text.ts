import { isMetric, metricOf } from '@slipway/sdk';
import { metricName } from '../../../rollouts/prediction-text.js';
import type { Tone } from '../../../ui/chip.js';
import type { LoadPoint } from '../../../ui/load-chart.js';
import type { PlotMark } from '../../../ui/plot.js';
import { metricText, numberText, rangeText, type ValueInterval } from '../../../ui/text/number-text.js';
import type { Diagnosis } from '../deployment-data.js';

export type SloDiagnosis = Diagnosis['slos'][number];
type Workload = Diagnosis['workload'];

const CAUSES: Record<string, [words: string, tone: Tone]> = {
  met: ['met', 'good'],
  errors: ['missed because of errors', 'bad'],
  intrinsic: ['missed even without load', 'bad'],
  load_dependent: ['missed under load', 'bad'],
  starting: ['missed while instances start', 'warn'],
  unknown: ['not clear', 'warn'],
};

/** A cause in words; one of a later api stays as it is. */
export function causeText(cause: string): { words: string; tone: Tone } {
  const [words, tone] = CAUSES[cause] ?? [cause.replaceAll('_', ' '), 'plain'];
  return { words, tone };
}

/** `1,110 ms (1,050 to 1,180 ms), 812 samples` */
export function measuredText(metric: string, measured: (ValueInterval & { n?: number }) | null): string | undefined {
  if (!measured) return undefined;
  const samples = measured.n === undefined ? '' : `, ${numberText(measured.n)} samples`;
  return `${metricText(metric, measured.value)} (${rangeText(metric, measured)})${samples}`;
}

/** `154 ms (120 to 198 ms) with 3 replicas at 8.1 requests per second` */
export function predictedText({ metric, predicted, replicas }: SloDiagnosis): string | undefined {
  if (!predicted) return undefined;
  const { needed, at_rate: rate } = replicas;
  const count = needed === null ? '' : ` with ${needed} ${needed === 1 ? 'replica' : 'replicas'}`;
  return `${measuredText(metric, predicted)}${count}${rate === null ? '' : ` at ${numberText(rate)} requests per second`}`;
}

export const replicasText = ({ replicas: { now, needed } }: SloDiagnosis): string =>
  needed === null ? `${now} now, unknown how many are needed` : `${now} now, ${needed} needed`;

/**
 * The load of an instance at the peak: the requests in progress, spread over the instances. Null if it is unknown. A
 * request that is alone on an instance has the load 1.
 */
export function peakLoad({ replicas: { now } }: Pick<SloDiagnosis, 'replicas'>, { observed }: Workload): number | null {
  const { concurrency } = observed;
  return concurrency === null || now === 0 ? null : Math.max(1, concurrency / now);
}

export interface LoadCurve {
  title: string;
  unit: string;
  points: LoadPoint[];
  limit: PlotMark;
  peak: PlotMark | null;
  description: string;
}

/** The curve of an SLO as its chart draws it: shares in percent. */
export function curveOf(slo: SloDiagnosis, workload: Workload): LoadCurve {
  const { metric, threshold, curve } = slo;
  const unit = isMetric(metric) ? metricOf(metric).unit : '';
  const times = unit === 'share' ? 100 : 1;
  const load = peakLoad(slo, workload);
  const limit = { value: threshold * times, label: `limit ${metricText(metric, threshold)}` };
  const peak = load === null ? null : { value: load, label: `load at the peak ${numberText(load)}` };
  const points = [...curve].sort((one, other) => one.load - other.load);
  const told = points.map((point) => `${measuredText(metric, point)} at load ${numberText(point.load)}`);
  return {
    title: `${metricName(slo)} by load`,
    unit: `${unit === 'share' ? '%' : unit}, by requests in flight on an instance`,
    points: points.map(({ load: at, value, low, high }) => ({
      load: at,
      value: value * times,
      low: low * times,
      high: high === null ? null : high * times,
    })),
    limit,
    peak,
    description: [`${metricName(slo)} by load: ${told.join('; ')}`, limit.label, peak?.label]
      .filter(Boolean)
      .join('; '),
  };
}

const MEMBERS = [
  ['request_rate', 'Requests per second'],
  ['concurrency', 'Requests in progress'],
  ['input_tokens_p95', 'Input tokens, p95'],
  ['output_tokens_p95', 'Output tokens, p95'],
] as const;

export interface WorkloadRow {
  name: string;
  declared: string;
  observed: string;
  /** Whether they differ by more than a quarter. */
  isMoved: boolean;
}

export const workloadRows = ({ declared, observed, moved }: Workload): WorkloadRow[] =>
  MEMBERS.map(([member, name]) => ({
    name,
    declared: numberText(declared[member]),
    observed: numberText(observed[member]),
    isMoved: moved.includes(member),
  }));
