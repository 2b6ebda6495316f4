import { isMetric, metricOf } from '@slipway/sdk';
import type { Plan } from '../api/items.js';
import type { Policy } from '../api/policy.js';
import { listOf, objectOf, objectsOf, type JsonObject } from '../ui/text/json-shape.js';
import { hourlyText, metricText, numberText, rangeText, type ValueInterval } from '../ui/text/number-text.js';

/** The expected change of one metric. */
export interface MetricPrediction {
  metric: string;
  stat: string;
  /** Null if it is not measured. */
  now: number | null;
  predicted: ValueInterval;
  /** How the interval was found: `90 % interval, not yet calibrated`. */
  basis: string;
}

/** The prediction of the autopilot in a plan. */
export interface PlanPrediction {
  metrics: MetricPrediction[];
  /** The cost and the assumptions in words, by their names. */
  facts: Record<string, string>;
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** The members of a plan that the prediction is read from. Older plans lack `assumes`. */
type PredictedPlan = Pick<Plan, 'predicted_impact'> & { assumes?: object | null };

/**
 * Reads the prediction of the autopilot. Null for a plan of a person, who may write any object there, and for an older
 * plan.
 */
export function planPrediction({ predicted_impact: impact, assumes }: PredictedPlan): PlanPrediction | null {
  const { metrics, cost, basis, gpu_hours: hours } = objectOf(impact);
  const read = listOf(metrics).flatMap(metricPrediction);
  if (read.length === 0) return null;
  return {
    metrics: read,
    facts: {
      ...costFacts(cost),
      ...(isNumber(hours) && { 'GPU hours': hoursText(hours) }),
      ...assumptionFacts(objectOf(assumes)),
      ...(typeof basis === 'string' && basis !== '' && { basis }),
    },
  };
}

function metricPrediction(row: unknown): MetricPrediction[] {
  const { metric, stat, now, predicted, confidence, calibrated_on: plans } = objectOf(row);
  const { value, low, high } = objectOf(predicted);
  if (typeof metric !== 'string' || !isNumber(value) || !isNumber(low)) return [];
  const interval = isNumber(confidence) ? `${numberText(100 * confidence)} % interval` : 'interval';
  const calibration = isNumber(plans) && plans > 0 ? `calibrated on ${plans} plans` : 'not yet calibrated';
  return [
    {
      metric,
      stat: typeof stat === 'string' ? stat : '',
      now: isNumber(now) ? now : null,
      predicted: { value, low, high: isNumber(high) ? high : null },
      basis: `${interval}, ${calibration}`,
    },
  ];
}

function costFacts(cost: unknown): Record<string, string> {
  if (cost === null || cost === undefined) return { cost: 'no price' };
  const { now, predicted } = objectOf(cost);
  return { 'cost now': moneyIn(now), 'cost predicted': moneyIn(predicted) };
}

/** As if the plan were kept for the whole period of the policy's budget. */
function hoursText(hours: number): string {
  if (hours === 0) return 'none more';
  return hours > 0 ? `at most ${numberText(hours)} more` : `${numberText(-hours)} fewer`;
}

function moneyIn(money: unknown): string {
  const { amount, currency } = objectOf(money);
  return hourlyText(isNumber(amount) && typeof currency === 'string' ? { amount, currency } : null);
}

const ASSUMPTIONS: [member: string, name: string, unit: string][] = [
  ['peak_request_rate', 'requests at the peak', ' per second'],
  ['input_tokens_p95', 'input tokens, p95', ''],
  ['output_tokens_p95', 'output tokens, p95', ''],
  ['engine_version', 'engine', ''],
];

const assumptionFacts = (assumes: JsonObject): Record<string, string> =>
  Object.fromEntries(
    ASSUMPTIONS.flatMap(([member, name, unit]) => {
      const value = assumes[member];
      if (isNumber(value)) return [[name, `${numberText(value)}${unit}`]];
      return typeof value === 'string' && value !== '' ? [[name, value]] : [];
    }),
  );

/** The name of a metric with its statistic; a rate has none. */
export const metricName = ({ metric, stat }: { metric: string; stat?: string | null }): string =>
  !stat || stat === 'rate' ? metric : `${metric} ${stat}`;

/** The prediction on one line, for a list: `ttft_ms p95 1,110 ms → 154 ms (120 to 198 ms)`. Null without a prediction. */
export function predictionLine(plan: PredictedPlan): string | null {
  const { metrics = [] } = planPrediction(plan) ?? {};
  const texts = metrics.map(({ metric, stat, now, predicted }) => {
    const before = now === null ? '' : `${metricText(metric, now)} → `;
    return `${metricName({ metric, stat })} ${before}${metricText(metric, predicted.value)} (${rangeText(metric, predicted)})`;
  });
  return texts.join('; ') || null;
}

export interface PredictionLimit {
  value: number;
  /** `limit`, or whose limit it is if that is not certain. */
  label: string;
}

/**
 * The limit of a metric: the SLO of the policy that the plan follows. If the policy has changed since, it is the
 * threshold of the plan's gate, or the current SLO with a note.
 */
export function limitOfPrediction(
  prediction: Pick<MetricPrediction, 'metric' | 'stat'>,
  plan: { policy_version?: number | null; execution?: object },
  policy: Pick<Policy, 'version' | 'slos'> | null | undefined,
): PredictionLimit | null {
  const slo = policy?.slos?.find((one) => isSame(one, prediction));
  if (slo && policy?.version === plan.policy_version) return { value: slo.threshold, label: 'limit' };
  const { metrics } = objectOf(objectOf(plan.execution)['analysis']);
  const check = objectsOf(metrics).find(
    (one) => isSame({ ...one, metric: one['name'] }, prediction) && isNumber(one['threshold']),
  );
  if (check) return { value: check['threshold'] as number, label: 'limit' };
  return slo ? { value: slo.threshold, label: `limit of policy version ${policy?.version}` } : null;
}

const isSame = (
  one: { metric?: unknown; stat?: unknown },
  { metric, stat }: Pick<MetricPrediction, 'metric' | 'stat'>,
) => one.metric === metric && (one.stat ?? (isMetric(metric) ? metricOf(metric).defaultStat : '')) === stat;
