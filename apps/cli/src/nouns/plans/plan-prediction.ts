import { counted, intervalText, measured, short, type MeasuredInterval } from '../../progress/text.js';
import { wordsOf } from '../../terminal.js';

export interface Money {
  amount?: unknown;
  currency?: unknown;
}

/** The prediction of the autopilot for its plan. People and older versions write any other object. */
interface PlanPrediction {
  metrics: readonly MetricPrediction[];
  cost?: { now?: Money | null; predicted?: Money | null } | null;
  basis?: unknown;
  gpu_hours?: unknown;
}

interface MetricPrediction {
  metric: string;
  stat?: unknown;
  now?: number | null;
  predicted: MeasuredInterval;
  confidence?: unknown;
  calibrated_on?: unknown;
}

interface PlanAssumptions {
  peak_request_rate?: unknown;
  input_tokens_p95?: unknown;
  output_tokens_p95?: unknown;
  engine_version?: unknown;
}

/** @returns undefined without a prediction that can be read */
function predictionOf(plan: object): PlanPrediction | undefined {
  const { predicted_impact: impact } = plan as { predicted_impact?: Partial<PlanPrediction> | null };
  if (!Array.isArray(impact?.metrics)) return undefined;
  const metrics = impact.metrics.filter(isReadable);
  return metrics.length > 0 ? { ...impact, metrics } : undefined;
}

function isReadable(row: unknown): row is MetricPrediction {
  const { metric, predicted } = (row ?? {}) as Partial<MetricPrediction>;
  const { value, low, high } = predicted ?? {};
  const isInterval =
    [value, low].every((one) => typeof one === 'number') && (high === null || typeof high === 'number');
  return typeof metric === 'string' && isInterval;
}

/** `ttft_ms p95 from 1110 ms to 154 ms (120 to 198, confidence 90 %, not yet calibrated)` for each metric. */
function metricTexts({ metrics }: PlanPrediction): string[] {
  return metrics.map(({ metric, stat, now, predicted, confidence, calibrated_on: plans }) => {
    const name = stat === 'rate' || !stat ? metric : `${metric} ${wordsOf(stat)}`;
    const before = typeof now === 'number' ? ` from ${measured(metric, now)}` : '';
    const notes = [
      ...(typeof confidence === 'number' ? [`confidence ${short(100 * confidence)} %`] : []),
      ...(typeof plans === 'number'
        ? [plans > 0 ? `calibrated on ${counted(plans, 'plan')}` : 'not yet calibrated']
        : []),
    ];
    return `${name}${before} to ${intervalText(metric, predicted, notes)}`;
  });
}

/** The prediction in one cell. An object of a person stays as it is. */
export function predictionText(plan: object): unknown {
  const prediction = predictionOf(plan);
  return prediction ? metricTexts(prediction).join('; ') : (plan as { predicted_impact?: unknown }).predicted_impact;
}

/** `1.60 EUR/h now, 2.40 EUR/h predicted` */
export function planCostText(plan: object): string | undefined {
  const prediction = predictionOf(plan);
  if (!prediction) return undefined;
  const { cost, gpu_hours: hours } = prediction;
  const text = cost
    ? `${hourlyText(cost.now)} now, ${hourlyText(cost.predicted)} predicted`
    : 'no price for the devices';
  return typeof hours === 'number' ? `${text}; ${hoursText(hours)}` : text;
}

/** As if the plan were kept for the whole period of the policy's budget. */
function hoursText(hours: number): string {
  if (hours === 0) return 'no GPU hours more';
  const amount = short(Math.abs(hours));
  const text = `${amount} GPU ${amount === '1' ? 'hour' : 'hours'}`;
  return hours > 0 ? `at most ${text} more` : `${text} fewer`;
}

/** `up to 8.1 requests/s, input tokens p95 900, engine vllm 0.11` */
export function assumptionsText(plan: object): string | undefined {
  const { assumes } = plan as { assumes?: PlanAssumptions | null };
  if (!assumes) return undefined;
  const { peak_request_rate: rate, input_tokens_p95: input, output_tokens_p95: output, engine_version } = assumes;
  const texts = [
    typeof rate === 'number' && `up to ${short(rate)} requests/s`,
    typeof input === 'number' && `input tokens p95 ${short(input)}`,
    typeof output === 'number' && `output tokens p95 ${short(output)}`,
    typeof engine_version === 'string' && `engine ${engine_version}`,
  ].filter(Boolean);
  return texts.join(', ') || undefined;
}

/** The prediction of the autopilot, for an approver to read before the approval. */
export function predictionLines(plan: object): string[] {
  const prediction = predictionOf(plan);
  if (!prediction) return [];
  const assumes = assumptionsText(plan);
  return [
    ...metricTexts(prediction).map((text) => `Predicted: ${text}`),
    `Cost: ${planCostText(plan)}`,
    ...(assumes ? [`Assumes: ${assumes}`] : []),
  ];
}

const AMOUNT = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 6, useGrouping: false });

/** The price of an hour: `0.80 EUR/h`; `no price` if the operator's file has none. */
export const hourlyText = (price: Money | null | undefined): string =>
  typeof price?.amount === 'number' ? `${AMOUNT.format(price.amount)} ${wordsOf(price.currency)}/h` : 'no price';
