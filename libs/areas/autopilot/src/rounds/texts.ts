import { metricOf } from '@slipway/contracts';
import type { Goal, GoalDiagnosis, Interval } from '@slipway/diagnosis';
import type { Money } from '@slipway/platform-config';
import type { MetricPrediction } from './situation.js';

/* Numbers and names in the sentences that people read. */

const NAMES: Partial<Record<string, string>> = {
  ttft_ms: 'TTFT',
  itl_ms: 'Time per output token',
  longest_gap_ms: 'Longest gap',
  e2e_latency_ms: 'End-to-end latency',
  output_tokens_per_s: 'Output rate',
  error_rate: 'Error rate',
  client_error_rate: 'Client error rate',
  overloaded_rate: 'Overloaded rate',
  abandoned_rate: 'Abandoned rate',
  upstream_fault_rate: 'Upstream fault rate',
  availability_percent: 'Availability',
};

type MetricReference = Pick<MetricPrediction, 'metric' | 'stat'>;

/** Such as `TTFT p95`. */
export function nameOf({ metric, stat }: MetricReference): string {
  const name = NAMES[metric] ?? metric;
  return stat === 'rate' ? name : `${name} ${stat}`;
}

/** Three significant digits, with separators of thousands. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return 'unlimited';
  return value.toLocaleString('en-US', { maximumSignificantDigits: Math.abs(value) >= 1_000 ? 4 : 3 });
}

/** Returns six significant digits for stored values and answers: more would be noise. */
export function exact(value: number): number {
  return Number(value.toPrecision(6));
}

function unitOf(metric: MetricReference['metric']): string {
  if (metric === 'availability_percent') return ' %';
  const { unit } = metricOf(metric);
  return unit === 'share' ? ' %' : ` ${unit}`;
}

function scaled(metric: MetricReference['metric'], value: number): number {
  return metric !== 'availability_percent' && metricOf(metric).unit === 'share' ? value * 100 : value;
}

/** A value with its unit. */
export function valueText(metric: MetricReference['metric'], value: number): string {
  return `${digitsOf(metric, value)}${unitOf(metric)}`;
}

/** Availabilities close to 100 differ only in later digits. */
function digitsOf(metric: MetricReference['metric'], value: number): string {
  if (metric === 'availability_percent') return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
  return numberText(scaled(metric, value));
}

/** Such as `106 ms (95 to 118)`. */
export function intervalText(metric: MetricReference['metric'], { value, low, high }: Interval): string {
  return `${valueText(metric, value)} (${digitsOf(metric, low)} to ${digitsOf(metric, high)})`;
}

/** Such as `TTFT p95 is 1,110 ms, limit 500`. */
export function standingText({ goal, value }: Pick<GoalDiagnosis, 'goal' | 'value'>): string {
  const limit = digitsOf(goal.metric, goal.threshold);
  if (!value) return `${nameOf(goal)} has no value, limit ${limit}`;
  return `${nameOf(goal)} is ${valueText(goal.metric, value.value)}, limit ${limit}`;
}

/** Such as `TTFT p95 154 ms (120 to 198, not yet calibrated)`. */
export function predictionText({ metric, stat, predicted }: MetricPrediction, calibratedOn: number): string {
  const { low, high } = predicted;
  const note = calibratedOn > 0 ? `by ${calibratedOn} earlier plans` : 'not yet calibrated';
  return `${nameOf({ metric, stat })} ${valueText(metric, predicted.value)} (${digitsOf(metric, low)} to ${digitsOf(metric, high)}, ${note})`;
}

export function rateText(requestsPerSecond: number): string {
  return `${numberText(requestsPerSecond)} requests/s`;
}

export function moneyText({ amount, currency }: Money): string {
  return `${amount.toLocaleString('en-US', { maximumFractionDigits: 2 })} ${currency}`;
}

/** Such as `30 min`, for durations that people configure in seconds. */
export function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

export function listText(texts: readonly string[]): string {
  return texts.join('; ');
}

export function goalNames(goals: readonly Goal[]): string {
  return goals.map(nameOf).join(', ');
}
