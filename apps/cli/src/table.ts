import { remedyOf } from './remedies.js';
import { harmless, type Colour } from './terminal.js';

export interface Column {
  title: string;
  /** The field (with dots if it is nested), or the function that makes the cell from the row. */
  of: string | ((row: never) => unknown);
  /** The field that a function shows. */
  field?: string;
  /** Shown only with `-o wide`, and when one item is shown. */
  isWide?: boolean;
  /** Shown only in lists: the item itself shows more. */
  isOfList?: boolean;
  /** May be cut if the terminal is too narrow. Values that people copy must not be cut. */
  isText?: boolean;
  /** The width to begin with, for rows that come one after the other. */
  width?: number;
}

export interface View {
  columns: readonly Column[];
  /** The field for `-o name`: the value that other commands take. */
  name: string;
  /** The text of one item for people, in place of the columns. */
  lines?: (item: never, look: TextOptions) => string[];
}

export interface TextOptions {
  /** Columns of the terminal; without them, nothing is cut. */
  most?: number;
  /** More rows will come, which may be wider. */
  isStream?: boolean;
  paint?: (text: string, colour: Colour) => string;
}

interface TableOptions extends TextOptions {
  isList: boolean;
}

const GAP = '  ';
const SHORTEST = 8;
/** A narrower column of values is not wrapped: a word in each line is hard to read. */
const NARROWEST = 16;

const COLOURS: Record<string, Colour> = Object.fromEntries(
  (
    [
      ['green', 'succeeded active ready ok published qualified approved available running'],
      ['red', 'failed unhealthy rejected revoked unavailable error'],
      [
        'yellow',
        'pending waiting progressing degraded cancelling cancelled paused starting stopping expired superseded',
      ],
    ] as const
  ).flatMap(([colour, words]) => words.split(' ').map((word) => [word, colour])),
);

export function tableLines(rows: readonly unknown[], columns: readonly Column[], look: TableOptions): string[] {
  if (look.isList) return new Table(columns, look).lines(rows);
  const cells = rows.map((row) => columns.map(({ of }) => cellOf(valueAt(row, of)).text));
  return cells.flatMap((row) => detailLines(row, columns, look));
}

function detailLines(cells: readonly string[], columns: readonly Column[], { most, paint }: TableOptions): string[] {
  const width = Math.max(...columns.map(({ title }) => title.length));
  const left = most === undefined ? Infinity : most - width - GAP.length;
  return columns.flatMap(({ title }, i) => {
    const [first = '', ...more] = left < NARROWEST ? [cells[i]!] : wrapped(cells[i]!, left);
    const indent = ' '.repeat(width + GAP.length);
    return [
      `${bold(title.padEnd(width), paint)}${GAP}${tinted(first, paint)}`,
      ...more.map((line) => `${indent}${line}`),
    ];
  });
}

