import type { AnswerOf } from '@slipway/sdk';
import { metricName } from '../../rollouts/prediction-text.js';
import { metricText, numberText } from '../../ui/text/number-text.js';

export type Calibration = AnswerOf<'getAutopilotCalibration'>;
export type CalibrationKind = Calibration['kinds'][number];
type Prediction = CalibrationKind['predictions'][number];

/** The predictions of people, and those of reverts, which repeat a measured value, calibrate no interval. */
const UNCOUNTED: readonly string[] = ['manual', 'revert'];

/** From how many plans the intervals are, or how many more are needed. */
export function stateText({ calibrated_on: on, least_plans: least, kinds }: Calibration): string {
  if (on > 0) return `Calibrated on ${on} executed ${on === 1 ? 'plan' : 'plans'}.`;
  const measured = kinds.reduce((sum, { kind, n }) => (UNCOUNTED.includes(kind) ? sum : sum + n), 0);
  return `Not yet calibrated, ${Math.min(measured, least)} of ${least} plans.`;
}

/** New intervals are from value ÷ factor to value × factor. */
export const factorOf = ({ half_width_percent: percent }: Calibration): number => 1 + percent / 100;

export function widthText(calibration: Calibration): string {
  const factor = Number(factorOf(calibration).toFixed(3));
  const percent = numberText(calibration.half_width_percent);
  return `The half width of new intervals is ${percent} %: from the value ÷ ${factor} to the value × ${factor}.`;
}

/** `86 of 100 plans were inside their interval; 90 are expected` */
export function coverageText({ n, coverage_percent: coverage }: CalibrationKind, level: number): string {
  if (coverage === null) return 'No plan has changed a metric by at least 20 % yet.';
  const [inside, expected] = [coverage, level].map((percent) => Math.round((percent * n) / 100)) as [number, number];
  const were = inside === 1 ? 'was inside its' : 'were inside their';
  return `${inside} of ${n} ${n === 1 ? 'plan' : 'plans'} ${were} interval; ${expected} ${expected === 1 ? 'is' : 'are'} expected.`;
}

/** `7.25 %`, with a sign if it is a bias. */
export function percentText(value: number | null, { isSigned = false } = {}): string {
  if (value === null) return 'unknown';
  return `${isSigned && value > 0 ? '+' : ''}${numberText(value)} %`;
}

interface MetricPredictions {
  name: string;
  metric: string;
  predictions: Prediction[];
}

/** The predictions by metric: values of different units do not share an axis. */
export function metricsOf({ predictions }: Pick<CalibrationKind, 'predictions'>): MetricPredictions[] {
  const groups = new Map<string, MetricPredictions>();
  for (const prediction of predictions) {
    const name = metricName(prediction);
    const group = groups.get(name) ?? { name, metric: prediction.metric, predictions: [] };
    group.predictions.push(prediction);
    groups.set(name, group);
  }
  return [...groups.values()];
}

/** Positions are from 0 to 100, from the left and from the top. */
export interface CalibrationPlot {
  dots: { x: number; y: number; isInside: boolean }[];
  /** The corners of the band. */
  band: string;
  /** The ends of both axes. */
  least: string;
  most: string;
  /** The picture in words, for a screen reader. */
  description: string;
}

/** On logarithmic axes the band of an interval is as wide everywhere. Null if no value is above zero. */
export function plotOf({ name, metric, predictions }: MetricPredictions, factor: number): CalibrationPlot | null {
  const drawn = predictions.filter(({ predicted, achieved }) => predicted.value > 0 && achieved.value > 0);
  if (drawn.length === 0) return null;
  const values = drawn.flatMap(({ predicted, achieved }) => [predicted.value, achieved.value]);
  const [least, most] = [Math.min(...values) / MARGIN, Math.max(...values) * MARGIN];
  const at = (value: number): number => (100 * Math.log(value / least)) / Math.log(most / least);
  const half = (100 * Math.log(factor)) / Math.log(most / least);
  const inside = predictions.filter(({ within }) => within).length;
  return {
    dots: drawn.map(({ predicted, achieved, within }) => ({
      x: at(predicted.value),
      y: 100 - at(achieved.value),
      isInside: within,
    })),
    band: [
      [0, 100 - half],
      [100, -half],
      [100, half],
      [0, 100 + half],
    ]
      .map((corner) => corner.map((value) => value.toFixed(2)).join(','))
      .join(' '),
    least: metricText(metric, least),
    most: metricText(metric, most),
    description: `${name}, achieved by predicted value: ${inside} of ${predictions.length} predictions were inside their interval`,
  };
}

/** So that no dot is on the edge, and one value alone has an axis. */
const MARGIN = 1.25;
