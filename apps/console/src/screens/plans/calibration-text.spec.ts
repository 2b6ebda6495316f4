import { describe, expect, it } from '@jest/globals';
import {
  coverageText,
  factorOf,
  metricsOf,
  percentText,
  plotOf,
  stateText,
  widthText,
  type Calibration,
  type CalibrationKind,
} from './calibration-text.js';

type Prediction = CalibrationKind['predictions'][number];

const prediction = (predicted: number, achieved: number, more: Partial<Prediction> = {}): Prediction => ({
  plan_id: 'plan_1',
  deployment: 'chat',
  phase: 'window',
  at: '2026-01-01T12:00:00.000Z',
  metric: 'ttft_ms',
  stat: 'p95',
  now: 1110,
  predicted: { value: predicted, low: predicted / 1.25, high: predicted * 1.25 },
  achieved: { value: achieved, low: achieved, high: null, n: 812 },
  within: true,
  moved: true,
  ...more,
});
const kind = (more: Partial<CalibrationKind> = {}): CalibrationKind => ({
  kind: 'scale_up',
  n: 100,
  coverage_percent: 86,
  median_error_percent: 7.25,
  bias_percent: -2,
  predictions: [],
  ...more,
});
const calibration = (more: Partial<Calibration> = {}): Calibration => ({
  level_percent: 90,
  calibrated_on: 101,
  least_plans: 9,
  half_width_percent: 25,
  kinds: [kind()],
  ...more,
});

it('says from how many plans the intervals are, or how many of the autopilot are needed', () => {
  const of = (n: number) =>
    stateText(
      calibration({
        calibrated_on: 0,
        kinds: [
          kind({ n }),
          kind({ kind: 'retarget', n: 1 }),
          ...['manual', 'revert'].map((one) => kind({ kind: one as 'manual' })),
        ],
      }),
    );
  expect(stateText(calibration())).toBe('Calibrated on 101 executed plans.');
  expect([of(3), of(100)]).toEqual(['Not yet calibrated, 4 of 9 plans.', 'Not yet calibrated, 9 of 9 plans.']);
  expect(stateText(calibration({ calibrated_on: 0, kinds: [] }))).toBe('Not yet calibrated, 0 of 9 plans.');
});

it('says how wide new intervals are', () => {
  expect(factorOf(calibration())).toBe(1.25);
  expect(widthText(calibration({ half_width_percent: 28.4 }))).toBe(
    'The half width of new intervals is 28.4 %: from the value ÷ 1.284 to the value × 1.284.',
  );
});

it('compares the coverage in words with the expected one', () => {
  expect(coverageText(kind(), 90)).toBe('86 of 100 plans were inside their interval; 90 are expected.');
  expect(coverageText(kind({ n: 1, coverage_percent: 100 }), 90)).toBe(
    '1 of 1 plan was inside its interval; 1 is expected.',
  );
  expect(coverageText(kind({ n: 0, coverage_percent: null }), 90)).toMatch(/^No plan has changed/);
});

it('shows errors, and the sign of a bias', () => {
  expect([percentText(7.25), percentText(null), percentText(0)]).toEqual(['7.25 %', 'unknown', '0 %']);
  expect([2, -2, 0].map((value) => percentText(value, { isSigned: true }))).toEqual(['+2 %', '-2 %', '0 %']);
});

it('groups predictions by metric and statistic', () => {
  const predictions = [prediction(1, 1), prediction(2, 2, { stat: 'p50' }), prediction(3, 3)];
  expect(metricsOf({ predictions }).map(({ name, predictions: rows }) => [name, rows.length])).toEqual([
    ['ttft_ms p95', 2],
    ['ttft_ms p50', 1],
  ]);
});

describe('the picture of predicted and achieved values', () => {
  const picture = (predictions: Prediction[], factor = 1.25) =>
    plotOf({ name: 'ttft_ms p95', metric: 'ttft_ms', predictions }, factor);

  it('has an exact prediction on the diagonal, and a higher value above it', () => {
    const plot = picture([prediction(100, 100), prediction(100, 400, { within: false })])!;
    const [exact, high] = plot.dots;
    expect(exact!.x).toBeCloseTo(100 - exact!.y);
    expect(high!.x).toBeCloseTo(exact!.x);
    expect(high!.y).toBeLessThan(exact!.y);
    expect(plot.dots.map(({ isInside }) => isInside)).toEqual([true, false]);
    expect([plot.least, plot.most]).toEqual(['80 ms', '500 ms']);
    expect(plot.description).toMatch(/1 of 2 predictions were inside their interval$/);
  });

  it('has the value at the end of an interval on the edge of the band', () => {
    const plot = picture([prediction(100, 125), prediction(300, 300)])!;
    const [edge] = plot.dots;
    const [, top] = plot.band.split(' ')[0]!.split(',').map(Number);
    expect(edge!.y).toBeCloseTo(top! - edge!.x, 1);
  });

  it('keeps all dots inside, also that of one value alone', () => {
    for (const rows of [[prediction(7, 7)], [prediction(0.001, 9_000), prediction(9_000, 0.001)]])
      for (const { x, y } of picture(rows)!.dots) for (const at of [x, y]) expect(at > 0 && at < 100).toBe(true);
  });

  it('draws no value of zero, and nothing if there is no other', () => {
    expect(picture([prediction(0, 1), prediction(1, 1)])!.dots).toHaveLength(1);
    expect([picture([prediction(1, 0)]), picture([])]).toEqual([null, null]);
  });
});
