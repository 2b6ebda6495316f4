import { harmless, painted, type Colour } from '../terminal.js';

/**
 * Scripts whose letters take two columns begin here. A character that is counted too
 * wide leaves space, and nothing overflows.
 */
const FIRST_WIDE = 0x1100;

export const widthOf = (text: string): number =>
  Array.from(text).reduce((sum, letter) => sum + widthOfLetter(letter), 0);

/** Cuts the text to the columns, and marks the end if it was cut. */
export function cut(text: string, columns: number): string {
  const clean = harmless(text);
  if (widthOf(clean) <= columns) return clean;
  if (columns < 1) return '';
  let [kept, width] = ['', 0];
  for (const letter of clean) {
    width += widthOfLetter(letter);
    if (width > columns - 1) break;
    kept += letter;
  }
  return `${kept}…`;
}

/** Cuts or pads the text to exactly this width. */
export function cell(text: string, columns: number): string {
  const fitting = cut(text, columns);
  return fitting + ' '.repeat(columns - widthOf(fitting));
}

/** Formats a duration as a clock does: `2:05`, `1:00:09`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const two = (value: number) => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/** Formats a value of a metric, whose name contains its unit. */
export function measured(metric: string, value: number | null | undefined): string {
  if (value === null || value === undefined) return '-';
  if (metric.endsWith('_rate')) return `${short(value * 100)} %`;
  // Three digits would turn an availability of 99.95 % into 100 %.
  if (metric.endsWith('_percent')) return `${Number(value.toFixed(3))} %`;
  if (metric.endsWith('_ms')) return `${short(value)} ms`;
  return metric.endsWith('_per_s') ? `${short(value)}/s` : short(value);
}

/** A value with the ends of its interval. Too few samples have no upper end. */
export interface MeasuredInterval {
  value: number;
  low: number;
  high: number | null;
}

/** `154 ms (120 to 198)`; the notes follow in the parentheses. */
export function intervalText(
  metric: string,
  { value, low, high }: MeasuredInterval,
  notes: readonly string[] = [],
): string {
  const [from, to] = [low, high].map((end) => measured(metric, end).replace(/(?: %| ms|\/s)$/, ''));
  const ends = high === null ? `at least ${from}` : `${from} to ${to}`;
  return `${measured(metric, value)} (${[ends, ...notes].join(', ')})`;
}

/** `1 deployment`, `2 deployments`, `0 deployments`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const short = (value: number): string => String(Number(value.toPrecision(3)));

/** A line of several parts. It is cut to the columns before it is painted, so that no colour sequence is cut. */
export class Line {
  private text = '';
  private left: number;

  constructor(
    columns: number,
    private readonly hasColour: boolean,
  ) {
    this.left = columns;
  }

  add(text: string, colour?: Colour): this {
    const fitting = cut(text, this.left);
    this.left -= widthOf(fitting);
    this.text += colour && this.hasColour && fitting !== '' ? painted(fitting, colour) : fitting;
    return this;
  }

  /** Adds the text only if all of it fits. */
  addWhole(text: string, colour?: Colour): this {
    return widthOf(text) <= this.left ? this.add(text, colour) : this;
  }

  toString(): string {
    return this.text;
  }
}

const widthOfLetter = (letter: string): number =>
  (letter.codePointAt(0) ?? 0) >= FIRST_WIDE && !isMark(letter) ? 2 : 1;

/** The signs of the view itself, one column each: arrows, blocks and check marks. */
const isMark = (letter: string): boolean => /[\u2000-\u27bf]/.test(letter);
