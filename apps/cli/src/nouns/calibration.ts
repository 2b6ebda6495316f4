import { counted, intervalText, short, type MeasuredInterval } from '../progress/text.js';
import { tableLines, type Column, type TextOptions, type View } from '../table.js';
import { harmless, wordsOf } from '../terminal.js';

/** As the api answers. An answer of another version may lack any member, and the others are still shown. */
interface CalibrationAnswer {
  level_percent?: number;
  calibrated_on?: number;
  least_plans?: number;
  half_width_percent?: number;
  kinds?: readonly KindAnswer[];
}

interface KindAnswer {
  kind?: string;
  n?: number;
  coverage_percent?: number | null;
  median_error_percent?: number | null;
  bias_percent?: number | null;
  predictions?: readonly PredictionAnswer[];
}

interface PredictionAnswer {
  plan_id?: string;
  deployment?: string;
  at?: string;
  metric: string;
  stat?: string;
  predicted: MeasuredInterval;
  achieved: MeasuredInterval;
  within?: boolean;
}

export const CALIBRATION: View = {
  name: 'calibrated_on',
  columns: [{ title: 'CALIBRATED ON', of: 'calibrated_on' }],
  lines: calibrationLines,
};

/** The newest of a kind; `-o json` has all. */
const MOST_PREDICTIONS = 10;

function calibrationLines(calibration: CalibrationAnswer, look: TextOptions): string[] {
  const kinds = rowsIn(calibration.kinds);
  const lines = [stateText(calibration, kinds), ...widthLines(calibration)];
  if (kinds.length === 0) return [...lines, 'No executed plan has an outcome yet.'];
  const list = { ...look, isList: true };
  const parts = kinds.map((kind) => {
    const rows = rowsIn(kind.predictions).slice(0, MOST_PREDICTIONS);
    const title = harmless(`Newest predictions of ${wordsOf(kind.kind)}`);
    return rows.length === 0 ? [] : ['', look.paint?.(title, 'bold') ?? title, ...tableLines(rows, PREDICTIONS, list)];
  });
  return [...lines, '', ...tableLines(kinds, kindColumns(calibration), list), ...parts.flat()];
}

const rowsIn = <Row>(rows: readonly Row[] | undefined): readonly Row[] => (Array.isArray(rows) ? rows : []);

/** The predictions of people, and those of reverts, which repeat a measured value, calibrate no interval. */
const UNCOUNTED = ['manual', 'revert'];

/** From how many plans the intervals are, or how many more are needed. */
function stateText({ calibrated_on: on = 0, least_plans: least = 9 }: CalibrationAnswer, kinds: readonly KindAnswer[]) {
  if (on > 0) return `Calibrated on ${counted(on, 'executed plan')}.`;
  const measured = kinds.reduce((sum, { kind = '', n = 0 }) => (UNCOUNTED.includes(kind) ? sum : sum + n), 0);
  return `Not yet calibrated, ${Math.min(measured, least)} of ${least} plans.`;
}

function widthLines({ half_width_percent: width }: CalibrationAnswer): string[] {
  if (typeof width !== 'number') return [];
  const factor = Number((1 + width / 100).toFixed(3));
  return [`Half width of new intervals: ${short(width)} % (value / ${factor} to value * ${factor}).`];
}

const kindColumns = ({ level_percent: level }: CalibrationAnswer): Column[] => [
  { title: 'KIND', of: 'kind' },
  { title: 'PLANS', of: 'n' },
  { title: 'COVERAGE', of: (kind: KindAnswer) => coverageText(kind, level) },
  { title: 'MEDIAN ERROR', of: ({ median_error_percent: error }: KindAnswer) => percentText(error) },
  { title: 'BIAS', of: ({ bias_percent: bias }: KindAnswer) => biasText(bias) },
];

/** `86 of 100 plans were inside their interval; 90 are expected` */
function coverageText({ n, coverage_percent: coverage }: KindAnswer, level: number | undefined): string | undefined {
  if (typeof n !== 'number' || typeof coverage !== 'number') return undefined;
  const of = (percent: number): number => Math.round((percent * n) / 100);
  const expected = typeof level === 'number' ? `; ${of(level)} ${of(level) === 1 ? 'is' : 'are'} expected` : '';
  return `${of(coverage)} of ${counted(n, 'plan')} ${of(coverage) === 1 ? 'was inside its' : 'were inside their'} interval${expected}`;
}

const percentText = (value: number | null | undefined): string | undefined =>
  typeof value === 'number' ? `${short(value)} %` : undefined;

/** How much more than predicted was achieved. */
const biasText = (value: number | null | undefined): string | undefined =>
  typeof value === 'number' && value > 0 ? `+${short(value)} %` : percentText(value);

const PREDICTIONS: Column[] = [
  { title: 'PLAN', of: 'plan_id' },
  { title: 'DEPLOYMENT', of: 'deployment', isText: true },
  {
    title: 'METRIC',
    of: ({ metric, stat }: PredictionAnswer) => (stat === 'rate' || !stat ? metric : `${metric} ${stat}`),
  },
  { title: 'PREDICTED', of: ({ metric, predicted }: PredictionAnswer) => valueText(metric, predicted) },
  { title: 'ACHIEVED', of: ({ metric, achieved }: PredictionAnswer) => valueText(metric, achieved) },
  {
    title: 'INSIDE',
    of: ({ within }: PredictionAnswer) => (typeof within === 'boolean' ? (within ? 'yes' : 'no') : undefined),
  },
  { title: 'AT', of: 'at' },
];

const valueText = (metric: string, value: MeasuredInterval | null | undefined): string | undefined =>
  value ? intervalText(metric, value) : undefined;
