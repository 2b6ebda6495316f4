import { harmless, type Colour } from './terminal.js';

export interface Column {
  title: string;
  /** The field (with dots if it is nested), or the function that makes the cell from the row. */
  of: string | ((row: never) => unknown);
  /** Shown only with `-o wide`, and when one item is shown. */
  isWide?: boolean;
  /** May be cut if the terminal is too narrow. Values that people copy must not be cut. */
  isText?: boolean;
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
  paint?: (text: string, colour: Colour) => string;
}

interface TableOptions extends TextOptions {
  isList: boolean;
}

const GAP = '  ';
const SHORTEST = 8;

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
  const cells = rows.map((row) => columns.map(({ of }) => textOf(valueAt(row, of))));
  return look.isList ? listLines(cells, columns, look) : cells.flatMap((row) => detailLines(row, columns, look));
}

function detailLines(cells: readonly string[], columns: readonly Column[], { paint }: TableOptions): string[] {
  const width = Math.max(...columns.map(({ title }) => title.length));
  return columns.map(({ title }, i) => `${bold(title.padEnd(width), paint)}${GAP}${tinted(cells[i]!, paint)}`);
}

function listLines(cells: readonly string[][], columns: readonly Column[], { most, paint }: TableOptions): string[] {
  const widths = columns.map(({ title }, i) => Math.max(title.length, ...cells.map((row) => columnWidthOf(row[i]!))));
  let over = most === undefined ? 0 : widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) - most;
  // From the last column on: the first columns identify the row.
  for (let i = columns.length - 1; i >= 0 && over > 0; i -= 1) {
    if (!columns[i]!.isText) continue;
    const cut = Math.min(over, Math.max(0, widths[i]! - SHORTEST));
    widths[i]! -= cut;
    over -= cut;
  }
  const line = (row: readonly string[], look: (cell: string, padded: string) => string) =>
    row
      .map((cell, i) => look(cell, padded(shortened(cell, widths[i]!), widths[i]!)))
      .join(GAP)
      .trimEnd();
  const titles = columns.map(({ title }) => title);
  const tint = (cell: string, shown: string) => {
    const colour = COLOURS[cell];
    return colour && paint ? shown.replace(cell, paint(cell, colour)) : shown;
  };
  return [line(titles, (_, shown) => bold(shown, paint)), ...cells.map((row) => line(row, tint))];
}

const bold = (text: string, paint: TableOptions['paint']): string => paint?.(text, 'bold') ?? text;

function tinted(cell: string, paint: TableOptions['paint']): string {
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

/** A cell in one line, safe for a terminal. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(textOf).join(',');
  if (typeof value === 'object') return harmless(JSON.stringify(value));
  return harmless(String(value));
}
