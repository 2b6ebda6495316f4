import { isMetric, metricOf, type Operation } from '@slipway/sdk';
import { isObject, listOf, objectOf } from '../ui/text/json-shape.js';
import { metricText, numberText } from '../ui/text/number-text.js';

export interface MeasuredValue {
  value: number | null;
  samples: number;
}

/** The result of an analysis for one metric, as the api stores it; a later api may add fields. */
export interface GateResult {
  metric: string;
  stat: string;
  check: string;
  verdict: string;
  candidate: MeasuredValue | null;
  baseline: MeasuredValue | null;
  limit: number;
  operator?: string;
  dry_run?: boolean;
  regression_percent: number | null;
  regression_bound_percent: number | null;
  regression_upper_percent: number | null;
}

/** The parts that the limit of a metric consists of. */
export type LimitedMetric = Pick<GateResult, 'metric' | 'check' | 'limit' | 'operator' | 'baseline'>;

/** The verdicts of one step. */
export interface Judgement {
  step: string;
  verdict: string;
  results: GateResult[];
}

const MOST_RESULTS = 40;

/** Returns the results in an analysis: its metrics, then its guards. Values of an unknown shape are ignored. */
export function resultsOf(analysis: unknown): GateResult[] {
  const { metrics, guards } = objectOf(analysis);
  const all = [...listOf(metrics), ...listOf(guards)];
  return all
    .filter((one) => isObject(one) && typeof one['metric'] === 'string' && typeof one['verdict'] === 'string')
    .slice(0, MOST_RESULTS) as GateResult[];
}

/** Returns the verdicts of all judged steps of an operation, the newest first. */
export function judgementsOf({ steps, result }: Pick<Operation, 'steps' | 'result'>): Judgement[] {
  const stored = objectOf(result['analysis']);
  return steps
    .map(({ name, evidence }) => {
      const analysis = resultsOf(evidence).length > 0 ? evidence : stored[name];
      const { verdict } = objectOf(analysis);
      return { step: name, verdict: typeof verdict === 'string' ? verdict : '', results: resultsOf(analysis) };
    })
    .filter(({ results }) => results.length > 0)
    .reverse();
}

/** `≤ 500 ms`, `≤ 20 % worse`, `≤ 5 points more`. A guard without a baseline is a threshold. */
export function limitText({ metric, check, limit, operator, baseline }: LimitedMetric): string {
  if (check === 'guard' && baseline) return `≤ ${numberText(100 * limit)} points more`;
  if (check === 'regression') return `≤ ${numberText(limit)} % worse`;
  return `${comparedBy(metric, operator)} ${metricText(metric, limit)}`;
}

/** Returns the sign in front of a threshold; without an operator, that of the metric. */
export const comparedBy = (metric: string, operator: string | undefined): string =>
  (operator ?? (isHigherBetter(metric) ? 'gte' : 'lte')) === 'gte' ? '≥' : '≤';

export const isHigherBetter = (metric: string): boolean => isMetric(metric) && metricOf(metric).better === 'higher';

/** `120`, or with a baseline `120, baseline 90` */
export function samplesText({ candidate, baseline }: Pick<GateResult, 'candidate' | 'baseline'>): string {
  const own = String(candidate?.samples ?? 0);
  return baseline ? `${own}, baseline ${baseline.samples}` : own;
}

/** `12 % (8 to 17)`: by how much the candidate is worse, and the bounds of that. Other checks than regressions have none. */
export function boundsText({
  regression_percent,
  regression_bound_percent,
  regression_upper_percent,
}: Pick<GateResult, 'regression_percent' | 'regression_bound_percent' | 'regression_upper_percent'>): string {
  if (typeof regression_percent !== 'number') return '–';
  return `${numberText(regression_percent)} % (${numberText(regression_bound_percent)} to ${numberText(regression_upper_percent)})`;
}