/** Breaks a text between its clauses, else between words or after a comma. A longer word stays whole: people copy it. */
export function wrapped(text: string, width: number): string[] {
  if (columnWidthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = '';
  const add = (part: string): void => {
    if (line !== '' && columnWidthOf((line + part).trimEnd()) > width) {
      lines.push(line.trimEnd());
      line = '';
    }
    line += part;
  };
  for (const clause of text.split(/(?<=; )/))
    if (columnWidthOf(clause.trimEnd()) <= width) add(clause);
    else {
      if (line !== '') lines.push(line.trimEnd());
      line = '';
      for (const word of clause.split(/(?<=[ ,])/)) add(word);
    }
  return [...lines, line.trimEnd()];
}

interface Cell {
  text: string;
  /** The age of a time, for a terminal that is too narrow for both. */
  age?: string;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** `2026-01-01T12:00:00Z (5m ago)`: people ask how long ago it was, and copy the time. */
function cellOf(value: unknown): Cell {
  const text = textOf(value);
  if (!TIME.test(text)) return { text };
  const age = agoOf(text);
  return age === undefined ? { text } : { text: `${text} (${age})`, age };
}

/** A table whose rows may come one after the other: the titles come first and once, and the widths only grow. */
export class Table {
  /** Titles of the columns that do not fit the terminal. */
  readonly hidden: string[] = [];
  private columns: readonly Column[];
  private widths: number[] | undefined;

  constructor(
    columns: readonly Column[],
    private readonly look: TextOptions,
  ) {
    this.columns = columns;
  }

  /** The lines of these rows, with the titles before the first ones. */
  lines(rows: readonly unknown[]): string[] {
    let cells = rows.map((row) => this.columns.map(({ of }) => cellOf(valueAt(row, of))));
    const isFirst = this.widths === undefined;
    let layout = this.layoutOf(cells);
    while (isFirst && layout.over > 0 && this.columns.length > 1) {
      const left = this.leastOf(cells);
      this.hidden.push(this.columns[left]!.title);
      this.columns = this.columns.filter((_, i) => i !== left);
      cells = cells.map((row) => row.filter((_, i) => i !== left));
      layout = this.layoutOf(cells);
    }
    this.widths = layout.widths;
    const { paint } = this.look;
    const line = (texts: readonly string[], paintCell: (text: string, padded: string) => string) =>
      texts
        .map((text, i) => paintCell(text, padded(shortened(text, this.cutOf(layout, i)), layout.widths[i]!)))
        .join(GAP)
        .trimEnd();
    const tint = (text: string, shown: string) => {
      const colour = COLOURS[text];
      return colour && paint ? shown.replace(text, paint(text, colour)) : shown;
    };
    const titles = this.columns.map(({ title }) => title);
    return [
      ...(isFirst ? [line(titles, (_, shown) => bold(shown, paint))] : []),
      ...cells.map((row) =>
        line(
          row.map((cell) => textIn(cell, layout)),
          tint,
        ),
      ),
    ];
  }

  /** The column that people miss least: an empty one, else the last one, a text at the end. The first names the row. */
  private leastOf(cells: readonly (readonly Cell[])[]): number {
    const isEmpty = (i: number) => cells.every((row) => row[i]!.text === '-');
    const last = (accepts: (i: number) => unknown) =>
      this.columns.findLastIndex((_, i) => i > 0 && Boolean(accepts(i)));
    return [last(isEmpty), last((i) => !this.columns[i]!.isText), this.columns.length - 1].find((i) => i > 0)!;
  }

  private cutOf({ widths }: Layout, i: number): number {
    return this.columns[i]!.isText && this.look.most !== undefined ? widths[i]! : Infinity;
  }

  /** In a terminal that is too narrow, times become ages, and then texts are cut. */
  private layoutOf(cells: readonly (readonly Cell[])[]): Layout {
    const { most = Infinity } = this.look;
    const whole = this.widthsOf(cells, false);
    if (sumOf(whole) <= most) return { widths: whole, hasAges: false, over: 0 };
    const widths = this.widthsOf(cells, true);
    let over = sumOf(widths) - most;
    for (let i = widths.length - 1; i >= 0 && over > 0; i -= 1) {
      if (!this.columns[i]!.isText) continue;
      const cut = Math.min(over, Math.max(0, widths[i]! - SHORTEST));
      widths[i]! -= cut;
      over -= cut;
    }
    return { widths, hasAges: true, over };
  }

  private widthsOf(cells: readonly (readonly Cell[])[], hasAges: boolean): number[] {
    return this.columns.map(({ title, width = 0 }, i) => {
      const shown = cells.map((row) => columnWidthOf(textIn(row[i]!, { hasAges })));
      const least = this.widths?.[i] ?? (this.look.isStream && !hasAges ? width : 0);
      return Math.max(title.length, least, ...shown);
    });
  }
}

interface Layout {
  widths: number[];
  hasAges: boolean;
  /** By how many columns the lines are too long. */
  over: number;
}

const textIn = ({ text, age }: Cell, { hasAges }: Pick<Layout, 'hasAges'>): string =>
  hasAges && age !== undefined ? age : text;

const sumOf = (widths: readonly number[]): number =>
  widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);

/** From how many seconds on a unit is used, and its length. */
const AGES = [
  [2 * 365 * 86_400, 365 * 86_400, 'y'],
  [86_400, 86_400, 'd'],
  [3_600, 3_600, 'h'],
  [60, 60, 'm'],
] as const;

/** `50s`, `12m`, `3h`, `2d`: the largest unit, rounded down. */
export function ageOf(time: string, now = Date.now()): string | undefined {
  const seconds = (now - Date.parse(time)) / 1_000;
  return Number.isNaN(seconds) ? undefined : spanOf(Math.max(0, seconds));
}

function spanOf(seconds: number): string {
  const [, size, unit] = AGES.find(([least]) => seconds >= least) ?? [0, 1, 's'];
  return `${Math.floor(seconds / size)}${unit}`;
}

/** `5m ago`, or `in 3d` for a time that comes. */
export function agoOf(time: string, now = Date.now()): string | undefined {
  const seconds = (now - Date.parse(time)) / 1_000;
  if (Number.isNaN(seconds)) return undefined;
  return seconds < 0 ? `in ${spanOf(-seconds)}` : `${spanOf(seconds)} ago`;
}

const bold = (text: string, paint: TextOptions['paint']): string => paint?.(text, 'bold') ?? text;

function tinted(cell: string, paint: TextOptions['paint']): string {
  const colour = COLOURS[cell];
  return colour && paint ? paint(cell, colour) : cell;
}

const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;

/** The width in cells of a terminal. */
export function columnWidthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += WIDE.test(letter) ? 2 : /\p{Mark}/u.test(letter) ? 0 : 1;
  return width;
}

const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - columnWidthOf(text)));

function shortened(text: string, most: number): string {
  if (columnWidthOf(text) <= most) return text;
  let [kept, width] = ['', 0];
  for (const letter of text) {
    width += columnWidthOf(letter);
    if (width > most - 1) break;
    kept += letter;
  }
  return `${kept}…`;
}

/** A cell whose fields are not as expected is empty: the rest of an answer must still be shown. */
export function valueAt(row: unknown, of: Column['of']): unknown {
  if (typeof of === 'function') {
    try {
      return of(row as never);
    } catch {
      return undefined;
    }
  }
  return of
    .split('.')
    .reduce<unknown>(
      (value, key) => (value === null || value === undefined ? undefined : (value as Record<string, unknown>)[key]),
      row,
    );
}

/** A cell in one line, safe for a terminal. A request that a text of the api names is shown as a command. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(textOf).join(',');
  if (typeof value === 'object') return harmless(JSON.stringify(value));
  return harmless(remedyOf(String(value)));
}
