import { quantile } from './measure.js';

export type Unit = '/s' | 'ms' | 'µs' | 's' | 'MB' | 'kB' | '%' | '';

/** One measured value in `unit`: the median of its slices (or of single events), and their range. */
export interface Figure {
  unit: Unit;
  median: number;
  min: number;
  max: number;
  /** Only for single events: the table shows it instead of the range, which depends on the number of events. */
  p99?: number;
}

/** Of slices, one value each. @throws Error if there is none */
export function figureOfSlices(unit: Unit, values: readonly number[]): Figure {
  return { unit, median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** Of single events, such as requests. @throws Error if there is none */
export function figureOfEvents(unit: Unit, values: readonly number[]): Figure {
  return { ...figureOfSlices(unit, values), p99: quantile(values, 0.99) };
}

/** A single value, measured once or required. */
export function exactFigure(unit: Unit, value: number): Figure {
  return { unit, median: value, min: value, max: value };
}

/** Formats as `188/s (170–201)`, `5.1 ms (p99 27.3)` or `0.27 (0.25–0.30)`, and a missing figure as `-`. */
export function formatFigure(of: Figure | null): string {
  if (!of) return '-';
  const { unit, median, min, max, p99 } = of;
  const digits = digitsFor(unit, median);
  const text = (value: number): string => value.toFixed(digits);
  const value = unit === '' || unit === '/s' ? `${text(median)}${unit}` : `${text(median)} ${unit}`;
  if (p99 !== undefined) return `${value} (p99 ${text(p99)})`;
  return text(min) === text(max) ? value : `${value} (${text(min)}–${text(max)})`;
}

function digitsFor(unit: Unit, value: number): number {
  if (unit === '') return 2;
  return Math.abs(value) >= 100 ? 0 : 1;
}
